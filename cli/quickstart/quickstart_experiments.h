// What quickstart measures: small models, several lengths and batches, and the layouts of one or two devices.
//
// The models are small enough for a core, and large enough that arithmetic and memory, not call overhead,
// decide how long a task takes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "documents/experiments.h"

namespace sextant::cli {

// The configurations that the fit and its validation share: at least 24, on one device or two.
[[nodiscard]] Experiments calibration_experiments(int devices);

// The workflow that quickstart plans for; its model, lengths and batch are in none of the above.
[[nodiscard]] Workflow target_workflow();

// Layouts that people use without a planner, by name: everything on all devices data-, tensor- or
// pipeline-parallel, generation and training apart; with one device two micro-batch sizes.
[[nodiscard]] std::vector<std::pair<std::string, Plan>> customary_plans(const Workflow& workflow, int devices);

}  // namespace sextant::cli
