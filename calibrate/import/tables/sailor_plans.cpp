#include "calibrate/import/tables/sailor_plans.h"

#include <algorithm>
#include <map>
#include <utility>

#include "calibrate/import/records/run_parts.h"
#include "core/json_value.h"

namespace sextant {
namespace {

constexpr const char* kSource =
    "Sailor (SOSP 2025) validation plans, github.com/eth-easl/sailor sailor/Planner/simulations/validation "
    "@cf2c8e3cc53ce178fe58a4003f46b4b6b848fc33 (MIT)";
constexpr const char* kLeftUnsaid =
    "precision (TF32 where there is any: a layer runs above the rate of fp32 vectors), overlap, which replicas "
    "share a node where they are more than the nodes";

// ---- reading ----

SailorGroup parse_group(const JsonView& view) {
  view.allow_only({"gpu_type", "gpu_count", "tp"});
  const JsonView degree = view.required("tp");
  SailorGroup group{view.required("gpu_type").text(), degree.count(1)};
  if (view.required("gpu_count").count(1) != group.tensor_parallel) {
    degree.fail("expected the number of the replica's GPUs");
  }
  return group;
}

SailorStage parse_stage(const JsonView& view) {
  view.allow_only({"layer_first", "layer_last", "layer_count", "replicas"});
  SailorStage stage;
  stage.first_layer = view.required("layer_first").count();
  stage.last_layer = view.required("layer_last").count(stage.first_layer);
  for (const JsonView& group : view.required("replicas").items()) stage.replicas.push_back(parse_group(group));
  return stage;
}

SailorPlan parse_plan(const JsonView& view) {
  view.allow_only({"plan_id", "cluster", "model", "node_count", "gpu_count", "gpu_types",
                   "global_batch_sequences", "micro_batch_sequences", "seq_tokens", "layer_count_in_plan", "pp",
                   "dp", "micro_batches_per_replica", "stages", "iteration_time_s", "gradient_sync_s",
                   "max_memory_bytes", "notes"});
  SailorPlan plan;
  plan.id = view.required("plan_id").text();
  plan.cluster = view.required("cluster").text();
  plan.model = view.required("model").text();
  plan.nodes = view.required("node_count").count(1);
  plan.sequences = view.required("global_batch_sequences").count(1);
  plan.micro_batch_sequences = view.required("micro_batch_sequences").count(1);
  plan.micro_batches = view.required("micro_batches_per_replica").count(1);
  plan.tokens = view.required("seq_tokens").count(1);
  plan.plan_layers = view.required("layer_count_in_plan").count(1);
  plan.data_parallel = view.required("dp").count(1);
  plan.iteration_s = view.required("iteration_time_s").positive();
  plan.gradient_sync_s = view.required("gradient_sync_s").non_negative();
  plan.peak_memory_bytes = view.required("max_memory_bytes").positive();
  plan.remark = view.required("notes").any_text();
  for (const JsonView& stage : view.required("stages").items()) plan.stages.push_back(parse_stage(stage));
  return plan;
}

// ---- reasons to leave a plan out, empty where there is none ----

std::string unknown_name(const SailorPlan& plan, const SailorTables& tables) {
  if (tables.model(plan.model) == nullptr) return "no shape of the model " + plan.model + " among the files";
  for (const SailorStage& stage : plan.stages) {
    for (const SailorGroup& group : stage.replicas) {
      if (tables.gpu(group.gpu_type) == nullptr)
        return "no GPU type " + group.gpu_type + " among the files that the facts know";
    }
  }
  return "";
}

// Every stage has all replicas, and stages follow each other from the embedding to the head.
bool covers_layers(const SailorPlan& plan) {
  int next = 0;
  for (const SailorStage& stage : plan.stages) {
    const bool has_all = static_cast<int>(stage.replicas.size()) == plan.data_parallel;
    if (stage.first_layer != next || !has_all) return false;
    next = stage.last_layer + 1;
  }
  return next == plan.plan_layers;
}

std::string contradiction(const SailorPlan& plan, const SailorModel& model) {
  if (plan.plan_layers != model.plan_layers) return "its layers are not those of the model";
  if (!covers_layers(plan)) return "its stages do not cover the model's layers in every replica";
  const double sequences = 1.0 * plan.data_parallel * plan.micro_batches * plan.micro_batch_sequences;
  return sequences == plan.sequences ? "" : "its micro-batches do not make up the global batch";
}

bool is_copy(const SailorPlan& a, const SailorPlan& b) {
  return a.iteration_s == b.iteration_s && a.gradient_sync_s == b.gradient_sync_s &&
         a.peak_memory_bytes == b.peak_memory_bytes;
}

// The copy with the most replicas stays: only replicas have gradients to synchronise, for a time that both
// state.
std::string copied_from(const SailorPlan& plan, const std::vector<SailorPlan>& plans) {
  for (const SailorPlan& other : plans) {
    if (other.id == plan.id || !is_copy(plan, other)) continue;
    const bool other_stays = other.data_parallel > plan.data_parallel ||
                             (other.data_parallel == plan.data_parallel && &other < &plan);
    if (other_stays)
      return "time, synchronization and memory are those of " + other.id + " to the last digit: a copy";
  }
  return "";
}

// ---- the cluster ----

struct PlacedNode {
  std::string gpu_type;
  int devices = 0;
  int used = 0;
  int widest = 1;  // group
};

// Which devices each group has, by stage and replica.
struct Placement {
  std::vector<PlacedNode> nodes;
  std::vector<std::vector<std::vector<DeviceId>>> devices;
};

// A node a group where the plan has as many nodes as groups; else groups fill nodes in the order of the plan.
class Placer {
 public:
  Placer(const SailorPlan& plan, const SailorTables& tables) : tables_(tables) {
    const std::size_t groups = plan.stages.size() * static_cast<std::size_t>(plan.data_parallel);
    share_ = groups != static_cast<std::size_t>(plan.nodes);
  }

