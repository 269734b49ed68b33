#include "calibrate/import/facts.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// "Qwen/Qwen3-8B" as "Qwen3-8B".
std::string without_publisher(const std::string& name) { return name.substr(name.find('/') + 1); }

// ---- reading ----

// The first of the figures for one quantity.
Quantity first_figure(const JsonView& figures) {
  const std::vector<JsonView> items = figures.items();
  if (items.empty()) {
    figures.fail("expected at least one figure");
  }
  return Quantity::parse(items.front());
}

std::optional<Quantity> optional_figure(const JsonView& gpu, std::string_view member) {
  const std::optional<JsonView> figures = gpu.optional(member);
  return figures ? std::optional(first_figure(*figures)) : std::nullopt;
}

// Where the figures count things.
int first_count(const JsonView& figures) {
  const Quantity figure = first_figure(figures);
  const int count = static_cast<int>(figure.value);
  if (count != figure.value) {
    figures.fail("expected an integer, got " + Json(figure.value).dump());
  }
  return count;
}

std::map<Precision, Quantity> parse_rates(const JsonView& view) {
  std::map<Precision, Quantity> out;
  for (const auto& [name, figures] : view.members()) {
    const Json key = name;
    out.emplace(parse_precision(JsonView(key, figures.path())), first_figure(figures));
  }
  return out;
}

LinkRate parse_link(const JsonView& gpu, const std::string& place) {
  return {first_figure(gpu.required(place + "_latency_s")), first_figure(gpu.required(place + "_bytes_per_s"))};
}

Gpu parse_gpu(const JsonView& view) {
  view.allow_only({"name", "flop_per_s", "memory_bytes", "memory_bytes_per_s", "within_node_bytes_per_s",
                   "within_node_latency_s", "between_nodes_bytes_per_s", "between_nodes_latency_s",
                   "network_bytes_per_s", "between_racks_bytes_per_s", "between_racks_latency_s",
                   "devices_per_rack", "host_bytes_per_s", "power_w", "devices_per_node",
                   "price_usd_per_hour"});
  Gpu out;
  out.name = view.required("name").text();
  out.type.flop_per_s = parse_rates(view.required("flop_per_s"));
  out.type.memory_bytes = first_figure(view.required("memory_bytes"));
  out.type.memory_bytes_per_s = first_figure(view.required("memory_bytes_per_s"));
  out.type.host_bytes_per_s = optional_figure(view, "host_bytes_per_s");
  out.type.price_usd_per_hour = optional_figure(view, "price_usd_per_hour");
  out.per_node = first_count(view.required("devices_per_node"));
  out.within_node = parse_link(view, "within_node");
  out.between_nodes = parse_link(view, "between_nodes");
  out.network_bytes_per_s = first_figure(view.required("network_bytes_per_s")).value;
  if (const auto per_rack = view.optional("devices_per_rack")) {
    out.per_rack = first_count(*per_rack);
    out.between_racks = parse_link(view, "between_racks");
  }
  return out;
}

// Names and aliases of one file, ignoring case.
template <typename Fact>
class Names {
 public:
  void add(const JsonView& view, const std::string& name, const Fact& fact) {
    if (!by_name_.emplace(lower(name), fact).second) {
      view.fail("another entry is named " + in_quotes(name) + " too, case ignored");
    }
  }

  void add_alias(const JsonView& view, const std::string& alias) {
    const auto found = by_name_.find(lower(view.text()));
    if (found == by_name_.end()) {
      view.fail("unknown name " + in_quotes(view.text()));
    }
    add(view, alias, found->second);
  }

  [[nodiscard]] std::map<std::string, Fact> take() { return std::move(by_name_); }

 private:
  std::map<std::string, Fact> by_name_;
};

void expect_schema(const JsonView& view, const std::string& kind) {
  const JsonView schema = view.required("schema");
  const std::string wanted = "sextant." + kind + "/1.";
  if (!schema.text().starts_with(wanted)) {
    schema.fail("expected " + wanted + "x, got " + in_quotes(schema.text()));
  }
}

