// Every plan of small unit spaces, costed one by one: the reference for tests of exact planners. It shares only
// the evaluator, the lists of groupings, units and shapes, and the load splits with them.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planner/request/groupings.h"
#include "planner/request/shapes.h"
#include "planner/space/balance.h"
#include "planner/space/units.h"
#include "sextant/planner.h"
#include "sextant/search_space.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {

// A workflow of models with 16 layers, about 0.5B parameters per eight layers: a few devices hold them.
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

// all: every shape, order of the devices and load split. unbeaten: only options that no other one dominates on
// every single device.
enum class OptionsOf { all, unbeaten };

class BruteForce {
 public:
  BruteForce(const PlanRequest& request, int wanted_units, OptionsOf options = OptionsOf::unbeaten)
      : request_(request),
        options_of_(options),
        evaluator_({request.cluster, request.workflow, request.coefficients, request.framework, request.choices,
                    request.weight_sync}),
        classes_(unit_classes(request.cluster, wanted_units, marks_of(request.limits.pins, request.cluster))) {}

  // Time of the best plan that fits; infinite if none does.
  double best_s() {
    for (const TaskGrouping& grouping : task_groupings(evaluator_.task_count())) {
      std::vector<UnitShare> groups(static_cast<std::size_t>(grouping.groups), UnitShare(classes_.size(), 0));
      deal(grouping, groups, 0, 0, classes_.front().count());
    }
    return best_loss({});
  }
  // Minimum loss of a plan that respects the limits; valid after costing.
  [[nodiscard]] double best_loss(const Objective& objective) const {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [rent, fastest_s] : fastest_s_) {
      const Rented rented{rent.first, rent.second};
      if (overrun_of(objective, fastest_s, rented) <= 0)
        best = std::min(best, loss_of(objective, fastest_s, rented));
    }
    return best;
  }
  [[nodiscard]] std::uint64_t plans() const { return plans_; }
  [[nodiscard]] std::uint64_t unfit() const { return unfit_; }

 private:
  static ShapeLimits limits(const PlanRequest& request) {
    ShapeLimits limits;
    limits.micro_batch_sequences = request.limits.micro_batch_sequences;
    limits.try_recompute = request.limits.try_recompute;
    limits.tensor_parallel_limit = 1;
    for (const Node& node : request.cluster.nodes())
      limits.tensor_parallel_limit = std::max(limits.tensor_parallel_limit, node.devices);
    return limits;
  }

  struct Costed {
    Placement placement;
    std::vector<double> numbers;  // times, then bytes by device
    Shape layout;                 // without micro-batches: the key for synchronization paths
  };

  const std::vector<Costed>& options_on(int task, const std::vector<std::uint16_t>& devices) {
    const auto [entry, is_new] = known_.try_emplace({task, devices});
    if (!is_new) return entry->second;
    std::vector<Costed>& all = entry->second;
    const Task& of = request_.workflow.tasks[static_cast<std::size_t>(task)];
    const LoadWeights weights = load_weights_of(of, evaluator_.execution(task), request_.workflow,
                                                request_.cluster, evaluator_.sorted_lengths());
    std::vector<Shape> shapes =
        shapes_of(of, request_.workflow, static_cast<int>(devices.size()), limits(request_));
    const auto is_far = [&](const Shape& shape) {
      return !stages_are_near(devices, shape.tensor_parallel, request_.cluster);
    };
    if (!std::all_of(shapes.begin(), shapes.end(), is_far)) std::erase_if(shapes, is_far);
    for (const Shape& even : shapes) {
      for (const DeviceOrder order : {DeviceOrder::by_replica, DeviceOrder::by_stage}) {
        for (const LoadSplit dealing : kLoadSplits) {
          if (dealing != LoadSplit::evenly && !request_.limits.balances_load) continue;
          Costed costed = costed_as(task, balanced(even, order, devices, weights, dealing), order, devices);
          const auto is_same = [&](const Costed& other) { return other.placement == costed.placement; };
          if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(std::move(costed));
        }
      }
    }
    if (options_of_ == OptionsOf::unbeaten) all = unbeaten(all);
    return all;
  }

  Costed costed_as(int task, Shape shape, DeviceOrder order, const std::vector<std::uint16_t>& devices) {
    Costed costed;
    costed.placement = placed(shape, evaluator_.shapes(task).add(shape), order, devices);
    const TaskValue value = evaluator_.value_of(task, costed.placement);
    costed.numbers = {value.time_s, value.fastest_gather_s, value.slowest_gather_s, value.copied_s,
                      value.fetched_s};
    std::map<std::uint16_t, std::pair<double, double>> bytes;
    std::size_t next = 0;
    for (const ReplicaValue* replica : evaluator_.replicas(task)) {
      for (std::size_t p = 0; p < replica->bytes->resident.size(); ++p)
        bytes[costed.placement.devices[next++]] = {replica->bytes->resident[p], replica->bytes->working[p]};
    }
    for (const auto& [device, needs] : bytes)
      costed.numbers.insert(costed.numbers.end(), {needs.first, needs.second});
    shape.micro_batch_sequences = 0;
    costed.layout = std::move(shape);
    return costed;
  }

  [[nodiscard]] std::vector<Costed> unbeaten(const std::vector<Costed>& all) const {
    const bool is_sum = request_.weight_sync.method == WeightSyncMethod::shortest;
    const auto beats = [&](const Costed& a, const Costed& b) {
      if (!is_sum && !(a.layout == b.layout && a.placement.devices == b.placement.devices)) return false;
      return std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), std::less_equal<>());
    };
    std::vector<Costed> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool is_beaten = false;
      for (std::size_t j = 0; j < all.size() && !is_beaten; ++j)
        is_beaten = j != i && beats(all[j], all[i]) && (j < i || !beats(all[i], all[j]));
      if (!is_beaten) kept.push_back(all[i]);
    }
    return kept;
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

  [[nodiscard]] bool obeys(std::size_t task, const std::vector<std::uint16_t>& devices) const {
    const auto pin = request_.limits.pins.find(request_.workflow.tasks[task].name);
    if (pin == request_.limits.pins.end()) return true;
    const auto is_pinned = [&](std::uint16_t device) { return pin->second.devices.contains(DeviceId{device}); };
    return devices.size() == pin->second.devices.size() &&
           std::all_of(devices.begin(), devices.end(), is_pinned);
  }

  // The devices of all groups, which are disjoint.
  [[nodiscard]] std::pair<double, double> rent_of(const std::vector<std::vector<std::uint16_t>>& groups) const {
    double devices = 0, usd_per_hour = 0;
    std::set<std::size_t> paid_whole;
    for (const std::vector<std::uint16_t>& group : groups) {
      for (const std::uint16_t device : group) {
        ++devices;
        const auto& price = request_.cluster.type_of(DeviceId{device}).price_usd_per_hour;
        const std::size_t number = request_.cluster.node_of(DeviceId{device}).index();
        const Node& node = request_.cluster.nodes()[number];
        if (node.rented_whole && !paid_whole.insert(number).second) continue;
        usd_per_hour += price ? price->value * (node.rented_whole ? node.devices : 1) : 0;
      }
    }
    return {devices, usd_per_hour};
  }

  void choose_all(const TaskGrouping& grouping, const std::vector<UnitShare>& groups) {
    const auto devices = devices_of_groups(classes_, groups);
    std::vector<const std::vector<std::uint16_t>*> of_task;
    std::vector<const std::vector<Costed>*> options;
    for (std::size_t t = 0; t < grouping.group_of.size(); ++t) {
      of_task.push_back(&devices[static_cast<std::size_t>(grouping.group_of[t])]);
      if (of_task.back()->empty() || !obeys(t, *of_task.back())) return;
      options.push_back(&options_on(static_cast<int>(t), *of_task.back()));
    }
    fastest_here_s_ =
        &fastest_s_.try_emplace(rent_of(devices), std::numeric_limits<double>::infinity()).first->second;
    Candidate candidate;
    choose(of_task, options, candidate);
  }

  void choose(const std::vector<const std::vector<std::uint16_t>*>& devices,
              const std::vector<const std::vector<Costed>*>& options, Candidate& candidate) {
    const std::size_t t = candidate.tasks.size();
    if (t == options.size()) {
      ++plans_;
      const Score score = evaluator_.evaluate(candidate);
      if (score.fits()) *fastest_here_s_ = std::min(*fastest_here_s_, score.time_s);
      if (!score.fits()) ++unfit_;
      return;
    }
    for (const Costed& option : *options[t]) {
      candidate.tasks.push_back(option.placement);
      choose(devices, options, candidate);
      candidate.tasks.pop_back();
    }
  }

  const PlanRequest& request_;
  OptionsOf options_of_;
  Evaluator evaluator_;
  std::map<std::pair<int, std::vector<std::uint16_t>>, std::vector<Costed>> known_;
  std::vector<UnitClass> classes_;
  std::map<std::pair<double, double>, double> fastest_s_;  // by number and price of devices
  double* fastest_here_s_ = nullptr;
  std::uint64_t plans_ = 0, unfit_ = 0;
};

