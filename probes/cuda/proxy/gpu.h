// One GPU of the proxy: a stream, matrix products on it, and copies to it that do not stall it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/lt_matmul.h"
#include "probes/cuda/proxy/kernels/kernels.h"
#include "probes/proxy/model/blas.h"
#include "probes/proxy/model/buffer.h"

namespace sextant::gpu {

// Row-major views of device memory.
using DeviceMatrix = proxy::BasicMatrix<Bf16>;
using ConstDeviceMatrix = proxy::BasicMatrix<const Bf16>;
using FloatDeviceMatrix = proxy::BasicMatrix<float>;

// Device memory for `count` elements, initially zero; empty for a count of 0.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count == 0) return;
    buffer_ = std::make_unique<DeviceBuffer>(count * sizeof(T));
    check_cuda(cudaMemset(buffer_->data(), 0, count * sizeof(T)), "clearing device memory");
    // Other streams do not wait for this one.
    check_cuda(cudaStreamSynchronize(nullptr), "clearing device memory");
  }
  [[nodiscard]] T* data() const { return buffer_ == nullptr ? nullptr : buffer_->as<T>(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  std::size_t count_ = 0;
  std::unique_ptr<DeviceBuffer> buffer_;
};

[[nodiscard]] inline DeviceMatrix as_matrix(const DeviceArray<Bf16>& storage, int rows, int columns) {
  return {storage.data(), rows, columns, columns};
}

class ProxyStream {
 public:
  explicit ProxyStream(int device);
  ~ProxyStream();
  ProxyStream(const ProxyStream&) = delete;
  ProxyStream& operator=(const ProxyStream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Copies host arrays to the device, through page-locked memory that is reused.
class Uploads {
 public:
  explicit Uploads(cudaStream_t stream);
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // Queues the copy; `from` may change as soon as this returns.
  template <typename T>
  void copy(std::span<const T> from, T* to) {
    copy_bytes(from.data(), from.size_bytes(), to);
  }

 private:
  void copy_bytes(const void* from, std::size_t bytes, void* to);
  cudaStream_t stream_;
  std::byte* staging_ = nullptr;
  std::size_t used_ = 0;
};

// Equal products; the strides are the elements between two of them.
struct ProductBatch {
  int count = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
};

// Matrix products with bf16 operands and fp32 sums, planned when a shape is first used.
class Products {
 public:
  explicit Products(cudaStream_t stream);
  // c = scale.product op(a) op(b) + scale.old c. Shapes must fit; does nothing without rows or columns.
  void multiply(ConstDeviceMatrix a, proxy::Op op_a, ConstDeviceMatrix b, proxy::Op op_b, DeviceMatrix c,
                proxy::Scale scale = proxy::kOverwrite, const ProductBatch& batch = {});
  void multiply(ConstDeviceMatrix a, proxy::Op op_a, ConstDeviceMatrix b, proxy::Op op_b, FloatDeviceMatrix c);

 private:
  struct Result {
    void* data;
    int rows;
    int columns;
    int stride;
    Precision precision;
  };
  using Key = std::tuple<int, int, int, bool, bool, int, int, int, int, int, int, std::int64_t, std::int64_t,
                         std::int64_t>;
  void run(ConstDeviceMatrix a, proxy::Op op_a, ConstDeviceMatrix b, proxy::Op op_b, const Result& c,
           proxy::Scale scale, const ProductBatch& batch);

  cudaStream_t stream_;
  DeviceBuffer workspace_;
  std::map<Key, std::unique_ptr<LtMatmul>> planned_;
};

class ProxyGpu {
 public:
  // `device` is CUDA's number; it becomes the current device of this thread.
  explicit ProxyGpu(int device);
  ProxyGpu(const ProxyGpu&) = delete;
  ProxyGpu& operator=(const ProxyGpu&) = delete;

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] Products& products() { return products_; }
  [[nodiscard]] Uploads& uploads() { return uploads_; }
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // Free memory of the device, whoever uses the rest.
  [[nodiscard]] std::size_t free_bytes() const;
  // Memory in use in addition to this process's own buffers: the context, libraries, rounding, and other
  // processes.
  [[nodiscard]] std::size_t bytes_beside_buffers() const;
  // Waits for all queued work. Throws Error(machine) with the device's text if any of it failed.
  void wait(const std::string& doing) const;

 private:
  int device_;
  ProxyStream stream_;
  Products products_;
  Uploads uploads_;
  int multiprocessors_ = 1;
  std::string name_;
};

}  // namespace sextant::gpu
