#include "probes/cuda/cuda_memory.h"

#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/kernels.h"

namespace sextant {
namespace {

class CudaCopy final : public GpuOperation {
 public:
  CudaCopy(int device, std::size_t bytes)
      : words_(bytes / sizeof(uint4)),
        stream_(device),
        from_(words_ * sizeof(uint4)),
        to_(words_ * sizeof(uint4)) {
    gpu::fill_words(from_.as<uint4>(), words_, 1, stream_.get());
    gpu::fill_words(to_.as<uint4>(), words_, 2, stream_.get());
    stream_.wait();
  }

  [[nodiscard]] double work() const override { return 2.0 * static_cast<double>(words_ * sizeof(uint4)); }

  [[nodiscard]] double run_s(int repeats) override {
    copy();  // the gate, see GpuOperation::run_s
    stream_.start();
    for (int repeat = 0; repeat < repeats; ++repeat) copy();
    return stream_.stop_s();
  }

  [[nodiscard]] bool is_right() override {
    std::uint32_t* differences = stream_.zeroed_counter();
    gpu::count_differences(from_.as<uint4>(), to_.as<uint4>(), words_, differences, stream_.get());
    return stream_.read_counter() == 0;
  }

 private:
  void copy() {
    check_cuda(cudaMemcpyAsync(to_.data(), from_.data(), words_ * sizeof(uint4), cudaMemcpyDeviceToDevice,
                               stream_.get()),
               "copying device memory");
  }

  std::size_t words_;
  TimedStream stream_;
  DeviceBuffer from_;
  DeviceBuffer to_;
};

class CudaRead final : public GpuOperation {
 public:
  CudaRead(int device, std::size_t bytes)
      : words_(bytes / sizeof(uint4)), stream_(device), values_(words_ * sizeof(uint4)) {
    gpu::fill_words(values_.as<uint4>(), words_, 1, stream_.get());
    stream_.wait();
  }

  [[nodiscard]] double work() const override { return static_cast<double>(words_ * sizeof(uint4)); }

  [[nodiscard]] double run_s(int repeats) override {
    gpu::xor_words(values_.as<uint4>(), words_, stream_.zeroed_counter(),
                   stream_.get());  // the gate, see GpuOperation::run_s
    std::uint32_t* folded = stream_.zeroed_counter();
    stream_.start();
    for (int repeat = 0; repeat < repeats; ++repeat) {
      gpu::xor_words(values_.as<uint4>(), words_, folded, stream_.get());
    }
    const double took_s = stream_.stop_s();
    check_cuda(cudaGetLastError(), "reading device memory");
    return took_s;
  }

  [[nodiscard]] bool is_right() override {
    // Once more, because an even number of times the same word folds to zero.
    static_cast<void>(run_s(1));
    const std::uint32_t folded = stream_.read_counter();
    std::uint32_t* slowly = stream_.zeroed_counter();
    gpu::xor_words_slowly(values_.as<uint4>(), words_, slowly, stream_.get());
    return stream_.read_counter() == folded;
  }

 private:
  std::size_t words_;
  TimedStream stream_;
  DeviceBuffer values_;
};

}  // namespace

std::unique_ptr<GpuOperation> make_cuda_copy(int device, std::size_t bytes) {
  return std::make_unique<CudaCopy>(device, bytes);
}

std::unique_ptr<GpuOperation> make_cuda_read(int device, std::size_t bytes) {
  return std::make_unique<CudaRead>(device, bytes);
}

}  // namespace sextant