  [[nodiscard]] std::pair<std::size_t, int> place(const SailorGroup& group) {
    for (std::size_t n = 0; share_ && n < nodes_.size(); ++n) {
      PlacedNode& node = nodes_[n];
      if (node.gpu_type == group.gpu_type && node.devices - node.used >= group.tensor_parallel) {
        return {n, take(node, group)};
      }
    }
    const int devices = std::max(tables_.gpu(group.gpu_type)->per_node, group.tensor_parallel);
    nodes_.push_back({group.gpu_type, devices});
    return {nodes_.size() - 1, take(nodes_.back(), group)};
  }

  [[nodiscard]] const std::vector<PlacedNode>& nodes() const { return nodes_; }

 private:
  static int take(PlacedNode& node, const SailorGroup& group) {
    const int first = node.used;
    node.used += group.tensor_parallel;
    node.widest = std::max(node.widest, group.tensor_parallel);
    return first;
  }

  const SailorTables& tables_;
  bool share_ = false;
  std::vector<PlacedNode> nodes_;
};

std::vector<int> first_devices(const std::vector<PlacedNode>& nodes) {
  std::vector<int> first;
  int next = 0;
  for (const PlacedNode& node : nodes) {
    first.push_back(next);
    next += node.devices;
  }
  return first;
}

std::vector<DeviceId> devices_from(int first, int count) {
  std::vector<DeviceId> out(static_cast<std::size_t>(count));
  for (DeviceId& device : out) device = DeviceId{first++};
  return out;
}

Placement place(const SailorPlan& plan, const SailorTables& tables) {
  Placer placer(plan, tables);
  std::vector<std::vector<std::pair<std::size_t, int>>> places;  // node and first device in it
  for (const SailorStage& stage : plan.stages) {
    places.emplace_back();
    for (const SailorGroup& group : stage.replicas) places.back().push_back(placer.place(group));
  }
  Placement out{placer.nodes(), {}};
  const std::vector<int> first = first_devices(out.nodes);
  for (std::size_t j = 0; j < places.size(); ++j) {
    out.devices.emplace_back();
    for (std::size_t k = 0; k < places[j].size(); ++k) {
      const auto& [node, offset] = places[j][k];
      out.devices.back().push_back(
          devices_from(first[node] + offset, plan.stages[j].replicas[k].tensor_parallel));
    }
  }
  return out;
}

// The most that a node exchanges with another one of the plan.
std::optional<double> network_bytes_per_s(const std::vector<PlacedNode>& nodes, std::size_t of,
                                          const SailorTables& tables) {
  std::optional<double> maximum;
  for (std::size_t other = 0; other < nodes.size(); ++other) {
    if (other == of) continue;
    const int devices = std::min(nodes[of].devices, nodes[other].devices);
    const auto rate = tables.network_bytes_per_s(nodes[of].gpu_type, nodes[other].gpu_type, devices);
    if (rate && (!maximum || *maximum < *rate)) maximum = rate;
  }
  return maximum;
}

std::optional<LinkRate> link_within(const PlacedNode& node, const SailorTables& tables) {
  return node.devices == 1 ? std::nullopt : tables.within_node(node.gpu_type, std::max(2, node.widest));
}

Node node_of(const std::vector<PlacedNode>& nodes, std::size_t number, const SailorTables& tables) {
  const PlacedNode& placed = nodes[number];
  Node node;
  node.name = "node" + std::to_string(number);
  node.region = "region";
  node.zone = "zone";
  node.device_type = tables.gpu(placed.gpu_type)->name;
  node.devices = placed.devices;
  node.link = link_within(placed, tables);
  node.network_bytes_per_s = network_bytes_per_s(nodes, number, tables);
  return node;
}

// Rates between nodes: the first pair's for all, and exceptions for those that differ.
class NodeLinks {
 public:
  explicit NodeLinks(const SailorTables& tables) : tables_(tables) {}

