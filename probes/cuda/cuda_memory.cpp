#include "probes/cuda/cuda_operations.h"

#include "probes/cuda/kernels.h"
#include "probes/cuda/memory_kernels.h"
#include "probes/cuda/stream_operation.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

class MemoryOperation : public StreamOperation {
 public:
  MemoryOperation(int device, std::size_t bytes, int buffers)
      : StreamOperation(device), device_(device), words_(bytes / sizeof(uint4)), buffers_(buffers) {}

  [[nodiscard]] double work() const override { return buffers_ * static_cast<double>(bytes()); }
  [[nodiscard]] std::string how() const override {
    return "device clock; " + cache_text(device_, buffers_ * static_cast<double>(bytes()));
  }

 protected:
  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] std::size_t bytes() const { return words_ * sizeof(uint4); }

 private:
  int device_;
  std::size_t words_;
  int buffers_;
};

class CudaCopy final : public MemoryOperation {
 public:
  CudaCopy(int device, GpuMemoryAccess access, std::size_t bytes_each)
      : MemoryOperation(device, bytes_each, 2), access_(access), from_(bytes()), to_(bytes()) {
    gpu::fill_words(from_.as<uint4>(), words(), 1, stream());
    gpu::fill_words(to_.as<uint4>(), words(), 2, stream());
    timed_stream().wait();
  }

  [[nodiscard]] bool is_right() override {
    std::uint32_t* differences = timed_stream().zeroed_counter();
    gpu::count_differences(from_.as<uint4>(), to_.as<uint4>(), words(), differences, stream());
    return timed_stream().read_counter() == 0;
  }

 protected:
  void enqueue(int /*turn*/) override {
    if (access_ != GpuMemoryAccess::copy_engine) {
      gpu::copy_words(from_.as<uint4>(), to_.as<uint4>(), words(), access_ == GpuMemoryAccess::copy_kernel_deep,
                      stream());
      return;
    }
    check_cuda(cudaMemcpyAsync(to_.data(), from_.data(), bytes(), cudaMemcpyDeviceToDevice, stream()),
               "copying device memory");
  }

 private:
  GpuMemoryAccess access_;
  DeviceBuffer from_;
  DeviceBuffer to_;
};

class CudaRead final : public MemoryOperation {
 public:
  CudaRead(int device, bool is_deep, std::size_t bytes_each)
      : MemoryOperation(device, bytes_each, 1),
        is_deep_(is_deep),
        values_(bytes()),
        folded_(sizeof(std::uint32_t)) {
    gpu::fill_words(values_.as<uint4>(), words(), 1, stream());
    timed_stream().wait();
  }

  [[nodiscard]] bool is_right() override {
    // Once more, because an even number of times the same word folds to zero.
    check_cuda(cudaMemsetAsync(folded_.data(), 0, sizeof(std::uint32_t), stream()), "clearing a result");
    enqueue(0);
    std::uint32_t* piecewise = timed_stream().zeroed_counter();
    gpu::xor_words_piecewise(values_.as<uint4>(), words(), piecewise, stream());
    const std::uint32_t want = timed_stream().read_counter();
    std::uint32_t got = 0;
    check_cuda(cudaMemcpy(&got, folded_.data(), sizeof got, cudaMemcpyDeviceToHost), "reading a result");
    return got == want;
  }

 protected:
  void enqueue(int /*turn*/) override {
    gpu::xor_words(values_.as<uint4>(), words(), is_deep_, folded_.as<std::uint32_t>(), stream());
  }

 private:
  bool is_deep_;
  DeviceBuffer values_;
  DeviceBuffer folded_;
};

class CudaWrite final : public MemoryOperation {
 public:
  CudaWrite(int device, std::size_t bytes_each) : MemoryOperation(device, bytes_each, 1), values_(bytes()) {}

  [[nodiscard]] bool is_right() override {
    std::uint32_t* wrong = timed_stream().zeroed_counter();
    gpu::count_wrong_words(values_.as<uint4>(), words(), seed_of(last_turn()), wrong, stream());
    return timed_stream().read_counter() == 0;
  }

 protected:
  // Other words each time, so that what was there cannot be mistaken for what was written.
  void enqueue(int turn) override { gpu::write_words(values_.as<uint4>(), words(), seed_of(turn), stream()); }

 private:
  [[nodiscard]] static std::uint32_t seed_of(int turn) {
    return 0x51ed270bU + static_cast<std::uint32_t>(turn);
  }

  DeviceBuffer values_;
};

class CudaTriad final : public MemoryOperation {
 public:
  CudaTriad(int device, std::size_t bytes_each)
      : MemoryOperation(device, bytes_each, 3), a_(bytes()), b_(bytes()), c_(bytes()) {
    const std::size_t floats = 4 * words();
    gpu::fill_matrix(a_.data(), gpu::Element::fp32, floats, 1, stream());
    gpu::fill_matrix(b_.data(), gpu::Element::fp32, floats, 2, stream());
    gpu::fill_matrix(c_.data(), gpu::Element::fp32, floats, 3, stream());
    timed_stream().wait();
  }

  [[nodiscard]] bool is_right() override {
    std::uint32_t* wrong = timed_stream().zeroed_counter();
    gpu::count_wrong_triads(a_.as<float4>(), b_.as<float4>(), c_.as<float4>(), words(), wrong, stream());
    return timed_stream().read_counter() == 0;
  }

 protected:
  void enqueue(int /*turn*/) override {
    gpu::triad(a_.as<float4>(), b_.as<float4>(), c_.as<float4>(), words(), stream());
  }

 private:
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer c_;
};

}  // namespace

GpuOperationOrReason make_cuda_operation(int device, const GpuMemory& work) {
  switch (work.access) {
    case GpuMemoryAccess::copy_engine:
    case GpuMemoryAccess::copy_kernel:
    case GpuMemoryAccess::copy_kernel_deep:
      return {std::make_unique<CudaCopy>(device, work.access, work.bytes), ""};
    case GpuMemoryAccess::read:
    case GpuMemoryAccess::read_deep:
      return {std::make_unique<CudaRead>(device, work.access == GpuMemoryAccess::read_deep, work.bytes), ""};
    case GpuMemoryAccess::write:
      return {std::make_unique<CudaWrite>(device, work.bytes), ""};
    case GpuMemoryAccess::triad:
      return {std::make_unique<CudaTriad>(device, work.bytes), ""};
  }
  throw_bad_input("unknown kind of access to device memory");
}

}  // namespace sextant::inline probes
