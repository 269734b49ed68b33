#include <array>
#include <string>

#include "calibrate/import/facts.h"
#include "reports/reproduce/hetrl_clusters.h"
#include "reports/reproduce/study.h"

namespace sextant {
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

constexpr const char* kOurs = "sha-ea";
constexpr const char* kVerl = "verl-colocated";
constexpr const char* kUnawareVerl = "verl-unaware";
constexpr const char* kStreamRl = "streamrl";
constexpr const char* kExact = "exact";

std::vector<Contestant> contestants_of(Mode mode, bool is_small) {
  const bool is_async = mode == Mode::asynchronous;
  std::vector<Contestant> all = {
      {kOurs, "sha-ea"},
      {kVerl, "verl-colocated"},
      {"verl-split", "verl-split"},
      {kUnawareVerl, is_async ? "streamrl" : "verl-colocated", ContestantPlacement::alike}};
  if (is_async) all.push_back({kStreamRl, "streamrl"});
  all.push_back({"plain-ea (DEAP)", "plain-ea"});
  all.push_back({"mcmc", "mcmc"});
  if (is_small) all.push_back({kExact, "exact"});
  return all;
}

struct Range {
  double low = 0, high = 0;
};

// Section 5.2: how many times the throughput of each HetRL has.
struct Published {
  HetrlNetwork network;
  Range sync_verl, async_streamrl, async_verl;
};
constexpr std::array kPublished = {
    Published{HetrlNetwork::single_region, {1.51, 2.05}, {1.1, 1.31}, {1.1, 1.31}},
    Published{HetrlNetwork::multi_region_hybrid, {3.01, 4.99}, {1.11, 1.27}, {4.07, 9.17}},
    Published{HetrlNetwork::multi_country, {1.4, 3.07}, {1.19, 1.5}, {1.71, 4.0}},
    Published{HetrlNetwork::multi_continent, {2.24, 5.46}, {2.25, 3.72}, {4.38, 10.76}}};

void add_ratio(Study& study, const std::string& group, const std::string& cell, const char* over,
               const Range& range) {
  study.figures.push_back({group + ": " + kOurs + " over " + over,
                           "HetRL, section 5.2",
                           Measure::sequences_per_s,
                           {cell, kOurs},
                           Side{cell, over},
                           range.low,
                           range.high});
}

void add_ratios(Study& study, const Published& published, Mode mode, const std::string& cell) {
  const std::string group = std::string(name_of(published.network)) + ", " + short_name(mode);
  const bool is_async = mode == Mode::asynchronous;
  const Range& verl = is_async ? published.async_verl : published.sync_verl;
  add_ratio(study, group, cell, kVerl, verl);
  add_ratio(study, group, cell, kUnawareVerl, verl);
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
      study.cells.push_back({small, cluster, workflow, usual_executions(workflow), contestants_of(mode, true)});
      for (const HetrlNetwork network : kHetrlNetworks) {
        const bool is_single = network == HetrlNetwork::single_region;
        const Range range = is_single ? Range{1.57, 2.0} : Range{1.09, 1.77};
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
                               {small, kOurs},
                               Side{small, kExact},
                               0.99,
                               1});
    }
  }
}

