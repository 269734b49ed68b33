// A layout in words: "fsdp=32,tokens=16384,recompute=full", "tp=4,pp=2", "tp=2,gpus=0-15".
#pragma once

#include <optional>
#include <string>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

struct LayoutOptions {
  std::string train, rollout, inference;  // inference: empty: as train

  [[nodiscard]] bool is_given() const { return !train.empty() || !rollout.empty() || !inference.empty(); }
};

// A plan of these layouts. Words with a number: tp, pp, dp, cp and ep (expert parallelism), fsdp (dp with ZeRO 3),
// zero (its stage), shard (devices that ZeRO shards over), tokens or sequences (of a micro-batch; of an engine:
// sequences at once), lora (rank of adapters), gpus (FIRST-LAST; all of the cluster if it is missing), cache (KV cache of a GPU: a share of its
// memory, or 30GB). dp follows from the others if it is missing. Words with names: recompute
// (none, selective, full) and offload (none, or weights, optimizer and activations joined by "+"). Whatever else
// the framework's profile says of executions is left unstated, so that fill_in_from_profile chooses it; options
// that an execution holds are set by set_degrees afterwards.
//
// Throws Error(bad_input) that quotes the words which are wrong.
[[nodiscard]] Plan plan_from_words(const LayoutOptions& layouts, const Workflow& workflow,
                                   const Cluster& cluster);

// Writes the words that are options: context and expert parallelism, the ZeRO stage, micro-batches, recomputation
// and offloading.
void set_degrees(const LayoutOptions& layouts, const Workflow& workflow, const Cluster& cluster, Plan& plan);

// The words for a plan's layouts and the options above, those of the first task of a kind; nullopt: a layout is not
// uniform, or tasks of one kind have different ones.
[[nodiscard]] std::optional<LayoutOptions> words_of_plan(const Plan& plan, const Workflow& workflow,
                                                         const Cluster& cluster);

}  // namespace sextant::inline ask
