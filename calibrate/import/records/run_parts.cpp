#include "calibrate/import/records/run_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/text.h"
#include "sextant/error.h"
#include "sextant/json.h"

namespace sextant::inline calibrate {
namespace {

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

TaskPlan task_of(const Degrees& degrees, int layers, bool has_stages_outermost) {
  const int width = degrees.tensor_parallel * degrees.context_parallel;
  TaskPlan task;
  task.replicas = expand_layout(
      {degrees.data_parallel, degrees.pipeline_parallel, width, DeviceId{degrees.first}, has_stages_outermost},
      layers);
  task.execution.context_parallel = degrees.context_parallel;
  return task;
}

}  // namespace

Cluster uniform_cluster(const Gpu& gpu, int gpus, int per_node) {
  SEXTANT_CHECK(gpus >= 1 && per_node >= 0);
  const int in_node = std::min(gpus, per_node > 0 ? per_node : gpu.per_node);
  const bool in_racks = gpu.per_rack > 0;
  // The fewest racks, with the same number of nodes each: a batch system that is asked for whole groups inside
  // a rack gives 16 of 18 trays if groups have 64 members.
  const int max_in_rack = std::max(1, gpu.per_rack / in_node);
  const int all_nodes = (gpus + in_node - 1) / in_node;
  const int racks = (all_nodes + max_in_rack - 1) / max_in_rack;
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

TaskPlan uniform_task(const Degrees& degrees, int layers) { return task_of(degrees, layers, false); }

TaskPlan trainer_task(const Degrees& degrees, int layers) { return task_of(degrees, layers, true); }

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

}  // namespace sextant::inline calibrate
