#include <array>
#include <string>

#include "calibrate/import/facts.h"
#include "calibrate/import/measured_iteration.h"
#include "planner/planners.h"
#include "reports/reproduce/study.h"

namespace sextant {
namespace {

// Section 4.4; prices of section 3.
struct HexGpu {
  const char* name;  // as in data/gpus.json, for its coefficients
  const char* short_name;
  double flop_per_s, memory_bytes_per_s, within_node_bytes_per_s, usd_per_hour;
};
constexpr HexGpu kH800{"H800", "h800", 756e12, 2e12, 200e9, 5.28};
constexpr HexGpu kH20{"H20-96GB", "h20", 148e12, 4e12, 450e9, 1.85};
constexpr const char* kPaper = "AReaL-Hex (Yan et al.), section 4.4";
constexpr double kBetweenNodes = 5e9, kBetweenTypes = 1.5e9;  // bytes/s
constexpr double kNetworkLatency_s = 1e-5;                    // not in the paper
constexpr int kDevicesOfNode = 8;

DeviceType type_of(const HexGpu& gpu, const Facts& facts) {
  DeviceType type = facts.gpu(gpu.name).type;
  type.memory_bytes_per_s = datasheet(gpu.memory_bytes_per_s, kPaper);
  for (const Precision precision : {Precision::bf16, Precision::fp16})
    type.flop_per_s[precision] = datasheet(gpu.flop_per_s, kPaper);
  type.price_usd_per_hour = datasheet(gpu.usd_per_hour, "AReaL-Hex (Yan et al.), section 3");
  return type;
}

void add_nodes(std::vector<Node>& nodes, const HexGpu& gpu, int devices, const Facts& facts) {
  for (int number = 0; number * kDevicesOfNode < devices; ++number) {
    Node node;
    node.name = std::string(gpu.short_name) + "-" + std::to_string(number);
    node.region = "region";
    node.zone = gpu.short_name;
    node.device_type = gpu.name;
    node.devices = std::min(kDevicesOfNode, devices - number * kDevicesOfNode);
    node.link =
        LinkRate{facts.gpu(gpu.name).within_node.latency_s, datasheet(gpu.within_node_bytes_per_s, kPaper)};
    nodes.push_back(node);
  }
}

// A zone a type: their machines meet at the slower rate.
Cluster hex_cluster(const Facts& facts, int h800, int h20) {
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  for (const auto& [gpu, devices] : {std::pair{kH800, h800}, std::pair{kH20, h20}}) {
    if (devices == 0) continue;
    types.emplace(gpu.name, type_of(gpu, facts));
    add_nodes(nodes, gpu, devices, facts);
  }
  const Quantity latency = assumed(kNetworkLatency_s, "not in the paper");
  const LinkRate within_zone{latency, datasheet(kBetweenNodes, kPaper)};
  const LinkRate between_zones{latency, datasheet(kBetweenTypes, kPaper)};
  const LinkRate within_node{latency, datasheet(kH800.within_node_bytes_per_s, kPaper)};  // no node uses it
  const std::string name = (h800 > 0 ? std::to_string(h800) + " H800" : "") +
                           (h800 > 0 && h20 > 0 ? " + " : "") + (h20 > 0 ? std::to_string(h20) + " H20" : "");
  return Cluster(name, types, nodes,
                 {{LinkLevel::within_node, within_node},
                  {LinkLevel::within_zone, within_zone},
                  {LinkLevel::within_region, between_zones},
                  {LinkLevel::between_regions, between_zones}});
}

Workflow hex_workflow(const Model& model) {
  // Table 2 and 1.9 % of the iteration (section 4.6) make 250 to 1,370 s of it; times the tokens/s of Table 3
  // that is 3.0 to 4.7 million tokens. 512 sequences of the 7,942 tokens of AReaL's own log have 4.1.
  constexpr int kPrompts = 32, kResponses = 16;
  constexpr double kPromptTokens = 120, kMeanResponse = 7942 - kPromptTokens, kLongest = 27648, kSigma = 0.6;
  Workflow workflow;
  workflow.name = model.name + " grpo async";
  workflow.algorithm = Algorithm::grpo;
  workflow.mode = Mode::asynchronous;
  workflow.staleness = 1;
  workflow.tasks = grpo_tasks(false);
  workflow.models = {{"actor", model}, {"reference", model}};
  workflow.prompts = kPrompts;
  workflow.responses_per_prompt = kResponses;
  workflow.prompt_tokens = fixed_length(kPromptTokens);
  workflow.response_tokens = lengths_with_mean(kMeanResponse, kSigma, kLongest);
  return workflow;
}

struct Published {
  const char* model;  // as in data/models.json
  const char* size;
  double over_h800_low, over_h800_high, over_h20_low, over_h20_high;  // section 4.5
  double generation_cost, training_cost;                              // Table 1: H800 over H20, H20 over H800
  double sync_h800_s, sync_h20_s, sync_hex_s;                         // Table 2
  double uniform_tokens_per_s, h800_tokens_per_s, hex_tokens_per_s;   // Tables 3 and 4
};
constexpr std::array kPublished = {
    Published{"DeepSeek-R1-Distill-Qwen-1.5B", "1.5B", 1.31, 1.50, 2.29, 2.76, 5.58 / 2.06, 5.16 / 1.66, 4.75,
              2.74, 10.06, 1.17e4, 1.84e4, 1.79e4},
    Published{"Qwen2.5-7B", "7B", 1.31, 1.31, 2.76, 2.76, 1.14e-2 / 4.15e-3, 9.51 / 3.05, 14.79, 7.46, 58.34,
              3.57e3, 5.98e3, 6.00e3},
    Published{"Qwen2.5-14B", "14B", 1.50, 1.50, 2.29, 2.29, 3.43 / 1.27, 3.10e-2 / 0.99e-2, 26.00, 13.05,
              112.93, 1.29e3, 2.16e3, 2.30e3}};

// Table 5.
struct Searched {
  int h800, h20;
  double seconds;
};
constexpr std::array kSearched = {Searched{8, 16, 14.9}, Searched{8, 24, 23.1}, Searched{16, 24, 46.7},
                                  Searched{24, 32, 120}};

class Builder {
 public:
  Builder(const Facts& facts, Study& study)
      : facts_(facts), study_(study), planner_(find_planner("two-phase") ? "two-phase" : "sha-ea") {}

