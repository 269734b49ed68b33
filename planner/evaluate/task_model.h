// The cost model of the parts of one task. An evaluator calls it for parts that are not in its
// caches.
//
// A replica's cost depends on its own devices alone, the cost of a reduction on the devices that hold one
// stage. If that is not so - weights sharded over replicas (ZeRO stage 3), experts split over replicas - the
// task is costed as a whole: `is_separable` tells which, for each of the executions that shapes refer to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/shared_links.h"
#include "planner/request/candidate.h"

namespace sextant::inline planner {

// Memory of a replica by position in it, in bytes, to be compared with a share of the device's memory
// (PlanRequest::memory_share): of a KV cache of stated size only that share counts.
struct PositionBytes {
  std::vector<double> resident, working;
};

// The costs of one replica, or of all replicas if the task is not separable. The members that a move reads for
// every replica fill one cache line.
struct alignas(64) ReplicaValue {
  double time_s = 0;              // C of one replica (costmodel/task.h), without stragglers
  double optimizer_s = 0;         // training: slowest stage
  double copied_s = 0;            // actor: joining the parts, or writing them into the engine
  double fetched_s = 0;           // actor: transfers from and to the host
  double max_resident_bytes = 0;  // maximum over its devices
  double max_working_bytes = 0;
  double max_host_bytes = 0;      // maximum over its devices, offloaded to the host
  double max_sleeping_bytes = 0;  // engine: weights that wait on the host while other tasks run
  double gather_s = 0;            // actor: all-gather of the weights, or broadcast inside (weight_sync.h)
  std::shared_ptr<const PositionBytes> bytes;                    // shared by cached values with equal bytes
  double compute_s = 0;                                          // the compute term in time_s
  double micro_batches = 0;                                      // over all mini-batches
  std::shared_ptr<const terms::TrunkLoads<double>> trunk_loads;  // with trunks, if separable
};

// Time of one stage in all micro-batches, and the additional time of each further layer.
struct StageTime {
  double time_s = 0;
  double layer_s = 0;
};

class TaskModel {
 public:
  // All references must outlive the object. `frame` has the weight synchronization; its tasks are ignored.
  // executions: those that shapes refer to, at least one. training: execution options of the actor's training,
  // whose weights generation uses. memory_share: PlanRequest::memory_share. sorted: see work_of
  // (costmodel/problem/work.h).
  TaskModel(const Task& task, std::vector<Execution> executions, const Execution& training,
            const Problem<double>& frame, double memory_share = 1, const SortedLengths* sorted = nullptr);

  // The task computes with weights that a training task keeps on its devices (EvaluatedProblem::one_copy_on_devices):
  // its own are counted only while they are loaded from the host.
  void find_weights_on_devices() { finds_weights_ = true; }

  [[nodiscard]] const Task& task() const { return *task_; }
  [[nodiscard]] bool is_separable(const Shape& shape) const { return is_separable(execution(shape)); }
  [[nodiscard]] static bool is_separable(const Execution& execution) {
    return execution.zero_stage < 3 && execution.expert_parallel <= 1;
  }
  // True if the task is separable with every execution.
  [[nodiscard]] bool is_always_separable() const;
  [[nodiscard]] bool is_training() const { return task_->kind == TaskKind::training; }
  [[nodiscard]] const std::vector<Execution>& executions() const { return executions_; }
  [[nodiscard]] const Execution& execution(const Shape& shape) const {
    return executions_[static_cast<std::size_t>(shape.execution)];
  }

  // The costs of replica `number` on `devices`.
  [[nodiscard]] ReplicaValue replica(const Shape& shape, std::span<const std::uint16_t> devices,
                                     int number) const;
  // The costs of a task that is not separable: those of the slowest replica, with the memory of all positions.
  [[nodiscard]] ReplicaValue whole(const Shape& shape, std::span<const std::uint16_t> devices) const;

  // Times of the replica's stages; the slowest of them determines replica().
  [[nodiscard]] std::vector<StageTime> stage_times(const Shape& shape, std::span<const std::uint16_t> devices,
                                                   int number) const;

  // Gradient all-reduces of one stage over all replicas, in all mini-batches, without overlap. devices: those
  // of the stage, replica by replica.
  [[nodiscard]] double reduction_s(const Shape& shape, int stage, std::span<const std::uint16_t> devices) const;
  // The same for all stages of a task that is not separable.
  [[nodiscard]] double reductions_s(const Shape& shape, std::span<const std::uint16_t> devices) const;

  // The actor's training: bytes sent to generation, and the time to notify the workers (weight_sync.h).
  [[nodiscard]] double sent_bytes() const;
  [[nodiscard]] double handover_s() const;
  [[nodiscard]] double woken_s() const;  // of engines on the trainers' devices
  // The largest share of the weights on one device, for tasks that use weights which another one trains; zero
  // for other tasks.
  [[nodiscard]] double largest_part(const Shape& shape) const;

  [[nodiscard]] TaskPlan plan(const Shape& shape, const Placement& placement) const;
  [[nodiscard]] TaskWork work(const TaskPlan& plan) const;

 private:
  void fill_stage_shares();
  void add_sync(const TaskWork& work, ReplicaValue& value) const;
  // all: include every replica, not only the first of each class.
  void add_host_memory(const TaskWork& work, ReplicaValue& value) const;
  void add_memory(const TaskWork& work, bool all, ReplicaValue& value) const;

  const Task* task_;
  std::vector<Execution> executions_;
  const Problem<double>* sync_problem_;
  double memory_share_;
  const SortedLengths* sorted_;
  bool finds_weights_ = false;
  bool counts_host_memory_ = false;  // true if some node states its host memory
  bool is_actor_training_ = false;
  bool is_actor_generation_ = false;
  bool uses_trained_weights_ = false;
  // The share of the weights in a stage, by its layers, then by whether it is the first (1) and the last (2) stage:
  // moves ask for it more often than it takes to count a model's parameters. Empty if no weights come from training.
  std::vector<std::array<double, 4>> stage_shares_;
  // The actor's training on one device: the bytes that it sends do not depend on the rest of its plan.
  struct Trained {
    TaskPlan plan;
    TaskWork work;
  };
  std::unique_ptr<const Trained> trained_;  // for actor training and generation
};

}  // namespace sextant::inline planner