// NOLINTBEGIN(bugprone-suspicious-missing-comma): sentences of several lines.
std::vector<std::string> assumptions() {
  return {
      "Models: Qwen3 4B, 8B and 14B; the paper says Qwen.",
      "Global batch: 384 prompts, as verl counts them, with 8 responses each, in PPO too; one optimizer step.",
      "Lengths: every prompt and response has the 1024 tokens that the paper gives as the longest.",
      "GRPO has a reward model of the actor's size, as in the paper's closed form of its iteration.",
      "Asynchronous: rollouts are at most one iteration old.",
      "GPUs: Table 1, where the intra-machine bandwidth counts both directions. Machines: eight GPUs each; "
      "adapters of 400, 400 and 100 Gbit/s (AWS p4d, g6e, g6), 20 us.",
      "Network: delay and bandwidth are of a pair of GPUs. Multi-region-hybrid: machines alternate between "
      "Ohio "
      "and Virginia, the last one (L4) is the edge, 1 ms from Virginia. Multi-country and multi-continent: a "
      "machine a region; between the stated extremes delay and bandwidth follow the distance of the cities, as "
      "the paper has the matrix as a picture only; multi-continent: Virginia, Ohio and six of Europe.",
      "Execution: vLLM with continuous batching, prefix cache and CUDA graphs; Megatron with fused attention, "
      "packed sequences and sharded optimizer states.",
      "verl-colocated, verl-split, streamrl: their placements, with the degrees that are best under this "
      "model, "
      "which knows every GPU and link: stronger than the systems that the paper measured. verl-unaware takes "
      "all "
      "devices for equals, with the machines in order, and what it plans then runs on the real cluster; "
      "synchronous: all tasks on all devices, asynchronous: generation on devices of its own.",
      "Of the paper's figures those that its text states as numbers are compared: ranges over models and "
      "algorithms, held beside each of our cells. Figures 4, 5, 7 to 9 are pictures, or of measured runs."};
}
// NOLINTEND(bugprone-suspicious-missing-comma)

// Section 5.3: load balancing makes the throughput up to so many times larger.
double most_gain(HetrlNetwork network) { return network == HetrlNetwork::single_region ? 1.12 : 1.18; }

std::vector<std::string> assumptions_of_balance() {
  return {
      "Networks, models, batch, lengths and execution: as in hetrl.",
      "Without load balancing: layers and sequences dealt evenly, as sextant plan --even-load does; both "
      "searches have the same budget, and the one that balances has more to look at.",
      "The paper also gives longer sequences to faster GPUs where their lengths are known; here all are as "
      "long.",
      "The text states the largest gains, in the single-region and the cross-region scenario (Figure 4 calls "
      "it "
      "multi-region; the figure is a picture): the second is held beside each of the three networks of several "
      "regions."};
}

}  // namespace

Study hetrl_balance_study(const Facts& facts) {
  constexpr const char* kEven = "sha-ea, even load";
  Study study{"hetrl-balance",
              "HetRL: Efficient Reinforcement Learning for LLMs in Heterogeneous Environments (He et al.), the "
              "ablation of load balancing",
              "verl-megatron",
              assumptions_of_balance(),
              {},
              {}};
  for (const HetrlNetwork network : kHetrlNetworks) {
    const Cluster cluster = hetrl_cluster(facts, network);
    for (const char* model : kModels) {
      for (const Algorithm algorithm : kAlgorithms) {
        const Workflow workflow = hetrl_workflow(facts, model, algorithm, Mode::synchronous);
        const std::string name = cell_name(name_of(network), workflow.name);
        const Contestant even{kEven, "sha-ea", ContestantPlacement::planned, {}, false};
        study.cells.push_back({name, cluster, workflow, usual_executions(workflow), {{kOurs, "sha-ea"}, even}});
        study.figures.push_back({std::string(name_of(network)) + ", sync: load balancing over even load",
                                 "HetRL, section 5.3",
                                 Measure::sequences_per_s,
                                 {name, kOurs},
                                 Side{name, kEven},
                                 1,
                                 most_gain(network)});
      }
    }
  }
  return study;
}

Study hetrl_study(const Facts& facts) {
  Study study{"hetrl",
              "HetRL: Efficient Reinforcement Learning for LLMs in Heterogeneous Environments (He et al.)",
              "verl-megatron",
              assumptions(),
              {},
              {}};
  for (const Published& published : kPublished) {
    const Cluster cluster = hetrl_cluster(facts, published.network);
    for (const char* model : kModels) {
      for (const Algorithm algorithm : kAlgorithms) {
        for (const Mode mode : kModes) {
          const Workflow workflow = hetrl_workflow(facts, model, algorithm, mode);
          const std::string name = cell_name(name_of(published.network), workflow.name);
          study.cells.push_back(
              {name, cluster, workflow, usual_executions(workflow), contestants_of(mode, false)});
          add_ratios(study, published, mode, name);
        }
      }
    }
  }
  add_small_cluster(study, facts);
  return study;
}

}  // namespace sextant
