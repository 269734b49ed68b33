// The cost model as a search needs it: a candidate's time and memory, and those after a move, for which only
// what the move touched is looked up again.
//
// The numbers are the model's own (costmodel/iteration.h, memory.h), put together from the costs of replicas
// and reductions that it gave before (task_model.h); they equal those of the whole plan to rounding (1e-12,
// tested). What was not seen before is asked and kept. Not for several threads: each has its own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/problem.h"
#include "planner/evaluate/candidate.h"
#include "planner/evaluate/memo.h"
#include "planner/evaluate/task_model.h"

namespace sextant {

struct Score {
  double time_s = 0;        // of an iteration
  double excess_bytes = 0;  // by which the fullest device is too small; none: zero or less

  [[nodiscard]] bool fits() const { return excess_bytes <= 0; }
};

// What stays the same in a search.
struct EvaluatedProblem {
  const Cluster& cluster;
  const Workflow& workflow;
  const Coefficients& coefficients;
  std::string framework{kAny};
  std::vector<Execution> executions = {};  // by task; none: the default of all
  WeightSyncPlan weight_sync = {};
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
  [[nodiscard]] ShapeTable& shapes(int task) { return parts_[static_cast<std::size_t>(task)].shapes; }
  [[nodiscard]] int task_count() const { return static_cast<int>(parts_.size()); }

  // Costs a candidate and makes it the current one. Every task's devices must be as many as its shape's.
  Score evaluate(const Candidate& candidate);

  // A move: any changes, then score(), then keep() or undo().
  void replace_device(int task, int position, std::uint16_t device);  // by one that the task does not use
  void swap_positions(int task, int first, int second);
  void replace_task(int task, const Placement& placement);
  Score score();
  void keep();
  void undo();

  [[nodiscard]] const Placement& placement(int task) const {
    return parts_[static_cast<std::size_t>(task)].placement;
  }
  [[nodiscard]] Candidate current() const;
  [[nodiscard]] double task_s(int task) const { return parts_[static_cast<std::size_t>(task)].value.time_s; }
  [[nodiscard]] Plan plan_of(const Candidate& candidate, const std::string& name) const;

  // How often the cost model itself was asked.
  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  // What is summed up of a task.
  struct TaskValue {
    double time_s = 0;
    double fastest_gather_s = 0;
    double slowest_gather_s = 0;
    double copied_s = 0;
    double fetched_s = 0;
    double most_resident_bytes = 0;
    double most_working_bytes = 0;
  };
  struct Part {
    Part(TaskModel the_model, TaskKind the_kind) : model(std::move(the_model)), kind(the_kind) {}
    TaskModel model;
    TaskKind kind;
    ShapeTable shapes;
    Placement placement;
    std::vector<std::uint64_t> used;            // a bit a device
    std::vector<const ReplicaValue*> replicas;  // of the placement; one where the task is not separable
    std::vector<double> reduction_s;            // by stage; one where the task is not separable
    TaskValue value;
    Memo<const ReplicaValue*> known;  // by shape and places as they are
    Memo<const ReplicaValue*> alike;  // by places as the formulas see them
    Memo<double> known_reductions;
    std::deque<ReplicaValue> values;
    // Of the move that is being tried.
    bool touched = false;
    bool replaced = false;
    std::vector<int> dirty_replicas;
    struct Before {
      Placement placement;
      std::vector<std::uint64_t> used;
      std::vector<const ReplicaValue*> replicas;
      std::vector<double> reduction_s;
      TaskValue value;
    } before;
    struct OldDevice {
      int position;
      std::uint16_t device;
    };
    std::vector<OldDevice> old_devices;
    struct OldReplica {
      int replica;
      const ReplicaValue* value;
    };
    std::vector<OldReplica> old_replicas;
  };

  void load(Part& part, const Placement& placement);
  void mark(Part& part, int position);
  void touch(Part& part);
  void look_up_all(Part& part);
  void look_up_replica(Part& part, int replica);
  void look_up_stage(Part& part, int stage);
  [[nodiscard]] const ReplicaValue* ask(Part& part, const Shape& shape, std::span<const std::uint16_t> devices,
                                        int sequences);
  void sum_up(Part& part) const;
  [[nodiscard]] double working_s() const;
  [[nodiscard]] double phase_s(TaskKind kind) const;
  [[nodiscard]] double custom_s() const;
  [[nodiscard]] double sync_s();
  [[nodiscard]] double transfer_s(const Part& from, const Part& to);
  [[nodiscard]] double whole_sync_s();
  [[nodiscard]] double excess_bytes();
  [[nodiscard]] bool overlap(const Part& a, const Part& b) const;
  [[nodiscard]] Score total();
  void set_used(Part& part) const;
  [[nodiscard]] Words places_key(std::uint64_t head, std::span<const std::uint16_t> devices);
  [[nodiscard]] Words alike_key(std::uint64_t head, std::span<const std::uint16_t> devices);

  const Workflow& workflow_;
  Plan frame_plan_;  // the weight synchronization
  std::vector<Execution> executions_;
  std::unique_ptr<Problem<double>> frame_;
  std::vector<Part> parts_;
  int generation_ = -1, training_ = -1;  // of the actor; -1 where there is no weight sync
  bool decomposes_sync_ = false;
  std::size_t used_words_ = 0;
  std::vector<std::uint16_t> seat_of_;  // what tells devices apart: their node, or themselves
  std::vector<double> room_bytes_;      // by device, beside what the run-time holds
  double least_room_bytes_ = 0;
  double eta_ = 1;
  double overhead_s_ = 0;
  double handover_s_ = 0;
  std::vector<double> straggler_factor_;  // by number of devices
  std::vector<double> resident_bytes_, working_bytes_;
  std::vector<std::uint64_t> key_;
  std::vector<std::uint64_t> alike_key_;
  std::vector<std::uint16_t> stage_devices_;
  Memo<double> known_transfers_, known_syncs_;
  std::uint64_t asked_ = 0;
};

}  // namespace sextant
