// The cost model as a search needs it: a candidate's time and memory, and those after a move, for which only
// what the move touched is looked up again.
//
// The numbers are the model's own (costmodel/iteration.h, memory.h), put together from the costs of replicas
// and reductions that it gave before (task_model.h); they equal those of the whole plan to rounding (1e-12,
// tested). What was not seen before is asked and kept. Not for several threads: each has its own.
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
#include "planner/evaluate/memory_use.h"
#include "planner/evaluate/phases.h"
#include "planner/evaluate/task_part.h"
#include "planner/request/candidate.h"
#include "planner/request/device_words.h"
#include "planner/request/fingerprints.h"
#include "sextant/objective.h"
#include "sextant/task_choices.h"

namespace sextant {

struct Score {
  double time_s = 0;        // of an iteration
  double excess_bytes = 0;  // by which the fullest device is too small; none: zero or less
  double loss = 0;          // what the objective lowers
  double overrun = 0;       // by which its limits are exceeded

  [[nodiscard]] bool fits() const { return excess_bytes <= 0 && overrun <= 0; }
  // Of plans that fit the one with less loss, by more than `rounding` of it; they come before all others, of
  // which that with less excess, then less overrun, is better.
  [[nodiscard]] bool is_better_than(const Score& other, double rounding = 0) const {
    if (fits() != other.fits()) return fits();
    if (fits()) return loss < other.loss * (1 - rounding);
    if (excess_bytes != other.excess_bytes) return excess_bytes < other.excess_bytes;
    return overrun != other.overrun ? overrun < other.overrun : loss < other.loss;
  }
  friend bool operator==(const Score&, const Score&) = default;
};

// rented: of no matter where the objective needs no devices.
[[nodiscard]] Score judged(const Objective& objective, double time_s, double excess_bytes,
                           const Rented& rented);

// How weights get from the devices of training to those of generation.
struct WeightPath {
  bool is_colocated = false;  // generation has no device that training has not
  terms::WeightWays<double> ways;
};

// What tasks put on hosts, held to the least that nodes have for each of their devices. It is no less than what
// any node has to hold: as if all devices of a node did every task in the way that needs most.
class HostMemoryLimit {
 public:
  explicit HostMemoryLimit(const Cluster& cluster);
  [[nodiscard]] bool is_there() const { return bytes_per_device_ > 0; }
  // By which part the tasks' needs exceed it; zero where they do not.
  template <typename Values>
  [[nodiscard]] double overrun(const Values& values) const {
    double bytes = 0, sleeping = 0;
    for (const TaskValue* value : values) {
      bytes += value->max_host_bytes;
      sleeping += value->max_sleeping_bytes;
    }
    if (bytes > 0) bytes += sleeping;  // an engine takes turns with tasks whose states go to the host
    return bytes > bytes_per_device_ ? bytes / bytes_per_device_ - 1 : 0;
  }

 private:
  double bytes_per_device_ = 0;  // none: no node says
};

// What stays the same in a search.
struct EvaluatedProblem {
  const Cluster& cluster;
  const Workflow& workflow;
  const Coefficients& coefficients;
  std::string framework{kAny};
  std::vector<TaskChoices> choices = {};  // by task; none: the default of all
  WeightSyncPlan weight_sync = {};
  Objective objective = {};
  DeviceRules device_rules = {};
  double memory_share = 1;  // as PlanRequest has it
};

class Evaluator {
 public:
  // Refers to the problem's parts. Throws Error(bad_input) where a device has no rate for the workflow's
  // precision, or the cluster has more than 65,536 devices.
  explicit Evaluator(const EvaluatedProblem& problem);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // Tables that candidates refer to, by task.
  [[nodiscard]] ShapeTable& shapes(int task) { return part(task).shapes(); }
  [[nodiscard]] const ShapeTable& shapes(int task) const { return part(task).shapes(); }
  [[nodiscard]] int task_count() const { return static_cast<int>(parts_.size()); }

  // The batch's sequences, and how a task is executed by default.
  [[nodiscard]] const SortedLengths& sorted_lengths() const { return sorted_; }
  [[nodiscard]] const Execution& execution(int task) const { return part(task).model().executions().front(); }
  [[nodiscard]] const Execution& execution(int task, const Shape& shape) const {
    return part(task).model().execution(shape);
  }

  // Of one task alone. There is no current candidate after it.
  [[nodiscard]] TaskValue value_of(int task, const Placement& placement);

  // Of the task that value_of was asked about last: its replicas, with the memory of their positions.
  [[nodiscard]] std::span<const ReplicaValue* const> replicas(int task) const { return part(task).replicas(); }

  // By replica, then stage; none where a replica's cost is not its own (TaskModel::is_separable). There is no
  // current candidate after it.
  [[nodiscard]] std::vector<std::vector<StageTime>> stage_times(int task, const Placement& placement);

  // Costs a candidate and makes it the current one. Every task's devices must be as many as its shape's.
  Score evaluate(const Candidate& candidate);

  // A move: any changes, then score(), then keep() or undo(). A task that is replaced has no other change in
  // the same move.
  void replace_device(int task, int position, std::uint16_t device);  // by one that the task does not use
  void swap_positions(int task, int first, int second);
  void replace_task(int task, const Placement& placement);
  Score score();
  void keep();
  void undo();

