// The experiments of quickstart: small models, several lengths and batches, and layouts of one or two devices.
//
// The models are small enough for a core, and large enough that arithmetic and memory, not call overhead,
// determine the time of a task.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "documents/experiments.h"

namespace sextant::cli {

// Returns the configurations for the fit and its validation: at least 24, on one device or two.
[[nodiscard]] Experiments calibration_experiments(int devices);

// Returns the workflow that quickstart plans for; its model, lengths and batch differ from all of the above.
[[nodiscard]] Workflow target_workflow();

// Returns layouts that people use without a planner, by name: all tasks on all devices data-, tensor- or
// pipeline-parallel, generation and training apart; with one device two micro-batch sizes.
[[nodiscard]] std::vector<std::pair<std::string, Plan>> customary_plans(const Workflow& workflow, int devices);

}  // namespace sextant::cli
