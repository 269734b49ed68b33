// The executor's interface to the transfer of trained weights to generation.
#pragma once

#include "probes/proxy/task_work.h"

namespace sextant::proxy {

// All referenced objects outlive the transfer.
struct WeightTransferSetup {
  Communicator& world;
  const Model& model;
  const TaskPlan& training_plan;
  const TaskPlan& generation_plan;
  TaskGroup& training;
  TaskGroup& generation;
  TaskWork* trained;     // null on ranks that do not train
  TaskWork* generating;  // null on ranks that do not generate
};

class WeightTransfer {
 public:
  WeightTransfer() = default;
  virtual ~WeightTransfer() = default;
  WeightTransfer(const WeightTransfer&) = delete;
  WeightTransfer& operator=(const WeightTransfer&) = delete;

  [[nodiscard]] virtual bool takes_part() const = 0;
  // Returns a communicator of the ranks that train or generate.
  [[nodiscard]] virtual Communicator& everyone() = 0;
  // Collective over everyone(). Returns when the device has completed all work.
  virtual void run() = 0;
};

}  // namespace sextant::proxy
