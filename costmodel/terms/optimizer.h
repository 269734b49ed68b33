// Optimizer step: not in the appendix, neutral at zero.
//
// Adam reads parameter, gradient and two moments and writes parameter and moments: by default seven passes of
// four bytes over the parameters that a device holds, once per mini-batch; over its shard of them from ZeRO
// stage 1 on. The moments have their own format, and without a master copy the parameter has its stored one. An
// offloaded optimizer sends the gradients to the host, whose processors update the parameters of all devices of
// the node, and takes the weights back.
#pragma once

#include <algorithm>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/data_parallel.h"

namespace sextant::terms {

// Returns the bytes that one step of Adam reads and writes per parameter.
[[nodiscard]] inline double adam_bytes_per_parameter(const TaskWork& task) {
  constexpr double kFp32Bytes = 4;
  const Execution& execution = task.execution();
  const double moment =
      execution.moment_precision ? bytes_per_element(*execution.moment_precision) : kFp32Bytes;
  const double parameter = execution.master_weights ? kFp32Bytes : task.weight_bytes;
  return 2 * parameter + kFp32Bytes + 4 * moment;
}

// Trained parameters whose optimizer state a device of this stage keeps.
template <typename T>
[[nodiscard]] double optimized_parameters(const StageOfTask<T>& s) {
  const double held =
      trainable_parameters(s.task, s.stage_plan().layers, s.is_first(), s.is_last()) / s.tensor_parallel();
  if (s.execution().zero_stage == 0) return held;
  return held / s.task.sharding_devices();
}

// Parameters that the processors of one host update in a second. Judgement, not measured here: Adam moves 28 bytes a
// parameter (it reads and writes the parameter and two moments in fp32, and reads the gradient), and the memory of
// two sockets delivers some 110 GB/s to such loops.
inline constexpr double kHostAdamParametersPerS = 4e9;

// Seconds in which the host updates the parameters of all devices of the task on this device's node.
template <typename T>
[[nodiscard]] double host_adam_s(const StageOfTask<T>& s, double parameters_of_device, DeviceId device) {
  const Cluster& cluster = s.problem.cluster();
  const int of_node = cluster.nodes()[cluster.node_of(device).index()].devices;
  const double sharing = std::min(static_cast<double>(of_node), static_cast<double>(s.task.devices.size()));
  return sharing * parameters_of_device / kHostAdamParametersPerS;
}

template <typename T>
[[nodiscard]] T optimizer_s(const StageOfTask<T>& s) {
  const double parameters = s.task.mini_batches * optimized_parameters(s);
  if (s.execution().offload_optimizer) {
    const double bytes = parameters * (s.task.gradient_bytes + s.task.weight_bytes);
    return max_over_devices(s, [&](DeviceId d) {
      return T(bytes / (s.problem.coefficient(CoefficientId::host_link_efficiency, d) *
                        s.problem.hardware.host_bytes_per_s(d)) +
               host_adam_s(s, parameters, d));
    });
  }
  return max_over_devices(s, [&](DeviceId d) {
    return T(s.problem.coefficient(CoefficientId::optimizer_traffic_weight, d) * parameters *
             adam_bytes_per_parameter(s.task) / s.problem.hardware.memory_bytes_per_s(d));
  });
}

}  // namespace sextant::terms
