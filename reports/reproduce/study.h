// An experiment of a paper as Sextant can run it: workflows on clusters, who plans them, and which published
// figures the answers are put beside.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant {

class Facts;
struct Runs;

enum class ContestantPlacement {
  planned,    // by the planner, which knows the cluster
  alike,      // by the planner, for as many devices that are all alike; then run on the cluster
  halves,     // generation on the first half of the devices, all else on the others, each by the planner
  published,  // as the paper prints it
};

struct Contestant {
  std::string name;
  std::string planner;  // planner/planners.h; empty where the plan is published
  ContestantPlacement placement = ContestantPlacement::planned;
  Plan plan = {};             // published
  bool balances_load = true;  // layers and sequences by what devices can do; of planners that may leave it
};

// One workflow on one cluster.
struct StudyCell {
  std::string name;
  Cluster cluster;
  Workflow workflow;
  std::vector<Execution> executions;  // by task, of planned contestants
  std::vector<Contestant> contestants;
  WeightSyncPlan weight_sync = {};  // likewise
};

enum class Measure {
  sequences_per_s,
  tokens_per_s,
  tokens_per_usd,
  iteration_s,
  task_s,
  weight_sync_s,
  found_s
};

struct Side {
  std::string cell;
  std::string contestant;
};

// A measure, or the ratio of two, with what the paper prints.
struct Figure {
  std::string group;
  std::string source;
  Measure measure = Measure::sequences_per_s;
  Side of;
  std::optional<Side> over;
  double low = 0;
  double high = 0;
  std::string task = {};  // of Measure::task_s
};

struct Study {
  std::string name;
  std::string paper;
  std::string framework;  // whose coefficients
  std::vector<std::string> assumptions;
  std::vector<StudyCell> cells;
  std::vector<Figure> figures;
};

// HetRL (He et al.): section 5, 64 GPUs in four networks.
[[nodiscard]] Study hetrl_study(const Facts& facts);
// HetRL, section 5.3 and Figure 4: the same networks and synchronous workflows, with load balancing and
// without.
[[nodiscard]] Study hetrl_balance_study(const Facts& facts);
// AReaL-Hex (Yan et al.): sections 3 and 4.4 to 4.8, Tables 1 to 5.
[[nodiscard]] Study areal_hex_study(const Facts& facts);
// ReaL (Mei et al.): appendix, Tables 2 to 6. published: the runs of data/public/rl/runs.json.
[[nodiscard]] Study real_study(const Runs& published);

// vLLM and Megatron as frameworks start them, by task.
[[nodiscard]] inline std::vector<Execution> usual_executions(const Workflow& workflow) {
  std::vector<Execution> all;
  for (const Task& task : workflow.tasks) {
    Execution execution;
    execution.packed = execution.fused_attention = true;
    execution.continuous_batching = execution.cuda_graphs = execution.shared_prompts =
        task.kind == TaskKind::generation;
    execution.zero_stage = task.kind == TaskKind::training ? 1 : 0;
    all.push_back(execution);
  }
  return all;
}

// The tasks for which `keeps` holds, after each other as before, and their models; no RL algorithm any more.
template <typename Keeps>
[[nodiscard]] Workflow part_of(const Workflow& workflow, Keeps keeps) {
  Workflow part = workflow;
  part.algorithm = Algorithm::custom;
  part.mode = Mode::synchronous;
  part.staleness = 0;
  part.models.clear();
  std::erase_if(part.tasks, [&](const Task& task) { return !keeps(task); });
  for (Task& task : part.tasks) {
    std::erase_if(task.after, [&](const std::string& name) { return !keeps(workflow.task(name)); });
    part.models.emplace(task.model, workflow.model_of(task));
  }
  return part;
}

}  // namespace sextant
