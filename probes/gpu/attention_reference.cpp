#include "probes/gpu/attention_reference.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sextant::inline probes {
namespace {

constexpr double kBf16Rounding = 0x1p-8;
// Weights are rounded to 2^-9 each and independently, which moves a sum of many by about a thousandth of its
// size; a misplaced row or dimension moves it by all of it.
constexpr double kShareOfRow = 0.03;

}  // namespace

double from_bf16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

std::vector<double> attention_row(const Bf16Row& query, const Bf16Row& keys, const Bf16Row& values,
                                  int tokens) {
  const std::size_t dim = query.size();
  const auto count = static_cast<std::size_t>(tokens);
  std::vector<double> scores(count, 0.0);
  for (std::size_t token = 0; token < count; ++token) {
    for (std::size_t d = 0; d < dim; ++d)
      scores[token] += from_bf16(query[d]) * from_bf16(keys[token * dim + d]);
    scores[token] /= std::sqrt(static_cast<double>(dim));
  }
  const double maximum = *std::max_element(scores.begin(), scores.end());
  std::vector<double> output(dim, 0.0);
  double sum = 0;
  for (std::size_t token = 0; token < count; ++token) {
    const double weight = std::exp(scores[token] - maximum);
    sum += weight;
    for (std::size_t d = 0; d < dim; ++d) output[d] += weight * from_bf16(values[token * dim + d]);
  }
  for (double& value : output) value /= sum;
  return output;
}

bool is_attention_right(const Bf16Row& got, const std::vector<double>& want) {
  if (got.size() != want.size()) return false;
  double square = 0;
  for (const double value : want) square += value * value;
  const double size = std::sqrt(square / static_cast<double>(want.size()));
  for (std::size_t d = 0; d < want.size(); ++d) {
    const double allowed = kBf16Rounding * std::abs(want[d]) + kShareOfRow * size;
    // Written so that NaN is wrong.
    if (!(std::abs(from_bf16(got[d]) - want[d]) <= allowed)) return false;
  }
  return true;
}

}  // namespace sextant::inline probes
