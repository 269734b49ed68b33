#include "costmodel/staleness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "sextant/prediction.h"

namespace sextant::inline costmodel {
namespace {

// The mixture of two neighbouring whole numbers with this mean.
std::vector<double> mixture(double mean) {
  const double below = std::floor(mean);
  std::vector<double> fractions(static_cast<std::size_t>(below) + 1, 0.0);
  fractions.back() = 1 - (mean - below);
  if (mean > below) fractions.push_back(mean - below);
  return fractions;
}

// P(v + u w <= x), v and u even between 0 and 1: the mean over u of how much of v is below x - u w.
double probability_below(double x, double w) {
  if (w <= 0) return std::clamp(x, 0.0, 1.0);
  const auto integral = [](double y) { return y <= 0 ? 0 : y >= 1 ? y - 0.5 : 0.5 * y * y; };
  return (integral(x) - integral(x - w)) / w;
}

// ahead: a of the header, at most 1. What is older than `oldest` is that old.
std::vector<double> spread(double ahead, double carried, double oldest) {
  constexpr double kRounding = 1e-12;
  std::vector<double> fractions;
  double below = 0;
  for (double staleness = 0; staleness <= oldest && below < 1 - kRounding; ++staleness) {
    const double up_to = probability_below(1 - ahead + staleness, carried);
    fractions.push_back(up_to - below);
    below = up_to;
  }
  fractions.back() += 1 - below;
  return fractions;
}

}  // namespace

std::vector<double> staleness_fractions(const Workflow& workflow, const StalenessInputs& inputs) {
  const double carried = std::min(inputs.carried, kMaxStaleness), part = 1.0 / workflow.streamed_parts;
  if (workflow.mode == Mode::one_step_off) return mixture(1);
  if (workflow.mode == Mode::synchronous)
    return carried > 0 ? spread(0, carried, kMaxStaleness) : std::vector<double>{};
  const double bound = std::min(workflow.staleness, kMaxStaleness);
  const double g = inputs.generation_s, r = inputs.rest_s;
  double ahead = 0;
  if (inputs.overlaps)
    ahead = g > 0 ? std::max(part * r, r - (1 - part) * g) / g : std::numeric_limits<double>::infinity();
  if (ahead > 1) return mixture(bound);
  std::vector<double> fractions = spread(ahead, carried, std::ceil(bound));
  return mean_staleness(fractions) > bound ? mixture(bound) : fractions;
}

}  // namespace sextant::inline costmodel
