#include <algorithm>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/plan_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant {
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

std::string stage_shards(const Replica& replica) {
  int minimum = replica.stages.front().width();
  int maximum = minimum;
  for (const Stage& stage : replica.stages) {
    minimum = std::min(minimum, stage.width());
    maximum = std::max(maximum, stage.width());
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

Table task_table(const Plan& plan) {
  Table table{"plan_tasks",
              "Replicas of each task",
              {{"task", "task"},
               {"replica", "replica", true},
               {"batch_share", "share of the batch", true},
               {"pipeline_parallel", "stages", true},
               {"layers", "layers of the stages"},
               {"tensor_parallel", "tensor parallel"},
               {"devices", "devices"},
               {"micro_batch_sequences", "micro-batch", true},
               {"decode_batch_sequences", "decode batch", true},
               {"recompute", "recompute"}},
              {}};
  const bool by_length = is_dealt_by_length(plan);
  if (by_length) table.columns.push_back({"lengths", "part of the sequences, shortest first"});
  for (const std::string& name : tasks_of(plan.tasks)) {
    const TaskPlan& task = plan.tasks.at(name);
    for (std::size_t r = 0; r < task.replicas.size(); ++r) {
      const Replica& replica = task.replicas[r];
      if (replica.stages.empty()) continue;
      const Cell decode_batch = task.decode_batch_sequences > 0
                                    ? count_cell(static_cast<std::size_t>(task.decode_batch_sequences))
                                    : Cell("all", 0);
      table.rows.push_back({{shown_name(name), name},
                            count_cell(r),
                            percent_cell(replica.batch_share),
                            count_cell(replica.stages.size()),
                            stage_layers(replica),
                            stage_shards(replica),
                            device_ranges(replica.devices()),
                            count_cell(static_cast<std::size_t>(task.micro_batch_sequences)),
                            decode_batch,
                            {std::string(name_of(task.recompute)), task.recompute != Recompute::none}});
      if (by_length) table.rows.back().emplace_back(length_part(task, replica));
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
  section.blocks.emplace_back(task_table(plan));
  return section;
}

}  // namespace sextant