  [[nodiscard]] const std::string& planner() const { return planner_; }

  void add_model(const Published& published) {
    const Workflow workflow = hex_workflow(facts_.model(published.model));
    const std::string hex = add(published, "24-h800-24-h20", hex_cluster(facts_, 24, 24), workflow);
    const std::string h800 = add(published, "32-h800", hex_cluster(facts_, 32, 0), workflow);
    const std::string h20 = add(published, "88-h20", hex_cluster(facts_, 0, 88), workflow);
    const std::string few = add(published, "24-h800", hex_cluster(facts_, 24, 0), workflow);
    const std::string cheap = add(published, "8-h800-24-h20", hex_cluster(facts_, 8, 24), workflow);
    study_.cells[study_.cells.size() - 2].contestants.push_back(
        {kHalves, planner_, ContestantPlacement::halves});
    compare("24 H800 + 24 H20 over 32 H800", "AReaL-Hex, section 4.5", hex, h800, published.over_h800_low,
            published.over_h800_high);
    compare("24 H800 + 24 H20 over 88 H20", "AReaL-Hex, section 4.5", hex, h20, published.over_h20_low,
            published.over_h20_high);
    for (const auto& [cell, seconds] :
         {std::pair{h800, published.sync_h800_s}, {h20, published.sync_h20_s}, {hex, published.sync_hex_s}})
      state("weight update", "AReaL-Hex, Table 2", Measure::weight_sync_s, cell, seconds);
    study_.figures.push_back({"24 H800: best allocation over halves",
                              "AReaL-Hex, Table 3",
                              Measure::tokens_per_s,
                              {few, planner_},
                              Side{few, kHalves},
                              published.h800_tokens_per_s / published.uniform_tokens_per_s,
                              published.h800_tokens_per_s / published.uniform_tokens_per_s});
    state("throughput", "AReaL-Hex, Tables 3 and 4", Measure::tokens_per_s, few, published.h800_tokens_per_s);
    state("throughput", "AReaL-Hex, Table 4", Measure::tokens_per_s, cheap, published.hex_tokens_per_s);
    const double throughput = published.hex_tokens_per_s / published.h800_tokens_per_s;
    compare("8 H800 + 24 H20 over 24 H800", "AReaL-Hex, Table 4", cheap, few, throughput, throughput);
    constexpr double kDollars = 126.72 / 86.64;  // Table 4, of an hour
    study_.figures.push_back({"8 H800 + 24 H20 over 24 H800: tokens a dollar",
                              "AReaL-Hex, Table 4",
                              Measure::tokens_per_usd,
                              {cheap, planner_},
                              Side{few, planner_},
                              throughput * kDollars,
                              throughput * kDollars});
    add_token_costs(published, workflow);
  }

  // The cells of Table 5 of one model; the time until the best plan was found.
  void add_search_times(const Published& published) {
    const Workflow workflow = hex_workflow(facts_.model(published.model));
    for (const Searched& searched : kSearched) {
      const Cluster cluster = hex_cluster(facts_, searched.h800, searched.h20);
      const std::string name = "table-5-" + std::to_string(cluster.device_count()) + "-gpus";
      const std::string cell = add(published, name, cluster, workflow);
      study_.figures.push_back({"search: at most",
                                "AReaL-Hex, Table 5",
                                Measure::found_s,
                                {cell, planner_},
                                std::nullopt,
                                0,
                                searched.seconds});
    }
  }

 private:
  static constexpr const char* kHalves = "halves";
  static constexpr const char* kAlone = "sha-ea";  // of a task alone there is nothing to do in two phases

  std::string add(const Published& published, const std::string& name, const Cluster& cluster,
                  const Workflow& workflow) {
    std::string cell = name + "/" + published.size;
    // "Training workers broadcast the new weights to rollout workers via NCCL" (figure 1).
    study_.cells.push_back({cell,
                            cluster,
                            workflow,
                            usual_executions(workflow),
                            {{planner_, planner_}},
                            {WeightSyncMethod::broadcast}});
    return cell;
  }

