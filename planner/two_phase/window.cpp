#include "planner/two_phase/window.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace sextant::inline planner {
namespace {

constexpr std::size_t kSupport = 64;
constexpr std::size_t kMaxSamples = 1U << 18;  // longer windows change nothing that a plan could show

// Own code: the standard's distributions differ between libraries, and a seed must give the same plan.
double uniform(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11U), -53); }

double standard_normal(std::mt19937_64& random) {
  constexpr double kTwoPi = 6.283185307179586;
  return std::sqrt(-2 * std::log(1 - uniform(random))) * std::cos(kTwoPi * uniform(random));
}

double sample(const Lengths& lengths, double weight_sum, std::mt19937_64& random) {
  if (lengths.kind == LengthKind::lognormal)
    return std::min(lengths.max, lengths.median * std::exp(lengths.sigma * standard_normal(random)));
  double left = uniform(random) * weight_sum;
  for (std::size_t i = 0; i + 1 < lengths.tokens.size(); ++i) {
    left -= lengths.weights[i];
    if (left < 0) return lengths.tokens[i];
  }
  return lengths.tokens.back();
}

// Sorted samples in parts of equal size; the longest one alone.
Lengths summarised(const std::vector<double>& samples) {
  Lengths lengths;
  lengths.kind = LengthKind::empirical;
  const auto add = [&](double tokens, double weight) {
    if (!lengths.tokens.empty() && tokens <= lengths.tokens.back()) {
      lengths.weights.back() += weight;
      return;
    }
    lengths.tokens.push_back(tokens);
    lengths.weights.push_back(weight);
  };
  const std::size_t rest = samples.size() - 1, parts = std::min(rest, kSupport - 1);
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t from = rest * p / parts, to = rest * (p + 1) / parts;
    const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(from);
    const double sum = std::accumulate(begin, samples.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
    add(sum / static_cast<double>(to - from), static_cast<double>(to - from));
  }
  add(samples.back(), 1);
  return lengths;
}

}  // namespace

int first_window_steps(const Workflow& workflow) {
  return 1 + static_cast<int>(std::ceil(std::max(0.0, workflow.staleness)));
}

Workflow windowed(const Workflow& workflow, int steps, std::uint64_t seed) {
  const Lengths& lengths = workflow.response_tokens;
  if (lengths.kind == LengthKind::fixed) return workflow;
  std::mt19937_64 random(seed);
  const double weight_sum = std::accumulate(lengths.weights.begin(), lengths.weights.end(), 0.0);
  const std::size_t wanted = static_cast<std::size_t>(steps) * static_cast<std::size_t>(workflow.sequences());
  std::vector<double> samples(std::min(wanted, kMaxSamples));
  for (double& tokens : samples) tokens = sample(lengths, weight_sum, random);
  std::sort(samples.begin(), samples.end());
  Workflow sampled = workflow;
  sampled.response_tokens = summarised(samples);
  return sampled;
}

}  // namespace sextant::inline planner
