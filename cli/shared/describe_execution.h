// How a task of a plan is executed, in one line for people.
#pragma once

#include <string>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::cli {

// "ZeRO 3, 16384 tokens a micro-batch, full recomputation, states on the host while other tasks run"; "padded
// batch" where nothing else is said. What all engines and trainers do (packing, fused attention) is left out.
[[nodiscard]] std::string describe_execution(const TaskPlan& task, TaskKind kind);

}  // namespace sextant::cli
