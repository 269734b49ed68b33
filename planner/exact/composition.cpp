#include "planner/exact/composition.h"

#include <algorithm>

#include "costmodel/iteration.h"

namespace sextant {

constexpr auto kGeneration = static_cast<std::size_t>(TaskKind::generation);

Composition::Composition(const UnitSpace& space, const SyncCost& sync, const GroupCosts& costs)
    : workflow_(space.request().workflow),
      sync_(sync),
      costs_(costs),
      eta_(space.frame().coefficient(CoefficientId::task_overlap)) {}

int Composition::group_with(std::span<const TaskSet> groups, int task) const {
  if (task < 0) return -1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if ((groups[g] >> task & 1U) != 0) return static_cast<int>(g);
  }
  return -1;
}

// skipped: the group that generates in parallel with the others, or -1.
double Composition::by_group_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                               const Phases& phases, int skipped, double shared_sync_s) const {
  double longest_s = 0, all_s = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (static_cast<int>(g) == skipped) continue;
    double with_others_s = costs[g].sum_s;
    for (std::size_t k = 0; k < kTaskKinds; ++k) {
      const bool overlaps = skipped >= 0 && k == kGeneration;
      if ((groups[g] & costs_.of_kind(k)) == 0 && !overlaps) with_others_s += phases.longest_s[k];
    }
    const bool has_sync = group_with(groups, sync_.training()) == static_cast<int>(g) && shared_sync_s > 0;
    longest_s = std::max(longest_s, with_others_s + (has_sync ? 0 : shared_sync_s));
    all_s += costs[g].sum_s;
  }
  return eta_ * longest_s + (1 - eta_) * all_s;
}

double Composition::bound_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                            double transfer_s, double other_use_s) const {
  Phases phases;
  for (const GroupCost& cost : costs) {
    for (std::size_t k = 0; k < kTaskKinds; ++k) {
      phases.longest_s[k] = std::max(phases.longest_s[k], cost.kind_s[k]);
      phases.sum_s[k] += cost.kind_s[k];
    }
  }
  const auto phase_s = [&](std::size_t k) { return eta_ * phases.longest_s[k] + (1 - eta_) * phases.sum_s[k]; };
  const int generating = group_with(groups, sync_.generation()),
            training = group_with(groups, sync_.training());
  const bool shares = generating >= 0 && generating == training;
  double apart_s = 0;
  if (generating >= 0 && !shares) {
    apart_s = transfer_s + costs[static_cast<std::size_t>(generating)].sync_s +
              costs[static_cast<std::size_t>(training)].sync_s;
  }
  const double shared_s = shares ? costs[static_cast<std::size_t>(training)].sync_s : 0;
  const double longer_s = std::max(0.0, other_use_s - (shares ? shared_s : apart_s) - sync_.fixed_s());
  const bool overlaps = workflow_.mode != Mode::synchronous && generating >= 0 &&
                        groups[static_cast<std::size_t>(generating)] == TaskSet{1} << sync_.generation();
  double rest_s = 0;
  for (std::size_t k = 0; k < kTaskKinds; ++k) {
    if (k != kGeneration) rest_s += phase_s(k);
  }
  if (overlaps) {
    rest_s = std::max(rest_s, by_group_s(groups, costs, phases, generating, 0));
    return streamed_s(workflow_, phase_s(kGeneration), rest_s) + apart_s + sync_.fixed_s() + longer_s;
  }
  const double by_phase_s = rest_s + phase_s(kGeneration) + shared_s;
  return std::max(by_phase_s, by_group_s(groups, costs, phases, -1, shared_s)) + apart_s + sync_.fixed_s() +
         longer_s;
}

}  // namespace sextant
