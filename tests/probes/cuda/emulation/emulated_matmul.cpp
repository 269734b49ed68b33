// Matrix products of an emulated device, with the same checks of shapes and alignment as a real one would need.
#include <algorithm>
#include <stdexcept>
#include <vector>

#include <cuda_bf16.h>

#include "probes/cuda/lt_matmul.h"

namespace sextant {
namespace {

class EmulatedMatmul final : public LtMatmul {
 public:
  explicit EmulatedMatmul(const LtMatmulSpec& spec) : spec_(spec) {}

  void execute(const LtOperands& operands, float alpha, float beta, const LtWorkspace&, CUstream_st*) override {
    check(operands.a, spec_.transpose_a ? spec_.k : spec_.m, spec_.transpose_a ? spec_.m : spec_.k, spec_.lda,
          spec_.stride_a, 2);
    check(operands.b, spec_.transpose_b ? spec_.n : spec_.k, spec_.transpose_b ? spec_.k : spec_.n, spec_.ldb,
          spec_.stride_b, 2);
    check(operands.d, spec_.m, spec_.n, spec_.ldd, spec_.stride_d, spec_.output == Precision::fp32 ? 4 : 2);
    emulated_queue([spec = spec_, operands, alpha, beta] { multiply(spec, operands, alpha, beta); });
  }
  void search(const LtOperands&, float, float, const LtWorkspace&, CUstream_st*, double, double) override {}
  [[nodiscard]] std::string algorithm() const override { return "emulated"; }

 private:
  void check(const void* data, int rows, int columns, std::int64_t leading, std::int64_t stride,
             int bytes) const {
    const std::int64_t last = (spec_.batch - 1) * stride + (rows - 1) * leading + columns;
    if (leading < columns || !emulated_device_memory(data, static_cast<std::size_t>(last * bytes))) {
      throw std::logic_error("a matrix beyond device memory");
    }
    const bool is_aligned =
        reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(spec_.alignment_bytes) == 0;
    if (!is_aligned || spec_.alignment_bytes < 16 || leading % 8 != 0) {
      throw std::logic_error("a matrix that tensor cores do not take");
    }
  }

  static void multiply(const LtMatmulSpec& s, const LtOperands& operands, float alpha, float beta) {
    const auto* a = static_cast<const __nv_bfloat16*>(operands.a);
    const auto* b = static_cast<const __nv_bfloat16*>(operands.b);
    std::vector<float> right(static_cast<std::size_t>(s.k) * static_cast<std::size_t>(s.n));
    std::vector<float> sums(static_cast<std::size_t>(s.n));
    for (int i = 0; i < s.batch; ++i) {
      // In the order of memory.
      const int outer = s.transpose_b ? s.n : s.k, inner = s.transpose_b ? s.k : s.n;
      for (int row = 0; row < outer; ++row) {
        for (int column = 0; column < inner; ++column) {
          const int k = s.transpose_b ? column : row, n = s.transpose_b ? row : column;
          right[static_cast<std::size_t>(k) * static_cast<std::size_t>(s.n) + static_cast<std::size_t>(n)] =
              __bfloat162float(b[i * s.stride_b + row * s.ldb + column]);
        }
      }
      for (int m = 0; m < s.m; ++m) {
        std::fill(sums.begin(), sums.end(), 0.0F);
        for (int k = 0; k < s.k; ++k) {
          const std::int64_t at = i * s.stride_a + (s.transpose_a ? k * s.lda + m : m * s.lda + k);
          const float left = __bfloat162float(a[at]);
          const float* __restrict row =
              right.data() + static_cast<std::size_t>(k) * static_cast<std::size_t>(s.n);
          float* __restrict sum = sums.data();
          for (int n = 0; n < s.n; ++n) sum[n] += left * row[n];
        }
        for (int n = 0; n < s.n; ++n) {
          const std::int64_t at = i * s.stride_d + m * s.ldd + n;
          const float sum = alpha * sums[static_cast<std::size_t>(n)];
          if (s.output == Precision::fp32) {
            auto* d = static_cast<float*>(operands.d) + at;
            *d = sum + (beta == 0 ? 0 : beta * *d);
          } else {
            auto* d = static_cast<__nv_bfloat16*>(operands.d) + at;
            *d = __float2bfloat16(sum + (beta == 0 ? 0 : beta * __bfloat162float(*d)));
          }
        }
      }
    }
  }

  LtMatmulSpec spec_;
};

}  // namespace

LtMatmulOrReason plan_lt_matmul(const LtMatmulSpec& spec) {
  if (spec.batch > 1 && (spec.stride_a < 0 || spec.stride_d <= 0)) return {nullptr, "strides"};
  return {std::make_unique<EmulatedMatmul>(spec), ""};
}

std::string cublas_lt_version() { return "emulated"; }

}  // namespace sextant