  // One of the two directions must have a curve.
  void add(const std::string& a, const std::string& a_type, const std::string& b, const std::string& b_type) {
    const auto there = tables_.between_nodes(a_type, b_type);
    const auto back = tables_.between_nodes(b_type, a_type);
    const LinkRate& to = there ? *there : *back;
    const LinkRate& from = back ? *back : *there;
    if (levels_.empty()) levels_.emplace(LinkLevel::within_zone, to);
    if (to == from) {
      except(a, b, to, true);
    } else {
      except(a, b, to, false);
      except(b, a, from, false);
    }
  }

  [[nodiscard]] const std::map<LinkLevel, LinkRate>& levels() const { return levels_; }
  [[nodiscard]] const std::vector<LinkException>& exceptions() const { return exceptions_; }

 private:
  void except(const std::string& from, const std::string& to, const LinkRate& rate, bool both_ways) {
    if (rate == levels_.at(LinkLevel::within_zone)) return;
    exceptions_.push_back({LinkScope::node, from, to, rate, both_ways});
  }

  const SailorTables& tables_;
  std::map<LinkLevel, LinkRate> levels_;
  std::vector<LinkException> exceptions_;
};

std::map<std::string, DeviceType> types_of(const std::vector<PlacedNode>& nodes, const SailorTables& tables) {
  std::map<std::string, DeviceType> types;
  for (const PlacedNode& node : nodes) {
    const SailorGpu& gpu = *tables.gpu(node.gpu_type);
    types.emplace(gpu.name, gpu.type);
  }
  return types;
}

// Which curve the cluster would need and the files lack; empty where there is none.
std::string missing_curve(const std::vector<PlacedNode>& nodes, const SailorTables& tables) {
  for (const PlacedNode& a : nodes) {
    if (a.devices > 1 && !link_within(a, tables)) return "no curve of the links within a node of " + a.gpu_type;
    for (const PlacedNode& b : nodes) {
      const bool has_any =
          tables.between_nodes(a.gpu_type, b.gpu_type) || tables.between_nodes(b.gpu_type, a.gpu_type);
      if (&a != &b && !has_any) return "no curve of the network between " + a.gpu_type + " and " + b.gpu_type;
    }
  }
  return "";
}

// Named such as "GH200 (CSCS Alps Clariden), 4 x GH-96".
Cluster cluster_of(const SailorPlan& plan, const std::vector<PlacedNode>& placed, const SailorTables& tables) {
  std::vector<Node> nodes;
  std::map<std::string, int> count;
  for (std::size_t n = 0; n < placed.size(); ++n) {
    nodes.push_back(node_of(placed, n, tables));
    ++count[placed[n].gpu_type];
  }
  NodeLinks links(tables);
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < nodes.size(); ++b) {
      links.add(nodes[a].name, placed[a].gpu_type, nodes[b].name, placed[b].gpu_type);
    }
  }
  std::string name = plan.cluster;
  for (const auto& [type, nodes_of_type] : count) name += ", " + std::to_string(nodes_of_type) + " x " + type;
  return {name, types_of(placed, tables), std::move(nodes), links.levels(), links.exceptions()};
}

