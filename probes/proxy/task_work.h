// A task as the executor sees it, whoever computes it (engine.h).
#pragma once

#include "probes/comm/communicator.h"
#include "probes/proxy/groups.h"
#include "probes/proxy/rollout.h"
#include "probes/proxy/workload.h"

namespace sextant::proxy {

// What every task is built from. All referenced objects outlive the tasks.
struct TaskSetup {
  Communicator& world;
  const Workflow& workflow;
  const Task& task;
  const TaskPlan& plan;
  const Workload& workload;
  TaskGroup& group;
  int number = 0;  // of the task in the workflow; separates its messages from the others'
  unsigned seed = 1;
};

class TaskWork {
 public:
  TaskWork() = default;
  virtual ~TaskWork() = default;
  TaskWork(const TaskWork&) = delete;
  TaskWork& operator=(const TaskWork&) = delete;

  // This rank's part of the task: reads what earlier tasks left in the rollout and writes its own results.
  // Collective over the task's ranks. Returns when the device has done all of it.
  virtual void run(Rollout& rollout) = 0;
};

}  // namespace sextant::proxy
