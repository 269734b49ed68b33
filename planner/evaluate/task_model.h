// The cost model, asked about parts of one task: what an evaluator looks up, and asks here when it has not seen
// it yet.
//
// A replica's cost depends on its own devices alone, one reduction's on those that hold one stage. Where that
// is not so - weights sharded over replicas (ZeRO stage 3), experts dealt over them - a task is asked about as
// a whole: `is_separable` says, for each of the executions that shapes name.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/shared_links.h"
#include "planner/request/candidate.h"

namespace sextant {

// What a replica needs, by position in it.
struct PositionBytes {
  std::vector<double> resident, working;
};

// Of one replica, or of all of a task that is not separable. What a move reads of every replica is one line of
// memory.
struct alignas(64) ReplicaValue {
  double time_s = 0;              // C of one replica (costmodel/task.h), without stragglers
  double optimizer_s = 0;         // training: slowest stage
  double copied_s = 0;            // actor: parts put together, or written into the engine
  double fetched_s = 0;           // actor: from the host and back
  double max_resident_bytes = 0;  // of any of its devices
  double max_working_bytes = 0;
  double max_host_bytes = 0;      // of any of its devices: offloaded to its host
  double max_sleeping_bytes = 0;  // of an engine: its weights, which wait on the host where others take turns
  double gather_s = 0;            // actor: the weights all-gathered, or broadcast inside (weight_sync.h)
  std::shared_ptr<const PositionBytes> bytes;  // of values kept together: the same where the bytes are
  double compute_s = 0;                        // the compute term in time_s
  double micro_batches = 0;                    // over all mini-batches
  std::shared_ptr<const terms::TrunkLoads<double>> trunk_loads;  // with trunks, where separable
};

// Of one stage in all micro-batches: what it takes, and how much more with each further layer.
struct StageTime {
  double time_s = 0;
  double layer_s = 0;
};

class TaskModel {
 public:
  // All references must outlive it. `frame` has the weight synchronization; its tasks are not looked at.
  // executions: those that shapes name, at least one. training: execution options of the actor's training,
  // whose weights reach generation. sorted: as of work_of (costmodel/problem/work.h).
  TaskModel(const Task& task, std::vector<Execution> executions, const Execution& training,
            const Problem<double>& frame, const SortedLengths* sorted = nullptr);

  [[nodiscard]] const Task& task() const { return *task_; }
  [[nodiscard]] bool is_separable(const Shape& shape) const { return is_separable(execution(shape)); }
  [[nodiscard]] static bool is_separable(const Execution& execution) {
    return execution.zero_stage < 3 && execution.expert_parallel <= 1;
  }
  // With every execution.
  [[nodiscard]] bool is_always_separable() const;
  [[nodiscard]] bool is_training() const { return task_->kind == TaskKind::training; }
  [[nodiscard]] const std::vector<Execution>& executions() const { return executions_; }
  [[nodiscard]] const Execution& execution(const Shape& shape) const {
    return executions_[static_cast<std::size_t>(shape.execution)];
  }

  // Of replica `number` on `devices`.
  [[nodiscard]] ReplicaValue replica(const Shape& shape, std::span<const std::uint16_t> devices,
                                     int number) const;
  // Of all replicas of a task that is not separable: the slowest's, with the memory of all positions.
  [[nodiscard]] ReplicaValue whole(const Shape& shape, std::span<const std::uint16_t> devices) const;

  // Of its stages, as the slowest of them is in replica().
  [[nodiscard]] std::vector<StageTime> stage_times(const Shape& shape, std::span<const std::uint16_t> devices,
                                                   int number) const;

  // Gradient all-reduces of one stage over all replicas, in all mini-batches, nothing hidden. devices: of the
  // stage, replica by replica.
  [[nodiscard]] double reduction_s(const Shape& shape, int stage, std::span<const std::uint16_t> devices) const;
  // Of all stages of a task that is not separable.
  [[nodiscard]] double reductions_s(const Shape& shape, std::span<const std::uint16_t> devices) const;

  // Of the actor's training: what reaches generation, and what telling the workers costs (weight_sync.h).
  [[nodiscard]] double sent_bytes() const;
  [[nodiscard]] double handover_s() const;
  // Of tasks that use weights which another one trains: the largest part of them that a device holds. Zero of
  // other tasks.
  [[nodiscard]] double largest_part(const Shape& shape) const;

  [[nodiscard]] TaskPlan plan(const Shape& shape, const Placement& placement) const;
  [[nodiscard]] TaskWork work(const TaskPlan& plan) const;

 private:
  void add_sync(const TaskWork& work, ReplicaValue& value) const;
  // all: of every replica, not of the first of each class.
  void add_host_memory(const TaskWork& work, ReplicaValue& value) const;
  void add_memory(const TaskWork& work, bool all, ReplicaValue& value) const;

  const Task* task_;
  std::vector<Execution> executions_;
  const Problem<double>* sync_problem_;
  const SortedLengths* sorted_;
  bool counts_host_memory_ = false;  // some node says how much it has
  bool is_actor_training_ = false;
  bool is_actor_generation_ = false;
  bool uses_trained_weights_ = false;
  // The actor's training on one device: what it sends depends on nothing else of its plan.
  struct Trained {
    TaskPlan plan;
    TaskWork work;
  };
  std::unique_ptr<const Trained> trained_;  // of actor training and generation
};

}  // namespace sextant