  void compare(const std::string& group, const std::string& source, const std::string& of,
               const std::string& over, double low, double high) {
    study_.figures.push_back(
        {group, source, Measure::tokens_per_s, {of, planner_}, Side{over, planner_}, low, high});
  }

  void state(const std::string& group, const std::string& source, Measure measure, const std::string& cell,
             double value) {
    study_.figures.push_back({group, source, measure, {cell, planner_}, std::nullopt, value, value});
  }

  // Table 1: generation and training alone, a machine of each type.
  void add_token_costs(const Published& published, const Workflow& workflow) {
    for (const TaskKind kind : {TaskKind::generation, TaskKind::training}) {
      Workflow part = part_of(workflow, [kind](const Task& task) { return task.kind == kind; });
      const bool generates = kind == TaskKind::generation;
      part.name = published.size + std::string(generates ? " generation" : " training");
      std::array<std::string, 2> cells;
      for (const bool is_h20 : {false, true}) {
        std::string& cell = cells[is_h20 ? 1 : 0];
        cell = std::string(is_h20 ? "8-h20-" : "8-h800-") + (generates ? "generation" : "training") + "/" +
               published.size;
        const Cluster cluster = hex_cluster(facts_, is_h20 ? 0 : kDevicesOfNode, is_h20 ? kDevicesOfNode : 0);
        study_.cells.push_back({cell, cluster, part, usual_executions(part), {{kAlone, kAlone}}});
      }
      const double ratio = generates ? published.generation_cost : published.training_cost;
      study_.figures.push_back({generates ? "generation, tokens a dollar: H20 over H800"
                                          : "training, tokens a dollar: H800 over H20",
                                "AReaL-Hex, Table 1",
                                Measure::tokens_per_usd,
                                {cells[generates ? 1 : 0], kAlone},
                                Side{cells[generates ? 0 : 1], kAlone},
                                ratio,
                                ratio});
    }
  }

  const Facts& facts_;
  Study& study_;
  std::string planner_;
};

// NOLINTBEGIN(bugprone-suspicious-missing-comma): sentences of several lines.
std::vector<std::string> assumptions(const std::string& planner) {
  std::vector<std::string> all = {
      "Models: shapes of Qwen2.5 7B and 14B for the DeepSeek distillations of them.",
      "Batch: 32 prompts with 16 responses each. The paper does not say; its weight updates (Table 2), their "
      "1.9 % "
      "of the iteration (section 4.6) and its tokens/s (Table 3) make 3.0 to 4.7 million tokens an iteration.",
      "Lengths: prompts of 120 tokens, responses log-normal with a mean of 7,822 and at most 27,648 tokens, as "
      "AReaL's own log and configuration of its 7B run have (data/public/rl, areal-7b-h800-128-log).",
      "Rollouts are at most one iteration old; a reference model is evaluated; rewards are rule-based; one "
      "optimizer "
      "step an iteration.",
      "Memory of GPUs: 80 GiB and 95.6 GiB (data/gpus.json). Machines: eight GPUs each, without a limit of "
      "their "
      "adapters; 10 us between machines.",
      "Execution: serving with continuous batching, prefix cache and CUDA graphs; training with fused "
      "attention, "
      "packed sequences and sharded optimizer states.",
      "Table 1: generation and training alone on a machine of each type; only ratios are compared, as the "
      "printed "
      "dollars cannot be of one token (Table 4: 126.72 $/h over 1.84e4 tokens/s are 1.9e-6 $).",
      "Table 2: on 32 H800, 88 H20, and both with 24. Table 3: uniform is generation on the first half of the "
      "GPUs, the rest on the others; both of its systems on 24 H800, as Table 4 repeats the numbers. Table 4: "
      "32 "
      "GPUs for 86.64 $/h are 8 H800 and 24 H20.",
      "Table 5: 8 + 16, 8 + 24, 16 + 24 and 24 + 32 H800 and H20; our time is that after which the plan was "
      "found, on this machine, of a search that goes on until its budget is spent.",
      "Section 4.5 gives least, most and mean of three models; the 1.5B one is held beside least and most. "
      "Figures "
      "2 to 5 are pictures."};
  if (planner != "two-phase") {
    all.push_back("Planner: " + planner +
                  "; this build has no planner named two-phase, AReaL-Hex's own algorithm.");
  } else {
    all.emplace_back("Planner: two-phase, AReaL-Hex's own algorithm.");
  }
  return all;
}
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace

Study areal_hex_study(const Facts& facts) {
  Study study{"areal-hex",
              "AReaL-Hex: Accommodating Asynchronous RL Training over Heterogeneous GPUs (Yan et al.)",
              std::string(kAny),
              {},
              {},
              {}};
  Builder builder(facts, study);
  for (const Published& published : kPublished) builder.add_model(published);
  builder.add_search_times(kPublished[1]);
  study.assumptions = assumptions(builder.planner());
  return study;
}

}  // namespace sextant
