#include "probes/estimates/part_choice.h"

#include <algorithm>
#include <cstddef>

namespace sextant::inline probes {
namespace {

constexpr std::size_t kMaxCandidates = 32;

double sum_of_errors(SegmentRule rule, std::span<const SegmentView> views, double cost) {
  double sum = 0;
  for (const SegmentView& it : views) {
    sum += it.weight * relative_error(it.cost, std::max(joined_costs(rule, it.rest, cost), 0.0));
  }
  return sum;
}

}  // namespace

SegmentChoice choose_cost(SegmentRule rule, std::span<const SegmentView> views, double instead) {
  std::vector<double> candidates;
  for (const SegmentView& it : views)
    candidates.push_back(rule == SegmentRule::slowest ? it.cost : it.cost - it.rest);
  std::sort(candidates.begin(), candidates.end());
  SegmentChoice best{instead, 0};
  const double instead_errors = sum_of_errors(rule, views, instead);
  const std::size_t tried = std::min(candidates.size(), kMaxCandidates);
  for (std::size_t i = 0; i < tried; ++i) {
    const double cost = candidates[(2 * i + 1) * candidates.size() / (2 * tried)];
    const double gain = instead_errors - sum_of_errors(rule, views, cost);
    if (gain > best.gain) best = {cost, gain};
  }
  return best;
}

}  // namespace sextant::inline probes