// Both files: entries under `list`, then "aliases", "notes" and "left_out".
template <typename Fact, typename Parse>
std::map<std::string, Fact> parse_facts(const JsonView& view, const std::string& list, Parse parse,
                                        std::map<std::string, std::string>& left_out) {
  view.allow_only({"schema", list, "aliases", "notes", "left_out"});
  Names<Fact> names;
  for (const JsonView& entry : view.required(list).items()) {
    const Fact fact = parse(entry);
    names.add(entry, fact.name, fact);
  }
  for (const auto& [alias, name] : view.required("aliases").members()) {
    names.add_alias(name, alias);
  }
  for (const auto& [name, reason] : view.required("left_out").members()) {
    left_out.emplace(lower(name), reason.text());
  }
  return names.take();
}

// Puts the file's name before what is wrong in it.
template <typename Read>
auto in_file(const fs::path& file, Read read) {
  const std::string text = read_text_file(file);
  try {
    const Json json = parse_json(text);
    return read(JsonView(json));
  } catch (const Error& error) {
    throw Error(error.kind(), file.string() + ": " + error.what());
  }
}

const std::string* reason_for(const std::map<std::string, std::string>& left_out, const std::string& name) {
  const auto found = left_out.find(lower(name));
  return found == left_out.end() ? nullptr : &found->second;
}

// ---- documents ----

// Under `base`, or under "base (2)" and so on where something else is there; gives the key. The name inside a
// workflow or plan is made the key too.
template <typename T, typename Rename>
std::string key_for(const std::map<std::string, T>& known, const std::string& base, T& value, Rename rename) {
  for (int number = 1;; ++number) {
    std::string key = number == 1 ? base : base + " (" + std::to_string(number) + ")";
    rename(value, key);
    const auto found = known.find(key);
    if (found == known.end() || found->second == value) {
      return key;
    }
  }
}

template <typename T>
void set_name(T& value, const std::string& name) {
  value.name = name;
}

bool has_run(const Runs& document, const std::string& name) {
  return std::any_of(document.runs.begin(), document.runs.end(),
                     [&name](const Run& run) { return run.name == name; });
}

void check_together(const std::string& run, const Cluster& cluster, const Workflow& workflow,
                    const Plan& plan) {
  try {
    within("/workflow", [&] { workflow.check(); });
    within("/plan", [&] { check_plan(plan, workflow, cluster); });
  } catch (const Error& error) {
    throw Error(error.kind(), "run " + in_quotes(run) + ": " + error.what());
  }
}

Workflow one_task(const std::string& name, const Model& model, int sequences, Precision precision,
                  const Task& task) {
  Workflow workflow;
  workflow.name = name;
  workflow.algorithm = Algorithm::custom;
  workflow.models["actor"] = model;
  workflow.tasks = {task};
  workflow.prompts = sequences;
  workflow.precision = precision;
  return workflow;
}

}  // namespace

Facts Facts::load(const fs::path& gpus, const fs::path& models) {
  Facts facts;
  facts.gpus_ = in_file(gpus, [&facts](const JsonView& view) {
    expect_schema(view, "gpu_facts");
    return parse_facts<Gpu>(view, "gpus", parse_gpu, facts.gpus_left_out_);
  });
  facts.models_ = in_file(models, [&facts](const JsonView& view) {
    expect_schema(view, "model_facts");
    return parse_facts<Model>(view, "models", Model::parse, facts.models_left_out_);
  });
  return facts;
}

bool Facts::has_gpu(const std::string& name) const { return gpus_.contains(lower(name)); }

bool Facts::has_model(const std::string& name) const {
  return models_.contains(lower(name)) || models_.contains(lower(without_publisher(name)));
}

const Gpu& Facts::gpu(const std::string& name) const {
  if (!has_gpu(name)) {
    throw_bad_input(why_no_gpu(name));
  }
  return gpus_.at(lower(name));
}

const Model& Facts::model(const std::string& name) const {
  if (!has_model(name)) {
    throw_bad_input(why_no_model(name));
  }
  const auto found = models_.find(lower(name));
  return found != models_.end() ? found->second : models_.at(lower(without_publisher(name)));
}

std::string Facts::why_no_gpu(const std::string& name) const {
  const std::string* reason = reason_for(gpus_left_out_, name);
  return "no facts about GPU " + in_quotes(name) + (reason != nullptr ? ": " + *reason : "");
}

std::string Facts::why_no_model(const std::string& name) const {
  const std::string* reason = reason_for(models_left_out_, name);
  if (reason == nullptr) {
    reason = reason_for(models_left_out_, without_publisher(name));
  }
  return "the shape of model " + in_quotes(name) + " is not known" + (reason != nullptr ? ": " + *reason : "");
}

