#include <array>
#include <string>

#include "calibrate/import/published/hetrl_clusters.h"
#include "calibrate/import/records/facts.h"
#include "lab/reproduce/hetrl_text.h"
#include "lab/reproduce/study.h"

namespace sextant::inline lab {
namespace {

constexpr std::array kModels = {"Qwen3-4B", "Qwen3-8B", "Qwen3-14B"};
constexpr std::array kAlgorithms = {Algorithm::ppo, Algorithm::grpo};
constexpr std::array kModes = {Mode::synchronous, Mode::asynchronous};

const char* short_name(Mode mode) { return mode == Mode::synchronous ? "sync" : "async"; }

// Section 5.1.
Workflow hetrl_workflow(const Facts& facts, const std::string& model, Algorithm algorithm, Mode mode) {
  constexpr int kGlobalBatch = 384, kResponses = 8;
  constexpr double kLongest = 1024;
  Workflow workflow;
  workflow.name = model + " " + std::string(name_of(algorithm)) + " " + short_name(mode);
  workflow.algorithm = algorithm;
  workflow.mode = mode;
  workflow.staleness = mode == Mode::asynchronous ? 1 : 0;
  workflow.tasks = algorithm == Algorithm::ppo ? ppo_tasks() : grpo_tasks(true);
  for (const Task& task : workflow.tasks) {
    Model shape = facts.model(model);
    shape.value_head = task.model == "critic" || task.model == "reward";
    workflow.models[task.model] = shape;
  }
  workflow.prompts = kGlobalBatch;
  workflow.responses_per_prompt = kResponses;
  workflow.prompt_tokens = workflow.response_tokens = fixed_length(kLongest);
  return workflow;
}

constexpr int kMachineDevices = 8;
constexpr const char* kOurs = "sha-ea";
constexpr const char* kOursInUnits = "sha-ea, exact's space";
constexpr const char* kVerl = "verl";
constexpr const char* kVerlOnAll = "verl, all GPUs";
constexpr const char* kStreamRl = "streamrl";
constexpr const char* kExact = "exact";

Contestant on_best_part(const char* name, const char* planner,
                        ContestantPlacement placement = ContestantPlacement::planned) {
  Contestant one{name, planner, placement};
  one.may_leave_out = true;
  return one;
}

// The first are compared; the others show what is left of a gain over baselines that know every GPU and link,
// and what other systems' placements and other searches make of the cell.
std::vector<Contestant> contestants_of(HetrlNetwork network, const std::string& model, Mode mode) {
  const bool is_async = mode == Mode::asynchronous;
  // verl's asynchronous trainers have two pools, and all but generation in one of them.
  const char* verl = is_async ? "streamrl" : "verl-auto";
  std::vector<Contestant> all = {{kOurs, "sha-ea"},
                                 on_best_part(kVerl, verl, ContestantPlacement::alike),
                                 {kVerlOnAll, verl, ContestantPlacement::alike},
                                 on_best_part("verl-colocated, aware", "verl-colocated"),
                                 on_best_part("verl-split, aware", "verl-split"),
                                 {"verl-colocated, aware, all GPUs", "verl-colocated"}};
  if (is_async) {
    all.push_back(on_best_part(kStreamRl, "streamrl"));
    all.push_back({"streamrl, all GPUs", "streamrl"});
  }
  if (network == HetrlNetwork::single_region && model == kModels[1]) {
    for (const auto& [name, planner] :
         {std::pair{"openrlhf", "openrlhf"}, std::pair{"deepspeed-chat", "verl-colocated"}}) {
      Contestant one = on_best_part(name, planner);
      one.has_zero_3 = true;
      all.push_back(one);
    }
  }
  if (model != kModels[1]) return all;
  all.push_back({"plain-ea (DEAP)", "plain-ea"});
  all.push_back({"mcmc", "mcmc"});
  return all;
}

// Contestants of HetrlReading::equal_degrees: the compared ones of verl have the width of a machine.
std::vector<Contestant> contestants_with_equal_degrees() {
  std::vector<Contestant> all = {{kOurs, "sha-ea"}};
  const auto add = [&](const std::string& name, int tensor_parallel, bool may_leave_out) {
    Contestant one{name, "", ContestantPlacement::equal_degrees};
    one.tensor_parallel = tensor_parallel;
    one.may_leave_out = may_leave_out;
    all.push_back(one);
  };
  add(kVerl, kMachineDevices, true);
  add(kVerlOnAll, kMachineDevices, false);
  for (int tensor_parallel = kMachineDevices / 2; tensor_parallel > 1; tensor_parallel /= 2)
    add("tensor parallelism " + std::to_string(tensor_parallel) + ", all GPUs", tensor_parallel, false);
  return all;
}

std::vector<Contestant> contestants_of_24_gpus(Mode mode) {
  std::vector<Contestant> all = contestants_of(HetrlNetwork::multi_country, kModels[1], mode);
  Contestant in_units{kOursInUnits, "sha-ea"};
  in_units.is_within_unit_space = true;
  all.push_back(in_units);
  all.push_back({kExact, "exact"});
  return all;
}

struct PublishedRange {
  double low = 0, high = 0;
};

// Section 5.2: how many times the throughput of each HetRL has.
struct Published {
  HetrlNetwork network;
  PublishedRange sync_verl, async_streamrl, async_verl;
};
constexpr std::array kPublished = {
    Published{HetrlNetwork::single_region, {1.51, 2.05}, {1.1, 1.31}, {1.1, 1.31}},
    Published{HetrlNetwork::multi_region_hybrid, {3.01, 4.99}, {1.11, 1.27}, {4.07, 9.17}},
    Published{HetrlNetwork::multi_country, {1.4, 3.07}, {1.19, 1.5}, {1.71, 4.0}},
    Published{HetrlNetwork::multi_continent, {2.24, 5.46}, {2.25, 3.72}, {4.38, 10.76}}};

void add_ratio(Study& study, const std::string& group, const std::string& cell, const char* over,
               const PublishedRange& range) {
  study.figures.push_back({group + ": " + kOurs + " over " + over,
                           "HetRL, section 5.2",
                           Measure::sequences_per_s,
                           {cell, kOurs},
                           Side{cell, over},
                           range.low,
                           range.high});
}

// Section 5.6 and Figure 10: over verl, Qwen-8B in a single region on several combinations of GPUs, of which we
// have all and the 24 A100.
PublishedRange range_of_figure_10(Algorithm algorithm, Mode mode) {
  const bool is_ppo = algorithm == Algorithm::ppo;
  if (mode == Mode::synchronous) return is_ppo ? PublishedRange{1.72, 4.33} : PublishedRange{1.77, 3.42};
  return is_ppo ? PublishedRange{1.57, 3.33} : PublishedRange{1.57, 3.03};
}

void add_figure_10(Study& study, const std::string& cell, Algorithm algorithm, Mode mode) {
  const PublishedRange range = range_of_figure_10(algorithm, mode);
  for (const char* verl : {kVerl, kVerlOnAll}) {
    study.figures.push_back({std::string("Qwen3-8B, single region: sha-ea over ") + verl,
                             "HetRL, section 5.6",
                             Measure::sequences_per_s,
                             {cell, kOurs},
                             Side{cell, verl},
                             range.low,
                             range.high});
  }
}

// The abstract, over verl and StreamRL; "up to" is 10.76x in section 5.2.
void add_headlines(Study& study) {
  for (const char* verl : {kVerl, kVerlOnAll}) {
    std::vector<std::string> groups;
    for (const Published& published : kPublished) {
      const std::string network(name_of(published.network));
      groups.push_back(network + ", sync: sha-ea over " + verl);
      groups.push_back(network + ", async: sha-ea over " + verl);
      groups.push_back(network + ", async: sha-ea over " + kStreamRl);
    }
    const std::string over = std::string(" over ") + verl + " and " + kStreamRl;
    study.headlines.push_back({"largest gain" + over, "HetRL, abstract", groups, Headline::Of::largest, 9.17});
    study.headlines.push_back({"mean gain" + over, "HetRL, abstract", groups, Headline::Of::mean, 3.17});
  }
}

void add_ratios(Study& study, const Published& published, Mode mode, const std::string& cell) {
  const std::string group = std::string(name_of(published.network)) + ", " + short_name(mode);
  const bool is_async = mode == Mode::asynchronous;
  const PublishedRange& verl = is_async ? published.async_verl : published.sync_verl;
  add_ratio(study, group, cell, kVerl, verl);
  add_ratio(study, group, cell, kVerlOnAll, verl);
  if (is_async) add_ratio(study, group, cell, kStreamRl, published.async_streamrl);
}

std::string cell_name(std::string_view network, const std::string& workflow) {
  std::string name = std::string(network) + "/" + workflow;
  for (char& c : name) c = c == ' ' ? '/' : c;
  return name;
}

constexpr const char* kSmall = "24-a100";

// Section 5.6, Figure 10 and the lower rows of Figure 3: Qwen-8B on the A100 alone.
void add_small_cluster(Study& study, const Facts& facts) {
  const Cluster cluster = hetrl_a100s(facts);
  for (const Algorithm algorithm : kAlgorithms) {
    for (const Mode mode : kModes) {
      const Workflow workflow = hetrl_workflow(facts, kModels[1], algorithm, mode);
      const std::string small = cell_name(kSmall, workflow.name);
      study.cells.push_back(
          {small, cluster, workflow, usual_executions(workflow), contestants_of_24_gpus(mode)});
      add_figure_10(study, small, algorithm, mode);
      add_figure_10(study, cell_name(name_of(HetrlNetwork::single_region), workflow.name), algorithm, mode);
      for (const HetrlNetwork network : kHetrlNetworks) {
        const bool is_single = network == HetrlNetwork::single_region;
        const PublishedRange range = is_single ? PublishedRange{1.57, 2.0} : PublishedRange{1.09, 1.77};
        study.figures.push_back({std::string(name_of(network)) + ": all GPUs over the 24 A100",
                                 "HetRL, section 5.6",
                                 Measure::sequences_per_s,
                                 {cell_name(name_of(network), workflow.name), kOurs},
                                 Side{small, kOurs},
                                 range.low,
                                 range.high});
      }
      study.figures.push_back({"24 A100: sha-ea over exact",
                               "HetRL, section 5.4 (within 1 %)",
                               Measure::sequences_per_s,
                               {small, kOursInUnits},
                               Side{small, kExact},
                               0.99,
                               1});
    }
  }
}

// Section 5.3: load balancing makes the throughput up to so many times larger.
double max_gain(HetrlNetwork network) { return network == HetrlNetwork::single_region ? 1.12 : 1.18; }

const char* study_name(HetrlReading reading) {
  switch (reading) {
    case HetrlReading::as_read:
      break;
    case HetrlReading::shared_links:
      return "hetrl-shared-links";
    case HetrlReading::broadcast:
      return "hetrl-broadcast";
    case HetrlReading::equal_degrees:
      return "hetrl-equal-degrees";
    case HetrlReading::eight_steps:
      return "hetrl-eight-steps";
  }
  return "hetrl";
}

}  // namespace

Study hetrl_balance_study(const Facts& facts) {
  constexpr const char* kEven = "sha-ea, even load";
  constexpr const char* kOursInRollout = "sha-ea, batches balanced in the rollout alone";
  Study study{"hetrl-balance",
              "HetRL: Efficient Reinforcement Learning for LLMs in Heterogeneous Environments (He et al.), the "
              "ablation of load balancing",
              "verl-megatron",
              hetrl_balance_assumptions(),
              {},
              {}};
  for (const HetrlNetwork network : kHetrlNetworks) {
    const Cluster cluster = hetrl_cluster(facts, network);
    for (const char* model : kModels) {
      for (const Algorithm algorithm : kAlgorithms) {
        const Workflow workflow = hetrl_workflow(facts, model, algorithm, Mode::synchronous);
        const std::string name = cell_name(name_of(network), workflow.name);
        const Contestant even{kEven, "sha-ea", ContestantPlacement::planned, {}, false};
        // Section 4.2 balances batches in the rollout; other tasks balance lengths, which are equal here.
        Contestant in_rollout{kOursInRollout, "sha-ea"};
        in_rollout.has_even_batches = true;
        study.cells.push_back(
            {name, cluster, workflow, usual_executions(workflow), {{kOurs, "sha-ea"}, even, in_rollout}});
        study.figures.push_back({std::string(name_of(network)) + ", sync: load balancing over even load",
                                 "HetRL, section 5.3",
                                 Measure::sequences_per_s,
                                 {name, kOurs},
                                 Side{name, kEven},
                                 1,
                                 max_gain(network)});
      }
    }
    const std::string name(name_of(network));
    study.headlines.push_back({name + ": largest gain of load balancing",
                               "HetRL, section 5.3",
                               {study.figures.back().group},
                               Headline::Of::largest,
                               max_gain(network)});
  }
  study.causes = hetrl_balance_causes();
  return study;
}

Study hetrl_study(const Facts& facts, HetrlReading reading) {
  const HetrlLinks links =
      reading == HetrlReading::shared_links ? HetrlLinks::per_region : HetrlLinks::per_pair;
  Study study{study_name(reading),
              "HetRL: Efficient Reinforcement Learning for LLMs in Heterogeneous Environments (He et al.)",
              "verl-megatron",
              hetrl_assumptions(),
              {},
              {}};
  for (const Published& published : kPublished) {
    const Cluster cluster = hetrl_cluster(facts, published.network, links);
    for (const char* model : kModels) {
      for (const Algorithm algorithm : kAlgorithms) {
        for (const Mode mode : kModes) {
          const Workflow workflow = hetrl_workflow(facts, model, algorithm, mode);
          const std::string name = cell_name(name_of(published.network), workflow.name);
          study.cells.push_back({name, cluster, workflow, usual_executions(workflow),
                                 contestants_of(published.network, model, mode)});
          add_ratios(study, published, mode, name);
        }
      }
    }
  }
  add_small_cluster(study, facts);
  add_headlines(study);
  study.causes = hetrl_causes();
  study.contradictions = hetrl_contradictions();
  if (reading == HetrlReading::broadcast) {
    for (StudyCell& cell : study.cells) cell.weight_sync = {WeightSyncMethod::broadcast};
  }
  if (reading == HetrlReading::equal_degrees) {
    for (StudyCell& cell : study.cells) cell.contestants = contestants_with_equal_degrees();
  }
  if (reading == HetrlReading::eight_steps) {
    for (StudyCell& cell : study.cells) cell.workflow.mini_batches = 8;
  }
  return study;
}

}  // namespace sextant::inline lab
