// The plan that a framework runs when it cannot run the given one exactly.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline reports {

// The limits of a dialect that its profile does not state.
struct DialectRules {
  // Options that the dialect has in addition to FrameworkProfile::option_names: "inference.packed".
  std::vector<std::string> more_options;
  // Makes values agree that the dialect cannot say apart. Returns a sentence about what changed, or "".
  std::string (*settle)(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) = nullptr;
  // The configuration lists the GPUs of every task, so that two tasks may share some of theirs.
  bool lists_devices = false;
  // The framework refuses a micro-batch whose budget of tokens is smaller than the longest sequence.
  bool holds_longest_sequence = false;
};

// Something that the dialect cannot say.
struct Unsaid {
  std::string sentence;
  Plan plan;  // after this and all earlier changes, so that each can be costed
};

struct NearestPlan {
  Plan plan;
  std::vector<Unsaid> unsaid;  // empty: the dialect can say the whole plan
  std::string refusal;         // not empty: the dialect cannot say the layout at all
};

// Makes the changes in this order: weight synchronization; equal shares; one shape for all replicas of a task;
// layers per stage; tasks that must share their GPUs, or that share some of them; options; options that are one
// setting for several tasks, which have the value of the rule's first task; tasks that have the layout of another
// one; budgets that hold no whole sequence; the order of the GPUs. The plan must be valid (check_plan) and state all
// its options.
[[nodiscard]] NearestPlan nearest_plan(const Plan& plan, const Workflow& workflow, const Cluster& cluster,
                                       const FrameworkProfile& profile, const DialectRules& rules);

// Degrees of a training task that the framework does not have, in words: "pipeline parallelism (4 stages)".
// Empty: it has them all.
[[nodiscard]] std::string missing_degrees(const TaskPlan& task, TaskKind kind, const FrameworkProfile& profile);

}  // namespace sextant::inline reports
