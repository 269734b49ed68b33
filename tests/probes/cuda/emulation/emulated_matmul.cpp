// Matrix products of an emulated device, with the same checks of shapes and alignment as a real one would need.
#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "probes/cuda/lt_matmul.h"

namespace sextant::inline probes {
namespace {

class EmulatedMatmul final : public LtMatmul {
 public:
  explicit EmulatedMatmul(const LtMatmulSpec& spec) : spec_(spec) {}

  void execute(const LtOperands& operands, float alpha, float beta, const LtWorkspace&, CUstream_st*) override {
    const int bytes = bytes_of(spec_.precision);
    check(operands.a, spec_.transpose_a ? spec_.k : spec_.m, spec_.transpose_a ? spec_.m : spec_.k, spec_.lda,
          spec_.stride_a, bytes);
    check(operands.b, spec_.transpose_b ? spec_.n : spec_.k, spec_.transpose_b ? spec_.k : spec_.n, spec_.ldb,
          spec_.stride_b, bytes);
    check(operands.d, spec_.m, spec_.n, spec_.ldd, spec_.stride_d, bytes_of(spec_.output));
    emulated_queue([spec = spec_, operands, alpha, beta] { multiply(spec, operands, alpha, beta); });
  }
  void search(const LtOperands& operands, float alpha, float beta, const LtWorkspace& workspace,
              CUstream_st* stream, double, double) override {
    execute(operands, alpha, beta, workspace, stream);
  }
  [[nodiscard]] std::string algorithm() const override { return "emulated"; }

 private:
  void check(const void* data, int rows, int columns, std::int64_t given, std::int64_t stride,
             int bytes) const {
    const std::int64_t leading = leading_of(given, columns);
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

  static std::int64_t leading_of(std::int64_t given, int columns) { return given == 0 ? columns : given; }
  static int bytes_of(Precision precision) {
    if (precision == Precision::fp8) return 1;
    return precision == Precision::fp32 || precision == Precision::tf32 ? 4 : 2;
  }
  static float number(float value) { return value; }
  static float number(__nv_bfloat16 value) { return __bfloat162float(value); }
  static float number(__half value) { return __half2float(value); }
  static float number(__nv_fp8_e4m3 value) { return static_cast<float>(value); }
  // Calls `use` with the matrix as what it is.
  template <typename Use>
  static auto with_type(const void* from, Precision precision, Use use) {
    if (precision == Precision::bf16) return use(static_cast<const __nv_bfloat16*>(from));
    if (precision == Precision::fp16) return use(static_cast<const __half*>(from));
    if (precision == Precision::fp8) return use(static_cast<const __nv_fp8_e4m3*>(from));
    return use(static_cast<const float*>(from));
  }
  static float load(const void* from, std::int64_t at, Precision precision) {
    return with_type(from, precision, [at](const auto* values) { return number(values[at]); });
  }
  static void store(void* to, std::int64_t at, Precision precision, float value) {
    if (precision == Precision::fp32) {
      static_cast<float*>(to)[at] = value;
    } else if (precision == Precision::fp16) {
      static_cast<__half*>(to)[at] = __float2half(value);
    } else {
      static_cast<__nv_bfloat16*>(to)[at] = __float2bfloat16(value);
    }
  }

  // op(X), [rows x columns], of X as stored.
  static std::vector<float> numbers(const void* from, std::int64_t first, std::int64_t given,
                                    bool is_transposed, int rows, int columns, Precision precision) {
    std::vector<float> all(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
    const int outer = is_transposed ? columns : rows, inner = is_transposed ? rows : columns;
    const std::int64_t leading = leading_of(given, inner);
    const std::int64_t step = is_transposed ? columns : 1;
    with_type(from, precision, [&](const auto* values) {
      for (int i = 0; i < outer; ++i) {  // in the order of memory
        const auto* row = values + first + i * leading;
        float* to = all.data() + (is_transposed ? i : static_cast<std::int64_t>(i) * columns);
        for (int j = 0; j < inner; ++j) to[j * step] = number(row[j]);
      }
    });
    return all;
  }

  static constexpr int kRows = 4, kColumns = 8;  // whose sums stay in registers
  using Tile = std::array<std::array<float, kColumns>, kRows>;

  // The sums of rows from `row` and columns from `column` on; those beyond the last repeat it and are not used.
  static Tile sums_of(const LtMatmulSpec& s, const std::vector<float>& left, const std::vector<float>& right,
                      int row, int column) {
    const auto k = static_cast<std::size_t>(s.k), n = static_cast<std::size_t>(s.n);
    const float* rows[kRows];
    for (int i = 0; i < kRows; ++i)
      rows[i] = left.data() + static_cast<std::size_t>(std::min(row + i, s.m - 1)) * k;
    // Vectors by name: sums that are arrays end up in memory.
    using Four = float __attribute__((vector_size(16)));
    Four low[kRows] = {}, high[kRows] = {};
    const float* from = right.data() + column;
    for (std::size_t inner = 0; inner < k; ++inner, from += n) {
      Four first, second;
      std::memcpy(&first, from, sizeof first);
      std::memcpy(&second, from + 4, sizeof second);
      for (int i = 0; i < kRows; ++i) {
        low[i] += rows[i][inner] * first;
        high[i] += rows[i][inner] * second;
      }
    }
    Tile sums;
    for (std::size_t i = 0; i < kRows; ++i) {
      std::memcpy(&sums[i][0], &low[i], sizeof low[i]);
      std::memcpy(&sums[i][4], &high[i], sizeof high[i]);
    }
    return sums;
  }

  static void multiply(const LtMatmulSpec& s, const LtOperands& operands, float alpha, float beta) {
    for (int i = 0; i < s.batch; ++i) {
      const auto left = numbers(operands.a, i * s.stride_a, s.lda, s.transpose_a, s.m, s.k, s.precision);
      auto right = numbers(operands.b, i * s.stride_b, s.ldb, s.transpose_b, s.k, s.n, s.precision);
      right.resize(right.size() + kColumns);  // what the last tile reads past its end
      for (int row = 0; row < s.m; row += kRows) {
        for (int column = 0; column < s.n; column += kColumns) {
          const Tile sums = sums_of(s, left, right, row, column);
          for (int m = row; m < std::min(row + kRows, s.m); ++m) {
            for (int n = column; n < std::min(column + kColumns, s.n); ++n) {
              const std::int64_t at = i * s.stride_d + m * leading_of(s.ldd, s.n) + n;
              const float before = beta == 0 ? 0 : beta * load(operands.d, at, s.output);
              const float sum = sums[static_cast<std::size_t>(m - row)][static_cast<std::size_t>(n - column)];
              store(operands.d, at, s.output, alpha * sum + before);
            }
          }
        }
      }
    }
  }

  LtMatmulSpec spec_;
};

}  // namespace

LtMatmulOrReason plan_lt_matmul(const LtMatmulSpec& spec) {
  // The answer of a GPU without fp8.
  if (spec.precision == Precision::fp8 && !spec.transpose_b) return {nullptr, "no algorithm for fp8"};
  if (spec.batch > 1 && (spec.stride_a < 0 || spec.stride_d <= 0)) return {nullptr, "strides"};
  return {std::make_unique<EmulatedMatmul>(spec), ""};
}

std::string cublas_lt_version() { return "emulated"; }

}  // namespace sextant::inline probes
