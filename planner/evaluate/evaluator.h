// The cost model for searches: time and memory of a candidate, updated after each move by looking up only the
// parts that the move changed.
//
// The numbers are those of the cost model (costmodel/iteration.h, memory.h), composed of costs of replicas and
// reductions (task_model.h) that are cached; they equal those of the whole plan to rounding (1e-12, tested).
// The class is not thread-safe: each thread has its own evaluator.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/data_edges.h"
#include "costmodel/problem/problem.h"
#include "costmodel/terms/weight_ways.h"
#include "costmodel/weight_transfers.h"
#include "planner/evaluate/memory_use.h"
#include "planner/evaluate/phases.h"
#include "planner/evaluate/task_part.h"
#include "planner/request/candidate.h"
#include "planner/request/device_words.h"
#include "planner/request/fingerprints.h"
#include "sextant/objective.h"
#include "sextant/task_choices.h"

namespace sextant::inline planner {

struct Score {
  double time_s = 0;        // per iteration
  double excess_bytes = 0;  // missing memory of the fullest device; zero or less if there is none
  double loss = 0;          // value that the objective minimises
  double overrun = 0;       // by which its limits are exceeded

  [[nodiscard]] bool fits() const { return excess_bytes <= 0 && overrun <= 0; }
  // Plans that fit come before all others. Among them the smaller loss wins, by more than `rounding` of it;
  // among the others the smaller excess, then the smaller overrun.
  [[nodiscard]] bool is_better_than(const Score& other, double rounding = 0) const {
    if (fits() != other.fits()) return fits();
    if (fits()) return loss < other.loss * (1 - rounding);
    if (excess_bytes != other.excess_bytes) return excess_bytes < other.excess_bytes;
    return overrun != other.overrun ? overrun < other.overrun : loss < other.loss;
  }
  friend bool operator==(const Score&, const Score&) = default;
};

// Score of a plan with this time. `rented` is ignored if the objective does not depend on devices.
[[nodiscard]] Score judged(const Objective& objective, double time_s, double excess_bytes,
                           const Rented& rented);

// The path of weights from the devices of training to those of generation.
struct WeightPath {
  bool is_colocated = false;  // all devices of generation also train
  terms::WeightWays<double> ways;
};

// Compares the tasks' states on hosts with the smallest host memory per device of any node. The need is an
// upper bound for each node: all its devices are assumed to run every task in the way that needs most.
class HostMemoryLimit {
 public:
  // one_copy: see EvaluatedProblem.
  explicit HostMemoryLimit(const Cluster& cluster, TaskPairs one_copy = {});
  [[nodiscard]] bool is_there() const { return bytes_per_device_ > 0; }
  // The share by which the tasks' needs exceed the limit; zero if they do not.
  template <typename Values>
  [[nodiscard]] double overrun(const Values& values) const {
    double bytes = 0, sleeping = 0;
    for (const TaskValue* value : values) {
      bytes += value->max_host_bytes;
      sleeping += value->max_sleeping_bytes;
    }
    for (const auto& [pass, training] : one_copy_) {
      if (values[training]->max_host_bytes >= values[pass]->max_host_bytes)
        bytes -= values[pass]->max_host_bytes;
    }
    if (bytes > 0) bytes += sleeping;  // an engine alternates with tasks whose states are moved to the host
    return bytes > bytes_per_device_ ? bytes / bytes_per_device_ - 1 : 0;
  }

