// Random problems of a framework, and random plans for them: such that the framework can say, and any.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "reports/export/trainers/dialects.h"
#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::test {

// The profiles of data/frameworks.
[[nodiscard]] const FrameworkProfile& shipped_profile(const std::string& name);

// 1, 2 or 4 nodes of 8 GPUs with 80 GB.
[[nodiscard]] Cluster gpu_cluster(int nodes);

// PPO or GRPO with or without a reward model, in one of the profile's modes; a model of 32 layers.
[[nodiscard]] Workflow random_workflow(const FrameworkProfile& profile, std::mt19937& random);

// Equal replicas on the framework's pools of GPUs, with executions of the profile.
[[nodiscard]] Plan random_sayable_plan(const TrainerProblem& problem, std::mt19937& random);

// Replicas of different shapes and shares on any GPUs, in any order, with executions of any profile.
[[nodiscard]] Plan random_odd_plan(const TrainerProblem& problem, std::mt19937& random);

}  // namespace sextant::test