// Instances that brute force can solve.
struct SmallCase {
  std::string name;
  Cluster cluster;
  Workflow workflow;
  int wanted_units = 4;
  std::vector<int> micro_batches{1, 8};
  Pins pins = {};
};

// Pins a task to consecutive devices.
inline Pin pin_from(int first, int count) {
  std::set<DeviceId> devices;
  for (int d = first; d < first + count; ++d) devices.insert(DeviceId{d});
  return pin_to(std::move(devices));
}

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

// The critic still trains while the actor's weights travel to another region.
inline SmallCase pinned_apart(std::string name, Mode mode) {
  return {std::move(name),
          cluster_of({{"a100", 1, 1}, {"a100", 1, 2, "z2", "r2"}, {"l4", 1, 4, "z3", "r3"}}),
          small_ppo(mode),
          4,
          {4},
          {{"actor_generation", pin_from(0, 1)},
           {"actor_training", pin_from(1, 2)},
           {"critic_training", pin_from(3, 4)},
           {"reference_inference", pin_from(1, 2)},
           {"reward_inference", pin_from(3, 4)}}};
}

// Pins of one task and of several, to a machine, to parts of one and across regions.
inline std::vector<SmallCase> pinned_cases() {
  const auto async = Mode::asynchronous;
  return {
      {"pinned_machine",
       cluster_of({{"l40s", 2, 4}}),
       small_grpo(),
       4,
       {8},
       {{"reference_inference", pin_from(4, 4)}}},
      {"pinned_parts",
       cluster_of({{"a100", 1, 4}, {"l40s", 1, 4}}),
       small_grpo(async),
       4,
       {1, 8},
       {{"actor_generation", pin_from(0, 4)},
        {"reference_inference", pin_from(5, 2)},
        {"reward_inference", pin_from(5, 2)}}},
      {"pinned_far",
       cluster_of({{"a100", 1, 2}, {"l4", 1, 2, "z2", "r2"}}),
       small_grpo(),
       4,
       {1, 8},
       {{"actor_training", pin_from(1, 3)}}},
      pinned_apart("pinned_apart", Mode::synchronous),
      pinned_apart("pinned_apart_async", async),
  };
}

inline PlanRequest request_of(const SmallCase& small, const Coefficients& coefficients) {
  PlanRequest request{small.cluster, small.workflow, coefficients};
  request.limits.micro_batch_sequences = small.micro_batches;
  request.limits.pins = small.pins;
  return request;
}

}  // namespace sextant::test