Cluster uniform_cluster(const Gpu& gpu, int gpus, int per_node) {
  SEXTANT_CHECK(gpus >= 1 && per_node >= 0);
  const int in_node = std::min(gpus, per_node > 0 ? per_node : gpu.per_node);
  const bool in_racks = gpu.per_rack > 0;
  // As few racks as it takes and as many nodes of each: a batch system asked for whole groups inside a rack
  // gives 16 of 18 trays where groups have 64 members.
  const int most_in_rack = std::max(1, gpu.per_rack / in_node);
  const int all_nodes = (gpus + in_node - 1) / in_node;
  const int racks = (all_nodes + most_in_rack - 1) / most_in_rack;
  const int nodes_in_rack = (all_nodes + racks - 1) / racks;
  std::vector<Node> nodes;
  for (int first = 0; first < gpus; first += in_node) {
    const int number = first / in_node;
    Node node;
    node.name = "node" + std::to_string(number);
    node.region = "region";
    node.zone = in_racks ? "rack" + std::to_string(number / nodes_in_rack) : "zone";
    node.device_type = gpu.name;
    node.devices = std::min(in_node, gpus - first);
    node.network_bytes_per_s = gpu.network_bytes_per_s * in_node / gpu.per_node;
    nodes.push_back(std::move(node));
  }
  std::map<LinkLevel, LinkRate> levels{{LinkLevel::within_node, gpu.within_node},
                                       {LinkLevel::within_zone, gpu.between_nodes}};
  if (in_racks) {
    levels.emplace(LinkLevel::within_region, *gpu.between_racks);
  }
  const std::string name = std::to_string(gpus) + " x " + gpu.name + ", " + std::to_string(in_node) + " a node";
  return {name, {{gpu.name, gpu.type}}, std::move(nodes), std::move(levels)};
}

TaskPlan uniform_task(const Degrees& degrees, int layers) {
  TaskPlan task;
  task.replicas = expand_layout({degrees.data_parallel, degrees.pipeline_parallel,
                                 degrees.tensor_parallel * degrees.context_parallel, DeviceId{degrees.first}},
                                layers);
  task.execution.context_parallel = degrees.context_parallel;
  return task;
}

Workflow training_step(const std::string& name, const Model& model, int sequences, double tokens,
                       Precision precision) {
  const Task task{task_names::kActorTraining, TaskKind::training, "actor", {}};
  Workflow workflow = one_task(name, model, sequences, precision, task);
  workflow.prompt_tokens = fixed_length(tokens);
  workflow.response_tokens = fixed_length(0);
  return workflow;
}

Workflow generation_batch(const std::string& name, const Model& model, int sequences, double prompt_tokens,
                          double response_tokens, Precision precision) {
  const Task task{task_names::kActorGeneration, TaskKind::generation, "actor", {}};
  Workflow workflow = one_task(name, model, sequences, precision, task);
  workflow.prompt_tokens = fixed_length(prompt_tokens);
  workflow.response_tokens = fixed_length(response_tokens);
  return workflow;
}

void add_run(Runs& runs, Run run, const Cluster& cluster, Workflow workflow, Plan plan) {
  if (has_run(runs, run.name)) {
    throw_bad_input("run " + in_quotes(run.name) + ": another run has this name");
  }
  check_together(run.name, cluster, workflow, plan);
  Cluster added = cluster;
  run.cluster = key_for(runs.clusters, cluster.name(), added, [](Cluster&, const std::string&) {});
  run.workflow = key_for(runs.workflows, std::string(workflow.name), workflow, set_name<Workflow>);
  run.plan = key_for(runs.plans, plan.name.empty() ? describe(plan) : plan.name, plan, set_name<Plan>);
  runs.clusters.emplace(run.cluster, std::move(added));
  runs.workflows.emplace(run.workflow, std::move(workflow));
  runs.plans.emplace(run.plan, std::move(plan));
  runs.runs.push_back(std::move(run));
}

std::string why_refused(const Plan& plan, const Workflow& workflow, const Cluster& cluster) {
  try {
    check_plan(plan, workflow, cluster);
  } catch (const Error& error) {
    return std::string("the plan cannot be run: ") + error.what();
  }
  return "";
}

}  // namespace sextant
