// Describes how a task of a plan is executed, in one line for people.
#pragma once

#include <string>

#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::cli {

// "ZeRO 3, 16384 tokens a micro-batch, full recomputation, states on the host while other tasks run"; "padded
// batch" if nothing else is set. Options of all engines and trainers (packing, fused attention) are omitted, and so is
// ZeRO where one replica has nothing to shard over.
[[nodiscard]] std::string describe_execution(const TaskPlan& task, TaskKind kind);

}  // namespace sextant::cli
