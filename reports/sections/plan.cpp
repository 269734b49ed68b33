#include <algorithm>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/plan_charts.h"
#include "reports/content/names.h"
#include "reports/sections/execution_table.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

std::string shown_range(int low, int high) {
  return low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
}

// "2 + 2" layers of the stages of a replica.
std::string stage_layers(const Replica& replica) {
  std::string text;
  for (const Stage& stage : replica.stages) text += (text.empty() ? "" : " + ") + std::to_string(stage.layers);
  return text;
}

std::string shown_tensor_parallel(const TaskPlan& task, const Replica& replica) {
  int minimum = task.tensor_parallel(replica.stages.front());
  int maximum = minimum;
  for (const Stage& stage : replica.stages) {
    minimum = std::min(minimum, task.tensor_parallel(stage));
    maximum = std::max(maximum, task.tensor_parallel(stage));
  }
  return shown_range(minimum, maximum);
}

bool is_dealt_by_length(const Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(),
                     [](const auto& task) { return deals_by_length(task.second); });
}

// Which part of the batch by length a replica gets: "0.0 % to 40.0 %".
std::string length_part(const TaskPlan& task, const Replica& replica) {
  if (!deals_by_length(task)) return "all";
  double shorter = 0, alike = 0;
  for (const Replica& other : task.replicas) {
    if (other.length_rank < replica.length_rank) shorter += other.batch_share;
    if (other.length_rank == replica.length_rank) alike += other.batch_share;
  }
  return percent_cell(shorter).text + " to " + percent_cell(shorter + alike).text;
}

// All that a row says about a replica except its devices, whose types count if the cluster is known.
struct ReplicaKey {
  double batch_share;
  std::string layers;
  std::string tensor_parallel;
  std::string lengths;
  std::vector<std::string> device_types;
  bool operator==(const ReplicaKey&) const = default;
};

struct EqualReplicas {
  ReplicaKey key;
  std::size_t stages = 0;
  std::vector<int> numbers;
  std::vector<DeviceId> devices;
};

ReplicaKey key_of(const TaskPlan& task, const Replica& replica, const Cluster* cluster) {
  std::vector<std::string> types;
  for (const DeviceId device : replica.devices()) {
    if (cluster != nullptr && cluster->contains(device)) types.push_back(cluster->type_name(device));
  }
  return {replica.batch_share, stage_layers(replica), shown_tensor_parallel(task, replica),
          length_part(task, replica), std::move(types)};
}

std::vector<EqualReplicas> equal_replicas(const TaskPlan& task, const Cluster* cluster) {
  std::vector<EqualReplicas> groups;
  for (std::size_t r = 0; r < task.replicas.size(); ++r) {
    const Replica& replica = task.replicas[r];
    if (replica.stages.empty()) continue;
    const ReplicaKey key = key_of(task, replica, cluster);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.key == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), {key, replica.stages.size(), {}, {}});
    group->numbers.push_back(static_cast<int>(r));
    const std::vector<DeviceId> devices = replica.devices();
    group->devices.insert(group->devices.end(), devices.begin(), devices.end());
  }
  return groups;
}

// "0-79 (80)", or the number of a single replica.
Cell numbers_cell(const std::vector<int>& numbers) {
  const std::string count = numbers.size() > 1 ? " (" + std::to_string(numbers.size()) + ")" : "";
  return {number_ranges(numbers) + count, Json(numbers)};
}

Table task_table(const Plan& plan, const Cluster* cluster) {
  Table table{"plan_tasks",
              "Replicas of each task; equal ones share a row",
              {{"task", "task"},
               {"replicas", "replicas"},
               {"batch_share", "batch share of each", true},
               {"pipeline_parallel", "stages", true},
               {"layers", "layers of the stages"},
               {"tensor_parallel", "tensor parallel"},
               {"devices", "devices"}},
              {}};
  const bool by_length = is_dealt_by_length(plan);
  if (by_length) table.columns.push_back({"lengths", "part of the sequences, shortest first"});
  for (const std::string& name : tasks_of(plan.tasks)) {
    for (const EqualReplicas& group : equal_replicas(plan.tasks.at(name), cluster)) {
      table.rows.push_back({{shown_name(name), name},
                            numbers_cell(group.numbers),
                            percent_cell(group.key.batch_share),
                            count_cell(group.stages),
                            group.key.layers,
                            group.key.tensor_parallel,
                            device_ranges(group.devices)});
      if (by_length) table.rows.back().emplace_back(group.key.lengths);
    }
  }
  return table;
}

}  // namespace

std::optional<Section> plan_section(const ReportInput& input) {
  if (!input.plan) return std::nullopt;
  const Plan& plan = input.plan->content;
  Section section{"plan", "The plan", {}};
  section.blocks.emplace_back(
      Text{"Placement of each task: a replica is a complete copy of the model (data parallel), each stage of "
           "it holds some of the layers (pipeline parallel), and the devices of a stage split its matrices "
           "(tensor parallel)."});
  Json spec = charts::occupancy(plan);
  if (!spec.is_null()) {
    section.blocks.emplace_back(
        Chart{"occupancy",
              "Devices of each task; r and s are the replica and the stage that a device holds. "
              "Tasks that share a column share the device.",
              std::move(spec)});
  }
  if (!plan.tasks.empty()) section.blocks.emplace_back(execution_table(plan));
  section.blocks.emplace_back(task_table(plan, input.cluster ? &input.cluster->content : nullptr));
  return section;
}

}  // namespace sextant::inline reports
