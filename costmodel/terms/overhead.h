// Fixed times: not in the appendix, neutral at zero.
//
// The host prepares and launches the device's work: a time for every layer, every collective and every
// micro-batch, in each pass. It works ahead of the device, so the cost lies between the sum of the two and the
// longer one (host_sharing, smooth.h): a small model is as fast as its host, a large one as its device.
#pragma once

#include "costmodel/problem/problem.h"
#include "costmodel/terms/adapters.h"
#include "costmodel/terms/kernels.h"
#include "costmodel/terms/passes.h"
#include "costmodel/terms/smooth.h"
#include "costmodel/terms/tensor_parallel.h"

namespace sextant::terms {

// Returns the host's time for all passes of one stage.
template <typename T>
[[nodiscard]] T host_s(const StageOfTask<T>& s) {
  if (s.is_training() && s.execution().training_graphs == TrainingGraphs::iteration) return T(0.0);
  const double entries = stage_passes(s);
  const double kernels = s.is_generation() ? layer_kernels(s.task) : training_kernels(s.task);
  const T passed = passes(s), layers = kernels * prepared_layers(s);
  const double collectives = s.tensor_parallel() > 1 ? tensor_parallel_count(s) : 0.0;
  return max_over_devices(s, [&](DeviceId d) {
    return T(entries * (passed * layers * s.problem.coefficient(CoefficientId::layer_overhead_s, d) +
                        s.problem.coefficient(CoefficientId::micro_batch_overhead_s, d)) +
             collectives * s.problem.coefficient(CoefficientId::collective_overhead_s, d));
  });
}

// Returns the time that the host adds to `device_s`. Latency of collectives is on neither, so it is not hidden.
template <typename T>
[[nodiscard]] T host_overhead_s(const StageOfTask<T>& s, const T& device_s) {
  const T busy = device_s - tensor_parallel_latency_s(s);
  return beside(busy, host_s(s), s.problem.coefficient(CoefficientId::host_sharing)) - busy;
}

// The cost of a call of a task in addition to its work: the controller of an RL framework dispatches it, wakes
// the workers, and sends each replica its sequences and takes them back. A task that is a whole workflow is not
// called.
template <typename T>
[[nodiscard]] T call_overhead_s(const Problem<T>& problem, const ReplicaWork& work) {
  if (!problem.workflow.has_controller()) return T(0.0);
  return problem.coefficient(CoefficientId::call_overhead_s) +
         work.sequences * problem.coefficient(CoefficientId::sequence_overhead_s);
}

// Seconds that a replica waits for environments, beyond the time_s of its generation. An engine that drains waits for the
// longest chain. One with k batches under way decodes others meanwhile: by Little's law a batch takes what one sequence
// takes, its decoding and its waits, over k, where that is more than time_s. A sequence decodes for time_s times the share
// of a batch that decodes together.
template <typename T>
[[nodiscard]] T turns_wait_s(const TaskWork& task, const ReplicaWork& work, const T& time_s) {
  if (task.environment_s == 0 || task.batches_under_way == 0) return T(task.environment_s);
  const double together = work.sequences > 0 ? work.decode_together / work.sequences : 1.0;
  const T wait = (time_s * together + task.environment_s) / task.batches_under_way - time_s;
  return T(0.0) < wait ? wait : T(0.0);
}

// Seconds that a replica waits because there are too few environments, beyond time_s of generation and waits.
template <typename T>
[[nodiscard]] T environments_wait_s(const TaskWork& task, const T& time_s) {
  const T wait = task.environments_s - time_s;
  return T(0.0) < wait ? wait : T(0.0);
}

// Seconds that a replica of a task, whose work takes time_s, spends in addition to it.
template <typename T>
[[nodiscard]] T task_overhead_s(const Problem<T>& problem, const TaskWork& task, const ReplicaWork& work,
                                const T& time_s) {
  const T waits = turns_wait_s(task, work, time_s);
  return task.mini_batches * problem.coefficient(CoefficientId::task_overhead_s) +
         call_overhead_s(problem, work) + waits + environments_wait_s(task, T(time_s + waits));
}

}  // namespace sextant::terms
