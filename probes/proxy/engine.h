// The engine that computes the tasks: CPU cores (here) or GPUs (probes/cuda/proxy). The executor, its workload,
// schedule and rollouts are the same for both.
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
  // Called once per session, on every rank, before any task is made. Throws Error(bad_input) if this rank's
  // device cannot hold its tasks.
  virtual void prepare(const Workflow& workflow, const Plan& plan, const Workload& workload) = 0;
  // Makes a task; called on the ranks that take part in it.
  [[nodiscard]] virtual std::unique_ptr<TaskWork> make_task(const TaskSetup& setup) = 0;
  // Makes the transfer on every rank, with tasks that this engine made. Collective over the world.
  [[nodiscard]] virtual std::unique_ptr<WeightTransfer> make_weight_transfer(
      const WeightTransferSetup& setup) = 0;

  // Returns notes for the run document: "blas", the device.
  [[nodiscard]] virtual std::map<std::string, std::string> notes() const = 0;
  // Returns the maximum memory in use on this rank's device since prepare, if it is known.
  [[nodiscard]] virtual std::optional<double> peak_memory_bytes() const { return std::nullopt; }
  // Whether ranks are cores, so that more ranks than cores of a host disturb each other.
  [[nodiscard]] virtual bool runs_on_cores() const { return false; }
};

// Makes an engine with one core per rank, fp32.
[[nodiscard]] std::unique_ptr<TaskEngine> make_host_engine();

}  // namespace sextant::proxy
