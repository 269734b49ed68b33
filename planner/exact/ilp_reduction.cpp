#include "planner/exact/ilp_reduction.h"

#include <algorithm>

#include "costmodel/iteration.h"

namespace sextant::inline planner {
namespace {

constexpr auto kGeneration = static_cast<std::size_t>(TaskKind::generation);

// Relative: sums of the solver, of bounds and of whole plans are rounded differently.
constexpr double kSumRounding = 1e-6;

}  // namespace

IlpReduction::IlpReduction(UnitSpace& space, const SyncCost& sync, GroupCosts& costs, double max_s)
    : space_(space), sync_(sync), costs_(costs), max_s_(max_s * (1 + kSumRounding)) {
  kept_.resize(static_cast<std::size_t>(space.tasks()));
  for (int share = 1; share < space.share_count(); ++share) {
    for (const int block : space.blocks_of(share)) {
      for (int t = 0; t < space.tasks(); ++t) {
        std::vector<std::size_t>& kept = kept_[static_cast<std::size_t>(t)];
        kept.resize(std::max(kept.size(), static_cast<std::size_t>(block) + 1));
        kept[static_cast<std::size_t>(block)] = count_kept(t, block, share);
        keeps_all_ = keeps_all_ && kept[static_cast<std::size_t>(block)] == space.options(t, block).size();
      }
    }
  }
}

std::size_t IlpReduction::kind_of(int task) const {
  return static_cast<std::size_t>(space_.request().workflow.tasks[static_cast<std::size_t>(task)].kind);
}

std::size_t IlpReduction::count_kept(int task, int block, int share) {
  const std::vector<ExactOption>& options = space_.options(task, block);
  std::size_t kept = 0;
  for (TaskSet tasks = 1; tasks < TaskSet{1} << space_.tasks() && kept < options.size(); ++tasks) {
    Group group;
    if ((tasks >> task & 1U) == 0 || !fill(tasks, task, block, share, group)) continue;
    while (kept < options.size() && bound_s(group, kind_of(task), options[kept].value.time_s) <= max_s_) ++kept;
  }
  return kept;
}

bool IlpReduction::fill(TaskSet tasks, int task, int block, int share, Group& group) {
  const int rest = space_.share_count() - 1 - share;
  if (!space_.may_have(tasks, share) || !costs_.of_block(tasks, block).is_possible()) return false;
  for (int t = 0; t < space_.tasks(); ++t) {
    const TaskSet alone = TaskSet{1} << t;
    const std::size_t kind = kind_of(t);
    if ((tasks & alone) == 0) {
      const GroupCost& elsewhere = costs_.within(alone, rest);
      if (!elsewhere.is_possible()) return false;
      group.others_s[kind] = std::max(group.others_s[kind], elsewhere.kind_s[kind]);
      continue;
    }
    group.has[kind] = true;
    if (t != task) group.own_s[kind] += costs_.of_block(alone, block).kind_s[kind];
  }
  group.has_generation = group.has[kGeneration];
  group.is_generation = sync_.generation() >= 0 && tasks == TaskSet{1} << sync_.generation();
  const TaskSet others = tasks & ~(TaskSet{1} << task);
  group.packed_s = others == 0 ? 0 : costs_.of_block(others, block).sum_s;
  return true;
}

double IlpReduction::bound_s(const Group& group, std::size_t kind, double option_s) const {
  Times phase_s{};
  double rest_s = 0, with_group_s = option_s + group.packed_s;
  const Workflow& workflow = space_.request().workflow;
  const bool overlaps = workflow.mode != Mode::synchronous && (group.is_generation || !group.has_generation);
  for (std::size_t k = 0; k < kTaskKinds; ++k) {
    phase_s[k] = std::max(group.own_s[k] + (k == kind ? option_s : 0), group.others_s[k]);
    if (k != kGeneration) rest_s += phase_s[k];
    if (!group.has[k] && !(overlaps && k == kGeneration)) with_group_s += group.others_s[k];
  }
  if (overlaps) {
    if (!group.is_generation) rest_s = std::max(rest_s, with_group_s);
    return streamed_s(workflow, phase_s[kGeneration], rest_s) + sync_.min_fixed_s();
  }
  return std::max(rest_s + phase_s[kGeneration], with_group_s) + sync_.min_fixed_s();
}

}  // namespace sextant::inline planner
