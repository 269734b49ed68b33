// One task of a workflow with its part of a plan: the input of every rule of the verifier.
#pragma once

#include <map>
#include <vector>

#include "documents/sorted_lengths.h"
#include "sextant/cluster.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline planner {

// The batches of a task's replicas (batch.h). They are computed once, because there may be thousands of
// replicas.
struct TaskBatch {
  std::vector<int> sequences;              // by replica
  std::map<int, double> tokens_of_length;  // per sequence, by the length rank of the replica
};

// Holds references to the caller's documents.
struct PlannedTask {
  const Task& task;
  const TaskPlan& plan;
  const Workflow& workflow;
  const Cluster& cluster;
  const SortedLengths* sorted = nullptr;  // of the workflow, if a task splits by length
  TaskBatch batch = {};                   // empty until values and layout are checked

  [[nodiscard]] const std::string& name() const { return task.name; }
  [[nodiscard]] const Model& model() const { return workflow.models.at(task.model); }
  [[nodiscard]] const Execution& execution() const { return plan.execution; }
  [[nodiscard]] bool is_training() const { return task.kind == TaskKind::training; }
  [[nodiscard]] bool is_generation() const { return task.kind == TaskKind::generation; }
};

}  // namespace sextant::inline planner
