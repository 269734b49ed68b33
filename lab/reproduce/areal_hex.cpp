#include <array>
#include <string>

#include "calibrate/import/records/facts.h"
#include "calibrate/import/records/measured_iteration.h"
#include "lab/reproduce/areal_hex_text.h"
#include "lab/reproduce/study.h"

namespace sextant::inline lab {
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

// The paper's own numbers, and one of them changed at a time.
struct Reading {
  const char* study;
  HexGpu h800 = kH800, h20 = kH20;
  bool has_adapters = true;  // rates between machines are of a machine, else of every pair of GPUs
  bool has_rates_of_table_1 = false, has_rates_of_table_3 = false;  // Published
};
// WEAVE (Wu et al.), Table 1: the same GPU at the same price.
constexpr HexGpu kWeaveH800{"H800", "h800", 989.5e12, 3.35e12, 200e9, 5.28};

Reading reading_of(HexReading reading) {
  switch (reading) {
    case HexReading::as_printed:
      break;
    case HexReading::links_of_pairs:
      return {"areal-hex-pair-links", kH800, kH20, false};
    case HexReading::weave_h800:
      return {"areal-hex-weave-h800", kWeaveH800, kH20, true};
    case HexReading::table_1:
      return {"areal-hex-table-1", kH800, kH20, true, true};
    case HexReading::tables_1_and_3:
      return {"areal-hex-tables-1-and-3", kH800, kH20, true, true, true};
  }
  return {"areal-hex"};
}

DeviceType type_of(const HexGpu& gpu, const Facts& facts) {
  DeviceType type = facts.gpu(gpu.name).type;
  type.memory_bytes_per_s = datasheet(gpu.memory_bytes_per_s, kPaper);
  for (const Precision precision : {Precision::bf16, Precision::fp16})
    type.flop_per_s[precision] = datasheet(gpu.flop_per_s, kPaper);
  type.price_usd_per_hour = datasheet(gpu.usd_per_hour, "AReaL-Hex (Yan et al.), section 3");
  return type;
}

void add_nodes(std::vector<Node>& nodes, const HexGpu& gpu, int devices, bool has_adapters,
               const Facts& facts) {
  for (int number = 0; number * kDevicesOfNode < devices; ++number) {
    Node node;
    node.name = std::string(gpu.short_name) + "-" + std::to_string(number);
    node.region = "region";
    node.zone = gpu.short_name;
    node.device_type = gpu.name;
    node.devices = std::min(kDevicesOfNode, devices - number * kDevicesOfNode);
    node.link =
        LinkRate{facts.gpu(gpu.name).within_node.latency_s, datasheet(gpu.within_node_bytes_per_s, kPaper)};
    if (has_adapters) node.network_bytes_per_s = kBetweenNodes;
    nodes.push_back(node);
  }
}

// A zone a type: their machines meet at the slower rate.
Cluster hex_cluster(const Facts& facts, const Reading& reading, int h800, int h20) {
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  for (const auto& [gpu, devices] : {std::pair{reading.h800, h800}, std::pair{reading.h20, h20}}) {
    if (devices == 0) continue;
    types.emplace(gpu.name, type_of(gpu, facts));
    add_nodes(nodes, gpu, devices, reading.has_adapters, facts);
  }
  const Quantity latency = assumed(kNetworkLatency_s, "not in the paper");
  const LinkRate within_zone{latency, datasheet(kBetweenNodes, kPaper)};
  LinkRate between_zones{latency, datasheet(kBetweenTypes, kPaper)};
  if (reading.has_adapters) between_zones.capacity_bytes_per_s = between_zones.bytes_per_s;
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

// Shares of what the model says that a GPU does.
struct Rates {
  double training, decode;
};

// Found by trial, for experiments that change rates (reading_of).
struct ModelRates {
  // With which the model has the ratios of Table 1 for 8 GPUs: as printed it says 1.05, 1.29 and 1.17 for 3.11
  // to 3.13 (training) and 3.28, 3.27 and 4.04 for 2.70 to 2.75 (generation).
  Rates h20;
  // With which it has about the throughput of Table 3. Of uniform halves 12 GPUs generate, so that one
  // generates 975, 297 or 107 tokens/s; the best allocation leaves 5.1, 3.9 or 3.9 GPUs for the rest, 3,588,
  // 1,533 or 553 tokens/s each. The model has 4,209, 1,986 and 958 for generation; 12,908, 4,264 and 1,829 for
  // the rest.
  Rates h800;
  Rates h20_beside;  // of H20, in addition to those of H800, so that Table 1 holds as well
};
constexpr std::array kRates = {ModelRates{{0.337, 0.83}, {0.19, 0.156}, {0.52, 0.52}},  // 1.5B
                               ModelRates{{0.413, 0.84}, {0.31, 0.09}, {0.53, 0.49}},   // 7B
                               ModelRates{{0.375, 0.67}, {0.245, 0.1}, {0.53, 0.44}}};  // 14B

// Table 5.
struct Searched {
  int h800, h20;
  double seconds;
};
constexpr std::array kSearched = {Searched{8, 16, 14.9}, Searched{8, 24, 23.1}, Searched{16, 24, 46.7},
                                  Searched{24, 32, 120}};

void add_factors(std::vector<CoefficientFactor>& all, const char* type, const Rates& rates) {
  all.push_back({CoefficientId::training_efficiency, type, rates.training});
  all.push_back({CoefficientId::inference_efficiency, type, rates.training});
  all.push_back({CoefficientId::decode_bandwidth_efficiency, type, rates.decode});
  all.push_back({CoefficientId::decode_kv_read_weight, type, 1 / rates.decode});
}

std::vector<CoefficientFactor> factors_of(const Reading& reading, const Published& published) {
  const ModelRates& rates = kRates.at(static_cast<std::size_t>(&published - kPublished.data()));
  std::vector<CoefficientFactor> all;
  Rates h20{1, 1};
  if (reading.has_rates_of_table_1) h20 = rates.h20;
  if (reading.has_rates_of_table_3) {
    add_factors(all, kH800.name, rates.h800);
    h20 = {rates.h800.training * rates.h20_beside.training, rates.h800.decode * rates.h20_beside.decode};
  }
  if (reading.has_rates_of_table_1) add_factors(all, kH20.name, h20);
  return all;
}

class Builder {
 public:
  Builder(const Facts& facts, const Reading& reading, Study& study)
      : facts_(facts), reading_(reading), study_(study), planner_("two-phase") {}

  void add_model(const Published& published) {
    const Workflow workflow = hex_workflow(facts_.model(published.model));
    const std::string hex = add(published, "24-h800-24-h20", hex_cluster(facts_, reading_, 24, 24), workflow);
    const std::string h800 = add(published, "32-h800", hex_cluster(facts_, reading_, 32, 0), workflow);
    const std::string h20 = add(published, "88-h20", hex_cluster(facts_, reading_, 0, 88), workflow);
    const std::string few = add(published, "24-h800", hex_cluster(facts_, reading_, 24, 0), workflow);
    const std::string cheap = add(published, "8-h800-24-h20", hex_cluster(facts_, reading_, 8, 24), workflow);
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
      const Cluster cluster = hex_cluster(facts_, reading_, searched.h800, searched.h20);
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
    const std::string size = published.size;
    add_sizes("table-5-24-gpus/" + size, "table-5-56-gpus/" + size, "24-h800/" + size);
  }

 private:
  void add_sizes(const std::string& smallest, const std::string& largest, const std::string& h800) {
    study_.figures.push_back({"56 over 24 mixed GPUs: tokens a dollar, which stay the same",
                              "AReaL-Hex, Figure 5",
                              Measure::tokens_per_usd,
                              {largest, planner_},
                              Side{smallest, planner_},
                              1,
                              1});
    study_.figures.push_back({"generation on 24 H800 over 56 mixed GPUs: seconds",
                              "AReaL-Hex, section 4.6",
                              Measure::task_s,
                              {h800, planner_},
                              Side{largest, planner_},
                              1.35,
                              1.61,
                              "actor_generation"});
  }

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
                            {WeightSyncMethod::broadcast},
                            true,
                            factors_of(reading_, published)});
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
        const Cluster cluster =
            hex_cluster(facts_, reading_, is_h20 ? 0 : kDevicesOfNode, is_h20 ? kDevicesOfNode : 0);
        study_.cells.push_back({cell, cluster, part, usual_executions(part), {{kAlone, kAlone}}});
        study_.cells.back().factors = factors_of(reading_, published);
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
  const Reading& reading_;
  Study& study_;
  std::string planner_;
};

}  // namespace

Study areal_hex_study(const Facts& facts, HexReading of) {
  const Reading reading = reading_of(of);
  Study study{reading.study,
              "AReaL-Hex: Accommodating Asynchronous RL Training over Heterogeneous GPUs (Yan et al.)",
              std::string(kAny),
              {},
              {},
              {}};
  Builder builder(facts, reading, study);
  for (const Published& published : kPublished) builder.add_model(published);
  builder.add_search_times(kPublished[1]);
  study.assumptions = areal_hex_assumptions();
  study.causes = areal_hex_causes();
  study.contradictions = areal_hex_contradictions();
  return study;
}

}  // namespace sextant::inline lab
