// The executor's interface to a task, on any engine (engine.h).
#pragma once

#include "probes/comm/communicator.h"
#include "probes/proxy/groups.h"
#include "probes/proxy/rollout.h"
#include "probes/proxy/workload.h"

namespace sextant::proxy {

// The parameters for building a task. All referenced objects outlive the tasks.
struct TaskSetup {
  Communicator& world;
  const Workflow& workflow;
  const Task& task;
  const TaskPlan& plan;
  const Workload& workload;
  TaskGroup& group;
  int number = 0;  // position of the task in the workflow; separates its messages from the others'
  unsigned seed = 1;
};

class TaskWork {
 public:
  TaskWork() = default;
  virtual ~TaskWork() = default;
  TaskWork(const TaskWork&) = delete;
  TaskWork& operator=(const TaskWork&) = delete;

  // Runs this rank's part of the task: reads the results of earlier tasks from the rollout and writes its own.
  // Collective over the task's ranks. Returns when the device has completed all work.
  virtual void run(Rollout& rollout) = 0;
};

}  // namespace sextant::proxy
