#include "probes/host/gemm_probe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "core/units.h"
#include "probes/harness/random_data.h"

namespace sextant::inline probes {
namespace {

constexpr int kCheckedElements = 32;
constexpr double kMaxBudgetsForOne = 10;

std::string name_of_gemm(Precision precision, const GemmShape& shape) {
  return "gemm/" + std::string(name_of(precision)) + "/" + shape.name;
}

std::size_t index_b(const GemmShape& shape, int row, int column) {
  const std::size_t r = static_cast<std::size_t>(row);
  const std::size_t c = static_cast<std::size_t>(column);
  return shape.transpose_b ? c * static_cast<std::size_t>(shape.k) + r
                           : r * static_cast<std::size_t>(shape.n) + c;
}

// Compares some elements of c with sums in double. Rounding: each of the k products and sums may be off by one
// unit of c's format (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.5).
template <typename In, typename Out, typename ToDouble>
bool is_product_right(const GemmShape& shape, const std::vector<In>& a, const std::vector<In>& b,
                      const std::vector<Out>& c, ToDouble to_double) {
  RandomStream random(static_cast<std::uint64_t>(shape.m) + static_cast<std::uint64_t>(shape.n));
  for (int check = 0; check < kCheckedElements; ++check) {
    const int row = random.below(shape.m);
    const int column = random.below(shape.n);
    double sum = 0;
    double magnitude = 0;
    for (int inner = 0; inner < shape.k; ++inner) {
      const auto at =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(shape.k) + static_cast<std::size_t>(inner);
      const double product = to_double(a[at]) * to_double(b[index_b(shape, inner, column)]);
      sum += product;
      magnitude += std::abs(product);
    }
    const double tolerance =
        (shape.k + 2) * static_cast<double>(std::numeric_limits<Out>::epsilon()) * magnitude;
    const double got = static_cast<double>(c[static_cast<std::size_t>(row) * static_cast<std::size_t>(shape.n) +
                                             static_cast<std::size_t>(column)]);
    // Written so that NaN fails.
    if (!(std::abs(got - sum) <= tolerance)) return false;
  }
  return true;
}

std::size_t product(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

template <typename In, typename Out>
ProbeResult run_gemm(const std::string& name, const GemmShape& shape, const ProbeContext& context,
                     const std::function<void(std::vector<In>&, std::uint64_t)>& fill,
                     const std::function<void(const In*, const In*, Out*)>& multiply,
                     const std::function<double(In)>& to_double) {
  const double bytes = shape.elements() * sizeof(Out);
  if (!context.agreement(bytes <= context.memory_limit_bytes)) {
    return waived_result(name, "flop/s",
                         "needs " + format_bytes(bytes) + ", more than the " +
                             format_bytes(context.memory_limit_bytes) + " that a probe may take here");
  }
  std::vector<In> a(product(shape.m, shape.k));
  std::vector<In> b(product(shape.k, shape.n));
  std::vector<Out> c(product(shape.m, shape.n));
  fill(a, 1);
  fill(b, 2);
  auto batch = timed(*context.clock, [&] { multiply(a.data(), b.data(), c.data()); });
  ProbeResult result = rate_result(name, "flop/s", shape.flop(),
                                   take_samples(context.sampling, batch, *context.clock, context.agreement));
  if (is_product_right<In, Out>(shape, a, b, c, to_double)) return result;
  return failed_result(std::move(result), "the product was wrong: this core or its BLAS computes wrongly");
}

template <typename T>
ProbeResult run_plain_gemm(const std::string& name, const GemmShape& shape, const ProbeContext& context) {
  return run_gemm<T, T>(
      name, shape, context, [](std::vector<T>& values, std::uint64_t seed) { fill_signed<T>(values, seed); },
      [&](const T* a, const T* b, T* c) { blas_gemm(shape, a, b, c); },
      [](T value) { return static_cast<double>(value); });
}

}  // namespace

ProbeResult measure_half_gemm(HalfFormat format, HalfGemm half_gemm, const GemmShape& shape,
                              const ProbeContext& context) {
  const Precision precision = format == HalfFormat::bf16 ? Precision::bf16 : Precision::fp16;
  const std::string name = name_of_gemm(precision, shape);
  if (!context.agreement(half_gemm != nullptr)) {
    return waived_result(name, "flop/s", "the loaded BLAS has no " + half_gemm_symbol(format));
  }
  return run_gemm<HalfBits, float>(
      name, shape, context,
      [&](std::vector<HalfBits>& values, std::uint64_t seed) {
        RandomStream random(seed);
        for (HalfBits& value : values) value = to_half(static_cast<float>(2 * random.uniform() - 1), format);
      },
      [&](const HalfBits* a, const HalfBits* b, float* c) { half_gemm(shape, a, b, c); },
      [&](HalfBits bits) { return static_cast<double>(from_half(bits, format)); });
}

ProbeResult measure_gemm(Precision precision, const GemmShape& shape, const ProbeContext& context) {
  const SingleThreadBlas single_thread;
  const std::string name = name_of_gemm(precision, shape);
  switch (precision) {
    case Precision::fp64:
      return run_plain_gemm<double>(name, shape, context);
    case Precision::fp32:
      return run_plain_gemm<float>(name, shape, context);
    case Precision::bf16:
      return measure_half_gemm(HalfFormat::bf16, find_half_gemm(HalfFormat::bf16), shape, context);
    case Precision::fp16:
      return measure_half_gemm(HalfFormat::fp16, find_half_gemm(HalfFormat::fp16), shape, context);
    case Precision::tf32:
    case Precision::fp8:
    case Precision::fp4:
      break;
  }
  return waived_result(name, "flop/s", "CPUs do not multiply in " + std::string(name_of(precision)));
}

std::vector<ProbeResult> measure_peak_gemm(Precision precision, const ProbeContext& context) {
  std::vector<int> sizes = {256, 512, 1024};
  if (precision == Precision::fp32) sizes.push_back(1536);
  if (context.is_smoke_test) sizes.resize(1);
  std::vector<ProbeResult> results;
  for (const int size : sizes) {
    results.push_back(measure_gemm(precision, square_gemm(size), context));
    // The reason holds for every size.
    if (results.back().outcome == ProbeOutcome::waived) break;
  }
  return results;
}

std::vector<ProbeResult> measure_model_gemm(const Model& model, int tokens, int tensor_parallel,
                                            double expected_flop_per_s, const ProbeContext& context) {
  std::vector<ProbeResult> results;
  for (GemmShape shape : gemm_shapes_of(model, tokens, tensor_parallel)) {
    shape.name = model.name + "/" + shape.name;
    const double expected_s = shape.flop() / expected_flop_per_s;
    if (context.agreement(expected_s <= kMaxBudgetsForOne * context.sampling.stopping.budget_s)) {
      results.push_back(measure_gemm(Precision::fp32, shape, context));
    } else {
      results.push_back(waived_result(name_of_gemm(Precision::fp32, shape), "flop/s",
                                      "one product would take about " + format_seconds(expected_s) +
                                          ", too long for the budget of a point"));
    }
  }
  return results;
}

}  // namespace sextant::inline probes
