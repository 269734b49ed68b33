// A task as the executor sees it.
#pragma once

#include "probes/proxy/rollout.h"
#include "probes/proxy/stage.h"

namespace sextant::proxy {

class TaskWork {
 public:
  TaskWork() = default;
  virtual ~TaskWork() = default;
  TaskWork(const TaskWork&) = delete;
  TaskWork& operator=(const TaskWork&) = delete;

  // This rank's part of the task: reads what earlier tasks left in the rollout and writes its own results.
  // Collective over the task's ranks.
  virtual void run(Rollout& rollout) = 0;
  [[nodiscard]] virtual StageParameters& parameters() = 0;
};

}  // namespace sextant::proxy
