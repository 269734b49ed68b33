#include "sextant/search_space.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "planner/request/shapes.h"
#include "sextant/error.h"

namespace sextant {
namespace {

constexpr int kMaxDevices = 16;  // subsets are enumerated one by one

// Ways to write `layers` as an ordered sum of `stages` positive parts.
void compositions(int layers, int stages, std::vector<int>& parts, const std::function<void()>& found) {
  if (stages == 1) {
    parts.push_back(layers);
    found();
    parts.pop_back();
    return;
  }
  for (int first = 1; first <= layers - stages + 1; ++first) {
    parts.push_back(first);
    compositions(layers - first, stages - 1, parts, found);
    parts.pop_back();
  }
}

std::vector<std::vector<int>> layer_splits(int layers, int stages, int virtual_stages, StageRule rule,
                                           bool uneven) {
  if (!uneven) return stage_layers(layers, stages, virtual_stages, rule);
  std::vector<std::vector<int>> splits;
  std::vector<int> parts;
  compositions(layers, stages, parts, [&] {
    if (allows(rule, parts)) splits.push_back(parts);
  });
  return splits;
}

// One representative of all orders that only rename shards inside a stage or replicas inside the task: shards
// ascend, and replicas ascend by their first device.
bool is_canonical(const std::vector<int>& order, int pp, int tp) {
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const bool same_stage = (i + 1) % static_cast<std::size_t>(tp) != 0;
    if (same_stage && order[i] > order[i + 1]) return false;
  }
  const std::size_t replica = static_cast<std::size_t>(pp) * static_cast<std::size_t>(tp);
  for (std::size_t i = replica; i < order.size(); i += replica) {
    if (order[i - replica] > order[i]) return false;
  }
  return true;
}

class Enumeration {
 public:
  Enumeration(const Task& task, const Workflow& workflow, const Cluster& cluster, const SearchLimits& limits,
              const TaskChoices& choices)
      : task_(task),
        workflow_(workflow),
        model_(workflow.model_of(task)),
        cluster_(cluster),
        limits_(limits),
        choices_(choices),
        memory_(memory_range_of(cluster)) {}

  std::vector<TaskPlan> run() {
    const auto pinned = limits_.pins.find(task_.name);
    const Pin* pin = pinned == limits_.pins.end() ? nullptr : &pinned->second;
    if (pin != nullptr && pin->layout) return {*pin->layout};
    const int devices = cluster_.device_count();
    if (devices > kMaxDevices) {
      throw_bad_input("exhaustive search is for up to " + std::to_string(kMaxDevices) +
                      " devices; the cluster has " + std::to_string(devices));
    }
    for (unsigned subset = 1; subset < 1U << devices; ++subset) {
      if (pin != nullptr && subset != bits_of(pin->devices)) continue;
      std::vector<int> members;
      for (int d = 0; d < devices; ++d) {
        if ((subset >> d & 1U) != 0) members.push_back(d);
      }
      add_degrees(members);
    }
    return std::move(layouts_);
  }

 private:
  static unsigned bits_of(const std::set<DeviceId>& devices) {
    unsigned bits = 0;
    for (const DeviceId device : devices) bits |= 1U << device.index();
    return bits;
  }

  void add_degrees(const std::vector<int>& members) {
    const int size = static_cast<int>(members.size());
    for (const Execution& execution : choices_.executions) {
      for (int dp = 1; dp <= std::min(size, workflow_.sequences()); ++dp) {
        if (size % dp != 0 || (choices_.has_even_batch && workflow_.sequences() % dp != 0)) continue;
        for (int pp = 1; pp <= std::min(size / dp, model_.layers); ++pp) {
          if (may_cut(execution, size, dp, pp)) add_assignments(members, dp, pp, size / dp / pp, execution);
        }
      }
    }
  }

  [[nodiscard]] bool may_cut(const Execution& execution, int size, int dp, int pp) const {
    const int width = size / dp / pp, tp = width / execution.context_parallel;
    if (dp * pp * width != size || tp * execution.context_parallel != width || !can_cut(model_, tp))
      return false;
    if (choices_.max_tensor_parallel > 0 && tp > choices_.max_tensor_parallel) return false;
    if (choices_.max_pipeline_parallel > 0 && pp > choices_.max_pipeline_parallel) return false;
    return can_execute(execution, task_, workflow_, dp, pp, width);
  }

  void add_assignments(std::vector<int> order, int dp, int pp, int tp, const Execution& execution) {
    do {
      if (!is_canonical(order, pp, tp)) continue;
      for (const std::vector<int>& split : layer_splits(model_.layers, pp, execution.virtual_stages,
                                                        choices_.stages, limits_.try_uneven_stages)) {
        add_sizes(replicas(order, dp, split, tp), execution);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }

  static std::vector<Replica> replicas(const std::vector<int>& order, int dp, const std::vector<int>& split,
                                       int tp) {
    std::vector<Replica> all;
    std::size_t next = 0;
    for (int i = 0; i < dp; ++i) {
      Replica replica{1.0 / dp, {}};
      for (const int layers : split) {
        Stage stage{layers, {}};
        for (int k = 0; k < tp; ++k) stage.devices.push_back(DeviceId{order[next++]});
        replica.stages.push_back(std::move(stage));
      }
      all.push_back(std::move(replica));
    }
    return all;
  }

  [[nodiscard]] std::vector<int> micro_batches_within(int share, const Execution& execution) const {
    if (!counts_micro_batches_in_sequences(task_.kind, execution)) return {1};
    return sizes_within(share, choices_.micro_batch_sequences.empty() ? limits_.micro_batch_sequences
                                                                      : choices_.micro_batch_sequences);
  }

  [[nodiscard]] std::vector<int> batches_of(const std::vector<Replica>& replicas, int share,
                                            const Execution& execution) const {
    if (task_.kind == TaskKind::generation && !choices_.decode_batch_sequences.empty())
      return choices_.decode_batch_sequences;
    const std::vector<Stage>& stages = replicas.front().stages;
    return decode_batches(task_, workflow_, execution, share, static_cast<int>(stages.size()),
                          stages.front().width(), memory_);
  }

  void add_sizes(const std::vector<Replica>& replicas, const Execution& execution) {
    const int count = static_cast<int>(replicas.size());
    const int share = (workflow_.sequences() + count - 1) / count;
    for (const int batch : batches_of(replicas, share, execution)) {
      for (const int size : micro_batches_within(share, execution)) {
        for (const Recompute recompute : recompute_choices(task_.kind, choices_, limits_.try_recompute))
          add({replicas, size, batch, recompute, execution, {}});
      }
    }
  }

  void add(TaskPlan layout) {
    layouts_.push_back(std::move(layout));
    if (layouts_.size() <= limits_.max_layouts_per_task) return;
    throw_bad_input("task " + task_.name + " has more than " + std::to_string(limits_.max_layouts_per_task) +
                    " layouts on " + std::to_string(cluster_.device_count()) +
                    " devices: too many to try one by one");
  }

  const Task& task_;
  const Workflow& workflow_;
  const Model& model_;
  const Cluster& cluster_;
  const SearchLimits& limits_;
  const TaskChoices& choices_;
  MemoryRange memory_;
  std::vector<TaskPlan> layouts_;
};

}  // namespace

std::vector<TaskPlan> task_layouts(const Task& task, const Workflow& workflow, const Cluster& cluster,
                                   const SearchLimits& limits, const TaskChoices& choices) {
  return Enumeration(task, workflow, cluster, limits, choices).run();
}

}  // namespace sextant
