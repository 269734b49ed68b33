#include "planner/exact/composition.h"

#include <algorithm>

#include "costmodel/iteration.h"

namespace sextant::inline planner {

constexpr auto kGeneration = static_cast<std::size_t>(TaskKind::generation),
               kInference = static_cast<std::size_t>(TaskKind::inference),
               kTraining = static_cast<std::size_t>(TaskKind::training);

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

// The group's own tasks, one after the other, and the phases in which it takes no part. generates_beside:
// generation overlaps with the other phases.
double Composition::path_s(TaskSet group, const GroupCost& cost, const Phases& phases,
                           bool generates_beside) const {
  double sum_s = cost.sum_s;
  for (std::size_t k = 0; k < kTaskKinds; ++k) {
    const bool overlaps = generates_beside && k == kGeneration;
    if ((group & costs_.of_kind(k)) == 0 && !overlaps) sum_s += phases.longest_s[k];
  }
  return sum_s;
}

Composition::Transfers Composition::transfers(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                                              double transfer_s, double other_use_s) const {
  Transfers all;
  all.training = group_with(groups, sync_.training());
  all.generation = group_with(groups, sync_.generation());
  if (all.training >= 0) {
    const GroupCost &trains = costs[static_cast<std::size_t>(all.training)],
                    &generates = costs[static_cast<std::size_t>(all.generation)];
    all.shared_s = all.shares() ? trains.sync_s : 0;
    all.actor_s =
        (all.shares() ? trains.sync_s : transfer_s + trains.sync_s + generates.sync_s) + sync_.handover_s();
    all.trained_s = std::max(trains.kind_s[kTraining], generates.kind_s[kTraining]);
  }
  all.longest_s = std::max(all.actor_s, other_use_s);
  const auto training_groups = std::count_if(
      groups.begin(), groups.end(), [&](TaskSet group) { return (group & costs_.of_kind(kTraining)) != 0; });
  all.may_be_hidden = training_groups > 1;
  return all;
}

// Generation beside the rest: weight_transfers.h with lower bounds of all that it is monotone in.
double Composition::beside_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                             const Phases& phases, const Transfers& transfers) const {
  double longest_s = 0, all_s = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (static_cast<int>(g) == transfers.generation) continue;
    longest_s = std::max(longest_s, path_s(groups[g], costs[g], phases, true));
    all_s += costs[g].sum_s;
  }
  const double generation_s = phase_s(phases, kGeneration), inference_s = phase_s(phases, kInference);
  const double rest_s =
      std::max(inference_s + phase_s(phases, kTraining), eta_ * longest_s + (1 - eta_) * all_s);
  const double work_s = streamed_s(workflow_, generation_s, rest_s);
  if (!transfers.may_be_hidden || workflow_.staleness < 1) return work_s + transfers.longest_s;
  const double begin_s = std::max(generation_s, inference_s + transfers.trained_s);
  return eta_ * std::max(work_s, begin_s + transfers.actor_s) + (1 - eta_) * (work_s + transfers.longest_s);
}

// One phase after the other: eta (sum of makespans, and what follows them) + (1 - eta) (sum of all).
double Composition::in_turn_s(std::span<const TaskSet> groups, std::span<const GroupCost> costs,
                              const Phases& phases, const Transfers& transfers) const {
  double longest_s = 0, sum_s = 0, all_s = 0;
  for (std::size_t k = 0; k < kTaskKinds; ++k) {
    longest_s += phases.longest_s[k];
    sum_s += phases.sum_s[k];
  }
  const double begin_s = phases.longest_s[kGeneration] + phases.longest_s[kInference] + transfers.trained_s;
  longest_s =
      std::max(longest_s + (transfers.may_be_hidden ? 0 : transfers.longest_s), begin_s + transfers.actor_s);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    all_s += costs[g].sum_s;
    const int group = static_cast<int>(g);
    const bool has_sync = transfers.shares() && group == transfers.training;  // in its sum
    double sent_s = transfers.longest_s - (has_sync ? transfers.shared_s : 0);
    if (transfers.may_be_hidden) {
      const bool waits = (group == transfers.training || group == transfers.generation) &&
                         (groups[g] & costs_.of_kind(kTraining)) != 0;
      sent_s = has_sync ? sync_.handover_s() : waits ? transfers.actor_s : 0;
    }
    longest_s = std::max(longest_s, path_s(groups[g], costs[g], phases, false) + sent_s);
  }
  return eta_ * longest_s + (1 - eta_) * (std::max(sum_s, all_s - transfers.shared_s) + transfers.longest_s);
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
  const Transfers sent = transfers(groups, costs, transfer_s, other_use_s);
  const bool is_beside = workflow_.mode != Mode::synchronous && sent.generation >= 0 &&
                         groups[static_cast<std::size_t>(sent.generation)] == TaskSet{1} << sync_.generation();
  return (is_beside ? beside_s(groups, costs, phases, sent) : in_turn_s(groups, costs, phases, sent)) +
         sync_.overhead_s();
}

}  // namespace sextant::inline planner