 private:
  double bytes_per_device_ = 0;  // 0: no node states its host memory
  TaskPairs one_copy_;
};

// The parts of a problem that are constant in a search.
struct EvaluatedProblem {
  const Cluster& cluster;
  const Workflow& workflow;
  const Coefficients& coefficients;
  std::string framework{kAny};
  std::vector<TaskChoices> choices = {};  // by task; empty: the default of all
  WeightSyncPlan weight_sync = {};
  Objective objective = {};
  DeviceRules device_rules = {};
  double memory_share = 1;  // PlanRequest::memory_share
  // Passes that compute with the copy of a training task's weights, and these tasks (one_copy_of in engine_rules.h).
  TaskPairs one_copy = {};
  // The pairs of one_copy that keep the weights in one place (one_copy_on_devices in engine_rules.h).
  TaskPairs one_copy_on_devices = {};
};

class Evaluator {
 public:
  // Keeps references to the problem's parts. Throws Error(bad_input) if a device has no rate for the workflow's
  // precision, or if the cluster has more than 65,536 devices.
  explicit Evaluator(const EvaluatedProblem& problem);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // The tables of shapes that candidates refer to, by task.
  [[nodiscard]] ShapeTable& shapes(int task) { return part(task).shapes(); }
  [[nodiscard]] const ShapeTable& shapes(int task) const { return part(task).shapes(); }
  [[nodiscard]] int task_count() const { return static_cast<int>(parts_.size()); }

  // The batch's sequences sorted by length, and the execution of a task: its default, or that of a shape.
  [[nodiscard]] const SortedLengths& sorted_lengths() const { return sorted_; }
  [[nodiscard]] double memory_share() const { return memory_share_; }
  [[nodiscard]] const Execution& execution(int task) const { return part(task).model().executions().front(); }
  [[nodiscard]] const Execution& execution(int task, const Shape& shape) const {
    return part(task).model().execution(shape);
  }

  // The value of one task without the others. Afterwards there is no current candidate.
  [[nodiscard]] TaskValue value_of(int task, const Placement& placement);

  // The replicas of the task of the last value_of() call, with the memory of their positions.
  [[nodiscard]] std::span<const ReplicaValue* const> replicas(int task) const { return part(task).replicas(); }

  // Times by replica, then stage; empty if the cost of a replica depends on others (TaskModel::is_separable).
  // Afterwards there is no current candidate.
  [[nodiscard]] std::vector<std::vector<StageTime>> stage_times(int task, const Placement& placement);

  // Costs a candidate and makes it the current one. Every task needs as many devices as its shape has.
  Score evaluate(const Candidate& candidate);

  // A move consists of any changes, then score(), then keep() or undo(). A task that is replaced must have no
  // other change in the same move.
  void replace_device(int task, int position, std::uint16_t device);  // a device that the task does not use yet
  void swap_positions(int task, int first, int second);
  void replace_task(int task, const Placement& placement);
  Score score();
  void keep();
  void undo();

  [[nodiscard]] const Placement& placement(int task) const { return part(task).placement(); }
  [[nodiscard]] double task_s(int task) const { return part(task).value().time_s; }
  [[nodiscard]] Candidate current() const;
  [[nodiscard]] Plan plan_of(const Candidate& candidate, const std::string& name) const;

  // The transfers of weights, with their times for the current candidate.
  [[nodiscard]] const std::vector<WeightTransfer<double>>& transfers() const { return now_.transfers; }

  // The components of every candidate's time and price.
  [[nodiscard]] const Phases& phases() const { return *phases_; }
  [[nodiscard]] const DevicePrices& prices() const { return prices_; }
  [[nodiscard]] double overhead_s() const { return overhead_s_; }
  [[nodiscard]] const DeviceRules& device_rules() const { return device_rules_; }
  [[nodiscard]] const HostMemoryLimit& host_memory() const { return host_memory_; }

  // True if an iteration follows from the tasks' values and device sets: it has the closed form, and the time
  // of the weight sync is a sum (space/composed_plan.h).
  [[nodiscard]] bool is_composable() const {
    return workflow_.algorithm != Algorithm::custom && (training_ < 0 || decomposes_sync_);
  }
  // The path between device sets, given as one bit per device. `largest_part`: largest share of the weights on
  // any generation device. Only for workflows that synchronize weights.
  [[nodiscard]] WeightPath weight_path(std::span<const std::uint64_t> training,
                                       std::span<const std::uint64_t> generation, double largest_part);
  [[nodiscard]] double sync_s(const TaskValue& trained, const TaskValue& generated,
                              const WeightPath& path) const;

