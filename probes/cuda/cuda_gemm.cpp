#include "probes/cuda/cuda_operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/units.h"
#include "probes/cuda/kernels.h"
#include "probes/cuda/lt_matmul.h"
#include "probes/cuda/stream_operation.h"

namespace sextant::inline probes {
namespace {

constexpr int kCheckedElements = 256;
constexpr std::size_t kWorkspaceBytes = std::size_t{128} << 20;
constexpr int kCandidates = 12;
// Long enough for a candidate to be timed at the clocks that it runs at.
constexpr double kSearchLeast_s = 4e-3;
constexpr double kSearchBudget_s = 0.4;
constexpr int kMaxSets = 64;
constexpr double kTimesTheCache = 3;

struct GemmFormat {
  gpu::Element operands;
  gpu::Element result;
  Precision output;
  double operand_epsilon;  // of the arithmetic between operands and fp32 sums
  double result_epsilon;   // of storing the result
};

std::optional<GemmFormat> format_of(Precision precision) {
  using gpu::Element;
  switch (precision) {
    case Precision::fp32:
      return GemmFormat{Element::fp32, Element::fp32, Precision::fp32, 0, 0};
    case Precision::tf32:  // operands are rounded to 10 bits
      return GemmFormat{Element::fp32, Element::fp32, Precision::fp32, 0x1p-10, 0};
    case Precision::bf16:
      return GemmFormat{Element::bf16, Element::bf16, Precision::bf16, 0, 0x1p-8};
    case Precision::fp16:
      return GemmFormat{Element::fp16, Element::fp16, Precision::fp16, 0, 0x1p-10};
    case Precision::fp8:  // tensor cores align the products of a step to 14 bits or so
      return GemmFormat{Element::fp8, Element::bf16, Precision::bf16, 0x1p-11, 0x1p-8};
    case Precision::fp64:
    case Precision::fp4:
      return std::nullopt;
  }
  return std::nullopt;
}

// One set of operands.
struct Operands {
  Operands(const GemmShape& shape, const GemmFormat& format, std::uint64_t seed, cudaStream_t stream)
      : a(count(shape.m, shape.k) * gpu::bytes_of(format.operands)),
        b(count(shape.k, shape.n) * gpu::bytes_of(format.operands)),
        d(count(shape.m, shape.n) * gpu::bytes_of(format.result)) {
    gpu::fill_matrix(a.data(), format.operands, count(shape.m, shape.k), 2 * seed + 1, stream);
    gpu::fill_matrix(b.data(), format.operands, count(shape.k, shape.n), 2 * seed + 2, stream);
  }
  [[nodiscard]] static std::size_t count(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
  [[nodiscard]] static double bytes(const GemmShape& shape, const GemmFormat& format) {
    const double operands = static_cast<double>(count(shape.m, shape.k) + count(shape.k, shape.n));
    return operands * static_cast<double>(gpu::bytes_of(format.operands)) +
           static_cast<double>(count(shape.m, shape.n) * gpu::bytes_of(format.result));
  }
  [[nodiscard]] LtOperands pointers() const { return {a.data(), b.data(), nullptr, d.data()}; }

  DeviceBuffer a;
  DeviceBuffer b;
  DeviceBuffer d;
};

int sets_for(int device, double bytes, bool is_cold) {
  if (!is_cold) return 1;
  int cache_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device),
             "asking for the cache's size");
  return static_cast<int>(std::clamp(std::ceil(kTimesTheCache * cache_bytes / bytes), 1.0, 1.0 * kMaxSets));
}

class CudaGemm final : public StreamOperation {
 public:
  CudaGemm(int device, const GemmFormat& format, const GemmShape& shape, bool is_cold,
           std::unique_ptr<LtMatmul> matmul)
      : StreamOperation(device),
        device_(device),
        format_(format),
        shape_(shape),
        matmul_(std::move(matmul)),
        workspace_(kWorkspaceBytes) {
    const int sets = sets_for(device, Operands::bytes(shape, format), is_cold);
    for (int set = 0; set < sets; ++set) {
      sets_.push_back(std::make_unique<Operands>(shape, format, static_cast<std::uint64_t>(set), stream()));
    }
    timed_stream().wait();
    matmul_->search(sets_[0]->pointers(), 1, 0, workspace(), stream(), kSearchLeast_s, kSearchBudget_s);
  }

  [[nodiscard]] double work() const override { return shape_.flop(); }

  [[nodiscard]] bool is_right() override {
    // Operand rounding once for each factor, then k roundings of a float sum (Higham, section 3.5).
    const double tolerance = 2 * format_.operand_epsilon +
                             (shape_.k + 2) * static_cast<double>(std::numeric_limits<float>::epsilon());
    const Operands& last = *sets_[set_of(last_turn())];
    const gpu::Product product{last.a.data(), last.b.data(), last.d.data(), format_.operands,  format_.result,
                               shape_.m,      shape_.n,      shape_.k,      shape_.transpose_b};
    std::uint32_t* wrong = timed_stream().zeroed_counter();
    gpu::count_wrong_products(product, kCheckedElements, tolerance, format_.result_epsilon, wrong, stream());
    return timed_stream().read_counter() == 0;
  }

  [[nodiscard]] std::string how() const override {
    const double bytes = static_cast<double>(sets_.size()) * Operands::bytes(shape_, format_);
    return "cuBLASLt " + matmul_->algorithm() + "; device clock; " + cache_text(device_, bytes);
  }

 protected:
  void enqueue(int turn) override {
    matmul_->execute(sets_[set_of(turn)]->pointers(), 1, 0, workspace(), stream());
  }

 private:
  [[nodiscard]] std::size_t set_of(int turn) const { return static_cast<std::size_t>(turn) % sets_.size(); }
  [[nodiscard]] LtWorkspace workspace() const { return {workspace_.data(), kWorkspaceBytes}; }

  int device_;
  GemmFormat format_;
  GemmShape shape_;
  std::unique_ptr<LtMatmul> matmul_;
  DeviceBuffer workspace_;
  std::vector<std::unique_ptr<Operands>> sets_;
};

}  // namespace

GpuOperationOrReason make_cuda_operation(int device, const GpuGemm& work) {
  const auto format = format_of(work.precision);
  if (!format) return {nullptr, "no GEMM in " + std::string(name_of(work.precision)) + " is known here"};
  const GemmShape& shape = work.shape;
  check_cuda(cudaSetDevice(device), "selecting a GPU");
  LtMatmulSpec spec;
  spec.m = shape.m;
  spec.n = shape.n;
  spec.k = shape.k;
  spec.transpose_b = shape.transpose_b;
  spec.precision = work.precision;
  spec.output = format->output;
  spec.workspace_bytes = kWorkspaceBytes;
  spec.candidates = kCandidates;
  LtMatmulOrReason planned = plan_lt_matmul(spec);
  if (!planned.matmul) return {nullptr, planned.reason};
  return {std::make_unique<CudaGemm>(device, *format, shape, work.is_cold, std::move(planned.matmul)), ""};
}

}  // namespace sextant::inline probes
