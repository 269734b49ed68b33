// Every plan of small unit spaces, costed one by one: what exact planners are tested against. Shares nothing
// with them but the evaluator and the lists of groupings, units and options.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "planner/planner.h"
#include "planner/space/groupings.h"
#include "planner/space/options.h"
#include "planner/space/units.h"
#include "tests/planner/planning_case.h"

namespace sextant::testing {

// Models of so many layers and about 0.5B parameters each eight, so that a few devices hold them.
inline Workflow small_rl(std::vector<Task> tasks, Algorithm algorithm, Mode mode = Mode::synchronous) {
  Workflow workflow = ppo_8b(mode);
  workflow.algorithm = algorithm;
  workflow.tasks = std::move(tasks);
  Model model = model_8b();
  model.layers = 16;
  model.hidden = 2048;
  model.intermediate = 8192;
  model.heads = 16;
  model.kv_heads = 4;
  workflow.models.clear();
  for (const Task& task : workflow.tasks) workflow.models[task.model] = model;
  workflow.prompts = 64;
  return workflow;
}

inline Workflow small_ppo(Mode mode = Mode::synchronous) { return small_rl(ppo_tasks(), Algorithm::ppo, mode); }
inline Workflow small_grpo(Mode mode = Mode::synchronous, bool with_reward = true) {
  return small_rl(grpo_tasks(with_reward), Algorithm::grpo, mode);
}

class BruteForce {
 public:
  BruteForce(const PlanRequest& request, int wanted_units)
      : request_(request),
        evaluator_({request.cluster, request.workflow, request.coefficients, request.framework,
                    request.executions, request.weight_sync}),
        table_(evaluator_, request.cluster, request.workflow, limits(request)),
        classes_(unit_classes(request.cluster, wanted_units)) {}

  // Of the best plan that fits; infinite where none does.
  double best_s() {
    for (const TaskGrouping& grouping : task_groupings(evaluator_.task_count())) {
      std::vector<UnitShare> groups(static_cast<std::size_t>(grouping.groups), UnitShare(classes_.size(), 0));
      deal(grouping, groups, 0, 0, classes_.front().count());
    }
    return best_s_;
  }
  [[nodiscard]] std::uint64_t plans() const { return plans_; }
  [[nodiscard]] std::uint64_t unfit() const { return unfit_; }

 private:
  static ShapeLimits limits(const PlanRequest& request) {
    ShapeLimits limits;
    limits.micro_batch_sequences = request.limits.micro_batch_sequences;
    limits.try_recompute = request.limits.try_recompute;
    limits.most_tensor_parallel = 1;
    for (const Node& node : request.cluster.nodes())
      limits.most_tensor_parallel = std::max(limits.most_tensor_parallel, node.devices);
    return limits;
  }

  void deal(const TaskGrouping& grouping, std::vector<UnitShare>& groups, std::size_t c, std::size_t g,
            int left) {
    if (c == classes_.size()) return choose_all(grouping, groups);
    if (g == groups.size()) {
      const bool is_more = c + 1 < classes_.size();
      return deal(grouping, groups, c + 1, 0, is_more ? classes_[c + 1].count() : 0);
    }
    for (int taken = 0; taken <= left; ++taken) {
      groups[g][c] = taken;
      deal(grouping, groups, c, g + 1, left - taken);
    }
    groups[g][c] = 0;
  }

  void choose_all(const TaskGrouping& grouping, const std::vector<UnitShare>& groups) {
    const auto devices = devices_of_groups(classes_, groups);
    std::vector<const std::vector<std::uint16_t>*> of_task;
    std::vector<const std::vector<Option>*> options;
    for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
      of_task.push_back(&devices[static_cast<std::size_t>(grouping.group_of[t])]);
      if (of_task.back()->empty()) return;
      options.push_back(&table_.of(static_cast<int>(t), *of_task.back()));
    }
    Candidate candidate;
    choose(of_task, options, candidate);
  }

  void choose(const std::vector<const std::vector<std::uint16_t>*>& devices,
              const std::vector<const std::vector<Option>*>& options, Candidate& candidate) {
    const std::size_t t = candidate.tasks.size();
    if (t == options.size()) {
      ++plans_;
      const Score score = evaluator_.evaluate(candidate);
      if (score.fits()) best_s_ = std::min(best_s_, score.time_s);
      if (!score.fits()) ++unfit_;
      return;
    }
    for (const Option& option : *options[t]) {
      const Shape& shape = evaluator_.shapes(static_cast<int>(t)).at(option.shape);
      candidate.tasks.push_back(placed(shape, option.shape, option.order, *devices[t]));
      choose(devices, options, candidate);
      candidate.tasks.pop_back();
    }
  }

  const PlanRequest& request_;
  Evaluator evaluator_;
  OptionTable table_;
  std::vector<UnitClass> classes_;
  double best_s_ = std::numeric_limits<double>::infinity();
  std::uint64_t plans_ = 0, unfit_ = 0;
};

// Instances that brute force can do.
struct SmallCase {
  std::string name;
  Cluster cluster;
  Workflow workflow;
  int wanted_units = 4;
  std::vector<int> micro_batches{1, 8};
};

inline std::vector<SmallCase> small_cases() {
  const auto async = Mode::asynchronous;
  return {
      {"four_grpo", cluster_of({{"a100", 1, 4}}), small_grpo(), 4},
      {"four_l4_grpo", cluster_of({{"l4", 1, 4}}), small_grpo(), 4},
      {"two_machines", cluster_of({{"a100", 2, 2}}), small_grpo(async), 4},
      {"straddling", cluster_of({{"l40s", 2, 3}}), small_grpo(Mode::synchronous, false), 6},
      {"eight_units", cluster_of({{"l40s", 2, 4}}), small_grpo(), 8, {8}},
      {"mixed_grpo", cluster_of({{"a100", 1, 2}, {"l4", 1, 2, "z2", "r2"}}), small_grpo(), 4},
      {"mixed_async", cluster_of({{"a100", 1, 4}, {"l40s", 1, 4}}), small_grpo(async), 4},
      {"regions_async", cluster_of({{"a100", 1, 4}, {"l40s", 1, 4, "z2", "r2"}}), small_grpo(async), 4},
      {"sixteen", cluster_of({{"a100", 1, 8}, {"l40s", 1, 8}}), small_grpo(Mode::synchronous, false), 4},
      {"four_ppo", cluster_of({{"l40s", 1, 4}}), small_ppo(), 2, {4}},
      {"mixed_ppo", cluster_of({{"a100", 1, 2}, {"l40s", 1, 2}}), small_ppo(async), 2, {4}},
  };
}

inline PlanRequest request_of(const SmallCase& small, const Coefficients& coefficients) {
  PlanRequest request{small.cluster, small.workflow, coefficients};
  request.limits.micro_batch_sequences = small.micro_batches;
  return request;
}

}  // namespace sextant::testing