  // Weights that a task other than the actor's generation uses after another task trained them.
  struct OtherUse {
    std::size_t trained = 0, used = 0;  // tasks
    double bytes = 0;                   // for one copy
  };
  [[nodiscard]] const std::vector<OtherUse>& other_uses() const { return other_uses_; }
  // True if the task trains or uses such weights.
  [[nodiscard]] bool is_in_other_use(std::size_t task) const { return is_in_other_use_[task]; }
  // The time of their transfer between these device sets (terms::used_elsewhere_s).
  [[nodiscard]] double other_use_s(const OtherUse& use, std::span<const std::uint64_t> training,
                                   std::span<const std::uint64_t> used, double largest_part);

  // Data transfers between tasks (costmodel/data_edges.h), and their time between these device sets.
  [[nodiscard]] const std::vector<DataEdge>& data_edges() const { return data_edges_; }
  [[nodiscard]] double data_s(const DataEdge& edge, std::span<const std::uint64_t> made,
                              std::span<const std::uint64_t> needed);

  // Approximate time in which a generation device receives this part of the weights; for comparisons.
  [[nodiscard]] double part_of_weights_s(double part) const;

  // The number of cost model calls.
  [[nodiscard]] std::uint64_t asked() const;

 private:
  [[nodiscard]] TaskPart& part(int task) { return parts_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] const TaskPart& part(int task) const { return parts_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] TaskPart& changing(int task);
  void follow(std::size_t task);
  void follow_changed();
  void find_overlaps(std::size_t task, std::size_t others);
  [[nodiscard]] double custom_s() const;
  [[nodiscard]] double work_and_weights_s() const;
  [[nodiscard]] terms::WeightWays<double> weight_ways(std::span<const std::uint64_t> training,
                                                      std::span<const std::uint64_t> generation,
                                                      double largest_part);
  [[nodiscard]] double whole_sync_s(const TaskPart& training, const TaskPart& generation);
  void find_sync();
  void find_path();
  void find_other_uses();
  void find_data(std::size_t edge);
  void find_data_of_moves();
  [[nodiscard]] double iteration_s() const;
  [[nodiscard]] double excess_bytes(bool anew);
  [[nodiscard]] Score judged(double time_s, double excess_bytes) const;
  [[nodiscard]] double broken_rules() const;

  const Workflow& workflow_;
  Plan sync_plan_;  // for the weight synchronization
  std::unique_ptr<const Problem<double>> sync_problem_;
  SortedLengths sorted_;
  DeviceClasses seating_;
  std::deque<TaskPart> parts_;
  std::optional<Phases> phases_;
  std::vector<std::size_t> changed_tasks_;  // by the current move
  int generation_ = -1, training_ = -1;     // of the actor; -1 without weight sync
  bool decomposes_sync_ = false;
  double overhead_s_ = 0;
  double handover_s_ = 0, woken_s_ = 0;
  double sent_bytes_ = 0;  // for one copy of the weights
  std::vector<OtherUse> other_uses_;
  std::vector<bool> is_in_other_use_;  // by task
  std::vector<DataEdge> data_edges_;
  double min_room_bytes_ = 0;
  Objective objective_;
  double memory_share_ = 1;
  DeviceRules device_rules_;
  HostMemoryLimit host_memory_;
  DevicePrices prices_;
  bool is_time_alone_ = true;
  std::unique_ptr<MemoryUse> memory_;
  // Values of all tasks that are read after every move, by task.
  std::vector<double> time_s_;
  std::vector<TaskBytes> bytes_;
  std::vector<std::uint16_t> changed_devices_;
  // Totals of the current candidate including the current move, and totals before it.
  struct Totals {
    Phases::Times phase_s{};
    std::vector<WeightTransfer<double>> transfers;  // the actor's, then other_uses_
    WeightPath path;
  };
  Totals now_, before_;
  bool is_moving_ = false;
  std::vector<std::uint8_t> overlap_, old_overlap_;  // by task, then task
  bool has_other_overlaps_ = false;
  std::vector<double> data_s_, old_data_s_;  // by edge
  bool has_other_data_ = false;
  KnownParts<terms::WeightWays<double>> known_ways_;
  KnownParts<double> known_syncs_, known_uses_, known_data_;
  std::vector<std::uint64_t> words_;
  std::uint64_t asked_syncs_ = 0;
};

}  // namespace sextant::inline planner
