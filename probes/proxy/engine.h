// Who computes the tasks: CPU cores (here) or GPUs (probes/cuda/proxy). The executor, its workload, schedule
// and rollouts are the same for both.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "probes/proxy/checks.h"
#include "probes/proxy/task_work.h"
#include "probes/proxy/weight_transfer.h"

namespace sextant::proxy {

class TaskEngine {
 public:
  TaskEngine() = default;
  virtual ~TaskEngine() = default;
  TaskEngine(const TaskEngine&) = delete;
  TaskEngine& operator=(const TaskEngine&) = delete;

  [[nodiscard]] virtual EngineLimits limits() const = 0;
  // Called once for a session, on every rank, before anything is made. Error(bad_input) when this rank's device
  // cannot hold its tasks.
  virtual void prepare(const Workflow& workflow, const Plan& plan, const Workload& workload) = 0;
  // For a rank that takes part in the task.
  [[nodiscard]] virtual std::unique_ptr<TaskWork> make_task(const TaskSetup& setup) = 0;
  // For every rank, of tasks that this engine made. Collective over the world.
  [[nodiscard]] virtual std::unique_ptr<WeightTransfer> make_weight_transfer(
      const WeightTransferSetup& setup) = 0;

  // What a run document should say: "blas", the device.
  [[nodiscard]] virtual std::map<std::string, std::string> notes() const = 0;
  // Most memory in use on this rank's device since prepare, as far as it is known.
  [[nodiscard]] virtual std::optional<double> peak_memory_bytes() const { return std::nullopt; }
  // Ranks are cores, so that more ranks than cores of a host disturb each other.
  [[nodiscard]] virtual bool runs_on_cores() const { return false; }
};

// One core a rank, fp32.
[[nodiscard]] std::unique_ptr<TaskEngine> make_host_engine();

}  // namespace sextant::proxy