  [[nodiscard]] const Placement& placement(int task) const { return part(task).placement(); }
  [[nodiscard]] double task_s(int task) const { return part(task).value().time_s; }
  [[nodiscard]] Candidate current() const;
  [[nodiscard]] Plan plan_of(const Candidate& candidate, const std::string& name) const;

  // What every candidate is put together and paid for by.
  [[nodiscard]] const Phases& phases() const { return *phases_; }
  [[nodiscard]] const DevicePrices& prices() const { return prices_; }
  [[nodiscard]] double overhead_s() const { return overhead_s_; }
  [[nodiscard]] const DeviceRules& device_rules() const { return device_rules_; }
  [[nodiscard]] const HostMemoryLimit& host_memory() const { return host_memory_; }

  // An iteration follows from tasks' values and sets of devices: it is of the closed form, and what the weights
  // take is a sum (space/composed_plan.h).
  [[nodiscard]] bool is_composable() const {
    return workflow_.algorithm != Algorithm::custom && (training_ < 0 || decomposes_sync_);
  }
  // Sets of devices, a bit each, in whatever order tasks have them; largest_part: of the weights, on
  // any device of generation. For workflows that synchronize weights.
  [[nodiscard]] WeightPath weight_path(std::span<const std::uint64_t> training,
                                       std::span<const std::uint64_t> generation, double largest_part);
  [[nodiscard]] double sync_s(const TaskValue& trained, const TaskValue& generated,
                              const WeightPath& path) const;

  // Weights that are trained and used by tasks other than the actor's training and generation.
  struct OtherUse {
    std::size_t trained = 0, used = 0;  // tasks
    double bytes = 0;                   // of one copy
  };
  [[nodiscard]] const std::vector<OtherUse>& other_uses() const { return other_uses_; }
  // Whether a task is on either side of one of them.
  [[nodiscard]] bool is_in_other_use(std::size_t task) const { return is_in_other_use_[task]; }
  // Their way between such sets of devices (terms::used_elsewhere_s).
  [[nodiscard]] double other_use_s(const OtherUse& use, std::span<const std::uint64_t> training,
                                   std::span<const std::uint64_t> used, double largest_part);

  // Data that tasks hand on (costmodel/data_edges.h), and what it takes between such sets of devices.
  [[nodiscard]] const std::vector<DataEdge>& data_edges() const { return data_edges_; }
  [[nodiscard]] double data_s(const DataEdge& edge, std::span<const std::uint64_t> made,
                              std::span<const std::uint64_t> needed);

  // About what a generation device waits for such a part of the weights; for comparisons.
  [[nodiscard]] double part_of_weights_s(double part) const;

  // How often the cost model itself was asked.
  [[nodiscard]] std::uint64_t asked() const;

 private:
  [[nodiscard]] TaskPart& part(int task) { return parts_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] const TaskPart& part(int task) const { return parts_[static_cast<std::size_t>(task)]; }
  [[nodiscard]] TaskPart& changing(int task);
  void follow(std::size_t task);
  void follow_changed();
  void find_overlaps(std::size_t task, std::size_t others);
  [[nodiscard]] double custom_s() const;
  [[nodiscard]] double working_s() const;
  [[nodiscard]] terms::WeightWays<double> weight_ways(std::span<const std::uint64_t> training,
                                                      std::span<const std::uint64_t> generation,
                                                      double largest_part);
  [[nodiscard]] double whole_sync_s(const TaskPart& training, const TaskPart& generation);
  [[nodiscard]] double sync_s();
  void find_path();
  void find_other_uses();
  void find_data(std::size_t edge);
  void find_data_of_moves();
  [[nodiscard]] double moved_s() const;
  [[nodiscard]] double excess_bytes(bool anew);
  [[nodiscard]] Score judged(double time_s, double excess_bytes) const;
  [[nodiscard]] double broken_rules() const;

  const Workflow& workflow_;
  Plan sync_plan_;  // the weight synchronization
  std::unique_ptr<const Problem<double>> sync_problem_;
  SortedLengths sorted_;
  DeviceClasses seating_;
  std::deque<TaskPart> parts_;
  std::optional<Phases> phases_;
  std::vector<std::size_t> changed_tasks_;  // by the move that is tried
  int generation_ = -1, training_ = -1;     // of the actor; -1 where there is no weight sync
  bool decomposes_sync_ = false;
  double overhead_s_ = 0;
  double handover_s_ = 0;
  double sent_bytes_ = 0;  // of one copy of the weights
  std::vector<OtherUse> other_uses_;
  std::vector<bool> is_in_other_use_;  // by task
  std::vector<DataEdge> data_edges_;
  double min_room_bytes_ = 0;
  Objective objective_;
  DeviceRules device_rules_;
  HostMemoryLimit host_memory_;
  DevicePrices prices_;
  bool is_time_alone_ = true;
  std::unique_ptr<MemoryUse> memory_;
  // What is read of all tasks after every move, by task.
  std::vector<double> time_s_;
  std::vector<TaskBytes> bytes_;
  std::vector<std::uint16_t> changed_devices_;
  // Of the current candidate with the move that is tried, and before it.
  struct Totals {
    Phases::Times phase_s{};
    double sync_s = 0;       // of the actor's weights
    double other_use_s = 0;  // the longest of the others
    WeightPath path;

    [[nodiscard]] double weights_s() const { return std::max(sync_s, other_use_s); }
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

}  // namespace sextant
