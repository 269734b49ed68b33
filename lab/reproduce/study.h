// An experiment of a paper in a form that Sextant can run: workflows on clusters, their planners, and the
// published figures with which the answers are compared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/published/hetrl_clusters.h"
#include "lab/reproduce/reproduction.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant {
struct Runs;
}  // namespace sextant

namespace sextant::inline lab {

enum class ContestantPlacement {
  planned,        // by the planner, which knows the cluster
  alike,          // by the planner, for as many equal devices; then run on the cluster
  halves,         // generation on the first half of the devices, other tasks on the second, each by the planner
  published,      // as the paper prints it
  equal_degrees,  // one tensor parallelism for all tasks (equal_degrees.h)
};

struct Contestant {
  std::string name;
  std::string planner;  // sextant/planners.h; empty if the plan is published
  ContestantPlacement placement = ContestantPlacement::planned;
  Plan plan = {};             // the published one
  bool balances_load = true;  // assigns layers and sequences by device speed; for planners that may skip it
  bool has_zero_3 = false;  // trains and infers with ZeRO-3 and data parallelism alone, as DeepSpeed-Chat does
  bool is_within_unit_space = false;  // SearchLimits::within_unit_space
  bool may_leave_out = false;         // runs on the part of the cluster on which it is fastest (subsets.h)
  int tensor_parallel = 0;            // of ContestantPlacement::equal_degrees
  bool has_even_batches = false;      // replicas of all tasks but generation get equally many sequences
};

// A fitted coefficient of one device type that an experiment changes.
struct CoefficientFactor {
  CoefficientId id;
  std::string device_type;
  double factor = 1;
};

// A study's workflow on a cluster.
struct StudyCell {
  std::string name;
  Cluster cluster;
  Workflow workflow;
  std::vector<Execution> executions;  // by task, for planned contestants
  std::vector<Contestant> contestants;
  WeightSyncPlan weight_sync = {};  // for planned contestants
  bool has_pools_apart = false;     // generation shares no device with other tasks
  std::vector<CoefficientFactor> factors = {};
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

// A measure, or the ratio of two, with the published value.
struct Figure {
  std::string group;
  std::string source;
  Measure measure = Measure::sequences_per_s;
  Side of;
  std::optional<Side> over;
  double low = 0;
  double high = 0;
  std::string task = {};  // for Measure::task_s
};

// Headlines are what the text of a paper says about many of its figures at once.
struct Headline {
  enum class Of { largest, mean };
  std::string name;
  std::string source;
  std::vector<std::string> groups;  // groups of its figures
  Of of = Of::mean;
  double published = 1;  // a ratio
};

struct Study {
  std::string name;
  std::string paper;
  std::string framework;  // selects the coefficients
  std::vector<std::string> assumptions;
  std::vector<StudyCell> cells;
  std::vector<Figure> figures;
  std::vector<Headline> headlines = {};
  std::vector<Cause> causes = {};
  std::vector<std::string> contradictions = {};  // inside the paper; sentences
  // Adds comparisons that are no predictions of plans, if all cells are run; may be empty.
  std::function<void(ReproducedExperiment&, std::uint64_t seed)> measures = {};
};

// HetRL (He et al.): section 5, 64 GPUs in four networks.
// reading: an alternative assumption, to find why figures disagree.
enum class HetrlReading {
  as_read,
  shared_links,   // HetrlLinks::per_region
  broadcast,      // weights reach generation as in verl, by a broadcast around trainers and engines
  equal_degrees,  // verl has one tensor parallelism for all tasks, that of a machine, 4 or 2
  eight_steps,    // eight optimizer steps an iteration
};
[[nodiscard]] Study hetrl_study(const Facts& facts, HetrlReading reading = HetrlReading::as_read);
// HetRL, section 5.3 and Figure 4: the same networks and synchronous workflows, with and without load
// balancing.
[[nodiscard]] Study hetrl_balance_study(const Facts& facts);
// AReaL-Hex (Yan et al.): sections 3 and 4.4 to 4.8, Tables 1 to 5.
// reading: an alternative reading of the paper's hardware, to find why figures disagree.
enum class HexReading {
  as_printed,
  links_of_pairs,  // rates between machines hold for every pair of GPUs at once
  weave_h800,      // an H800 has 989.5 TFLOPS and 3.35 TB/s, as in WEAVE's Table 1
  table_1,         // H20 train and generate as slowly relative to H800 as Table 1 says
  tables_1_and_3,  // and H800 as slowly as Table 3 says
};
[[nodiscard]] Study areal_hex_study(const Facts& facts, HexReading reading = HexReading::as_printed);
// ReaL (Mei et al.): appendix, Tables 2 to 6. published: the runs of data/runs/rl.json.
enum class RealReading {
  as_read,
  micro_batches,  // planners divide batches into as many micro-batches as the searched plan does
};
[[nodiscard]] Study real_study(const Runs& published, RealReading reading = RealReading::as_read);

// WEAVE (Wu et al.): what is listed in lab/reproduce/weave/weave.h.
[[nodiscard]] Study weave_study(const Facts& facts);

// Execution options that vLLM and Megatron use by default, by task.
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

// Returns the tasks for which `keeps` holds, in the same order, and their models; without an RL algorithm.
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

}  // namespace sextant::inline lab