// ---- the run ----

// Decoder layers of a stage; embedding and head belong to whoever is first and last.
int decoder_layers(const SailorStage& stage, const Model& model) {
  return std::min(stage.last_layer, model.layers) - std::max(stage.first_layer, 1) + 1;
}

Plan plan_of(const SailorPlan& plan, const Placement& placement, const Model& model, const Workflow& workflow) {
  TaskPlan task;
  task.micro_batch_sequences = plan.micro_batch_sequences;
  task.execution.semantics = "megatron";
  for (int k = 0; k < plan.data_parallel; ++k) {
    Replica replica;
    replica.batch_share = 1.0 / plan.data_parallel;
    for (std::size_t j = 0; j < plan.stages.size(); ++j) {
      replica.stages.push_back(
          {decoder_layers(plan.stages[j], model), placement.devices[j][static_cast<std::size_t>(k)]});
    }
    task.replicas.push_back(std::move(replica));
  }
  Plan out;
  out.name = plan.id;
  out.tasks.emplace(workflow.tasks.front().name, std::move(task));
  return out;
}

Run run_of(const SailorPlan& plan) {
  Run run;
  run.name = plan.id;
  run.source = RunSource::published;
  run.framework = "megatron-deepspeed";
  run.iteration.samples_s = {plan.iteration_s};
  run.peak_memory_bytes = plan.peak_memory_bytes;
  run.notes = {{"source", kSource},
               {"grade", "A"},
               {"model", plan.model},
               {"gpu", plan.cluster},
               {"left unsaid", kLeftUnsaid},
               {"gradient synchronization within it (s)", Json(plan.gradient_sync_s).dump()}};
  if (!plan.remark.empty()) run.notes["remark"] = plan.remark;
  return run;
}

// Adds the run; gives the reason where it cannot, empty where it did.
std::string import_plan(Imported& imported, const SailorPlan& plan, const SailorTables& tables) {
  const SailorModel& known = *tables.model(plan.model);
  const Placement placement = place(plan, tables);
  if (placement.nodes.size() != static_cast<std::size_t>(plan.nodes)) {
    return "its replicas do not fit the number of its nodes";
  }
  std::string missing = missing_curve(placement.nodes, tables);
  if (!missing.empty()) return missing;
  const Cluster cluster = cluster_of(plan, placement.nodes, tables);
  const Workflow workflow = training_step(plan.model + ", " + std::to_string(plan.sequences) + " sequences",
                                          known.model, plan.sequences, plan.tokens, Precision::tf32);
  const Plan layout = plan_of(plan, placement, known.model, workflow);
  std::string refused = why_refused(layout, workflow, cluster);
  if (refused.empty()) add_run(imported.runs, run_of(plan), cluster, workflow, layout);
  return refused;
}

}  // namespace

std::vector<SailorPlan> parse_sailor_plans(const JsonView& document) {
  document.allow_only({"schema", "about", "plans"});
  std::vector<SailorPlan> plans;
  for (const JsonView& plan : document.required("plans").items()) plans.push_back(parse_plan(plan));
  return plans;
}

void import_sailor_plans(Imported& imported, const std::vector<SailorPlan>& plans, const SailorTables& tables) {
  for (const SailorPlan& plan : plans) {
    std::string reason = copied_from(plan, plans);
    if (reason.empty()) reason = unknown_name(plan, tables);
    if (reason.empty()) reason = contradiction(plan, *tables.model(plan.model));
    if (reason.empty()) reason = import_plan(imported, plan, tables);
    if (!reason.empty()) imported.left_out.push_back({plan.id, reason});
  }
}

}  // namespace sextant
