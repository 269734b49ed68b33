// A layout in words: "fsdp=32", "tp=4,pp=2", "tp=2,gpus=0-15".
#pragma once

#include <string>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::cli {

struct LayoutOptions {
  std::string train, rollout, inference;  // inference: empty: as train

  [[nodiscard]] bool is_given() const { return !train.empty() || !rollout.empty() || !inference.empty(); }
};

// A plan of these layouts. Words, each with a number: tp, pp, dp, cp and ep (expert parallelism), fsdp (dp with
// ZeRO 3), zero (its stage), gpus (FIRST-LAST; all of the cluster if it is missing). dp follows from the others
// if it is missing. Whatever else the framework's profile says of executions is left unstated, so that
// fill_in_from_profile chooses it; degrees that an execution holds are set by set_degrees afterwards.
//
// Throws Error(bad_input) that quotes the words which are wrong.
[[nodiscard]] Plan plan_from_words(const LayoutOptions& layouts, const Workflow& workflow,
                                   const Cluster& cluster);

// Writes the degrees of the words that are options of an execution: context and expert parallelism, the ZeRO
// stage.
void set_degrees(const LayoutOptions& layouts, const Workflow& workflow, const Cluster& cluster, Plan& plan);

}  // namespace sextant::cli
