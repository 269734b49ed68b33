#include "probes/cuda/cuda_gemm.h"

#include <limits>
#include <optional>

#include "core/error.h"
#include "probes/cuda/cublas_library.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/kernels.h"

namespace sextant {
namespace {

constexpr int kCheckedElements = 256;

struct GemmFormat {
  gpu::Element element;
  cudaDataType_t type;
  std::size_t element_bytes;
  cublasComputeType_t compute;
  double operand_epsilon;  // of the operands as the unit multiplies them; they are rounded once to it
};

std::optional<GemmFormat> format_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return GemmFormat{gpu::Element::fp32, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, 0};
    case Precision::tf32:
      return GemmFormat{gpu::Element::fp32, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F_FAST_TF32, 0x1p-10};
    case Precision::bf16:
      return GemmFormat{gpu::Element::bf16, CUDA_R_16BF, 2, CUBLAS_COMPUTE_32F, 0};
    case Precision::fp16:
      return GemmFormat{gpu::Element::fp16, CUDA_R_16F, 2, CUBLAS_COMPUTE_32F, 0};
    case Precision::fp64:
    case Precision::fp8:
    case Precision::fp4:
      return std::nullopt;
  }
  return std::nullopt;
}

class CudaGemm final : public GpuOperation {
 public:
  CudaGemm(const CublasLibrary& cublas, int device, const GemmFormat& format, int size)
      : cublas_(cublas),
        format_(format),
        size_(size),
        stream_(device),
        a_(elements() * format.element_bytes),
        b_(elements() * format.element_bytes),
        c_(elements() * sizeof(float)) {
    gpu::fill_matrix(a_.data(), format.element, elements(), 1, stream_.get());
    gpu::fill_matrix(b_.data(), format.element, elements(), 2, stream_.get());
    stream_.wait();
    check(cublas_.create(&handle_), "starting cuBLAS");
    check(cublas_.set_stream(handle_, stream_.get()), "giving cuBLAS a stream");
  }
  ~CudaGemm() override {
    if (handle_ != nullptr) static_cast<void>(cublas_.destroy(handle_));
  }
  CudaGemm(const CudaGemm&) = delete;
  CudaGemm& operator=(const CudaGemm&) = delete;

  [[nodiscard]] double work() const override { return 2.0 * size_ * size_ * size_; }

  [[nodiscard]] double run_s(int repeats) override {
    multiply();  // the gate, see GpuOperation::run_s
    stream_.start();
    for (int repeat = 0; repeat < repeats; ++repeat) multiply();
    return stream_.stop_s();
  }

  [[nodiscard]] bool is_right() override {
    // Operand rounding once for each factor, then size roundings of a float sum (Higham, section 3.5).
    const double tolerance =
        2 * format_.operand_epsilon + (size_ + 2) * static_cast<double>(std::numeric_limits<float>::epsilon());
    std::uint32_t* wrong = stream_.zeroed_counter();
    gpu::count_wrong_products(a_.data(), b_.data(), c_.as<float>(), format_.element, size_, kCheckedElements,
                              tolerance, wrong, stream_.get());
    return stream_.read_counter() == 0;
  }

 private:
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
  }

  void multiply() {
    const float one = 1;
    const float zero = 0;
    check(cublas_.gemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, size_, size_, size_, &one, a_.data(), format_.type,
                       size_, b_.data(), format_.type, size_, &zero, c_.data(), CUDA_R_32F, size_,
                       format_.compute, CUBLAS_GEMM_DEFAULT),
          "multiplying");
  }

  void check(cublasStatus_t status, const char* doing) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw_machine_failed(std::string("cuBLAS: ") + cublas_.get_status_string(status) + " (while " + doing +
                         ")");
  }

  const CublasLibrary& cublas_;
  GemmFormat format_;
  int size_;
  TimedStream stream_;
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer c_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

GpuOperationOrReason make_cuda_gemm(int device, Precision precision, int size) {
  const auto format = format_of(precision);
  if (!format)
    return {nullptr, std::string("no GEMM in ") + std::string(name_of(precision)) + " is known here"};
  std::string reason;
  const CublasLibrary* cublas = CublasLibrary::open(reason);
  if (cublas == nullptr) return {nullptr, reason};
  return {std::make_unique<CudaGemm>(*cublas, device, *format, size), ""};
}

std::string cublas_version() {
  std::string reason;
  const CublasLibrary* cublas = CublasLibrary::open(reason);
  if (cublas == nullptr) return "";
  cublasHandle_t handle = nullptr;
  if (cublas->create(&handle) != CUBLAS_STATUS_SUCCESS) return "";
  int version = 0;
  static_cast<void>(cublas->get_version(handle, &version));
  static_cast<void>(cublas->destroy(handle));
  // 130002 is 13.0.2.
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sextant
