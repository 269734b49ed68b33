#include "calibrate/accuracy.h"
#include "core/units.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

const ComparedTime* compared_iteration(const ReportInput& input, const std::string& run) {
  if (!input.accuracy) return nullptr;
  for (const ComparedTime& time : input.accuracy->content.times) {
    if (time.run == run && time.task == kIteration) return &time;
  }
  return nullptr;
}

void add_prediction(std::vector<Cell>& row, const ComparedTime* time) {
  if (time == nullptr) {
    row.insert(row.end(), 3, empty_cell());
    return;
  }
  row.push_back(seconds_cell(time->predicted_s));
  row.push_back(percent_cell(time->predicted_s / time->measured_s - 1));
  row.emplace_back(time->held_out ? "held out" : "in sample");
}

std::vector<Cell> run_row(const Run& run) {
  return {run.name,
          run.workflow,
          run.plan,
          shown_name(run.source),
          run.framework.empty() ? empty_cell() : Cell(run.framework),
          count_cell(run.iteration.samples_s.size()),
          run.iteration.empty() ? empty_cell() : seconds_cell(run.iteration.median_s()),
          run.iteration.empty() ? empty_cell() : percent_cell(run.iteration.spread_fraction())};
}

Table run_table(const ReportInput& input) {
  Table table{"runs",
              "Measured iterations",
              {{"name", "run"},
               {"workflow", "workflow"},
               {"plan", "plan"},
               {"source", "source"},
               {"framework", "framework"},
               {"iterations", "iterations", true},
               {"median_s", "median", true},
               {"spread_fraction", "spread ±", true}},
              {}};
  const bool has_clusters = input.runs->content.clusters.size() > 1;
  if (has_clusters) table.columns.push_back({"cluster", "cluster"});
  if (input.accuracy) {
    table.columns.push_back({"predicted_s", "predicted", true});
    table.columns.push_back({"error_fraction", "error", true});
    table.columns.push_back({"set", "set"});
  }
  for (const Run& run : input.runs->content.runs) {
    std::vector<Cell> row = run_row(run);
    if (has_clusters) row.emplace_back(run.cluster);
    if (input.accuracy) add_prediction(row, compared_iteration(input, run.name));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table task_time_table(const Runs& runs) {
  std::set<std::string> names;
  for (const Run& run : runs.runs) {
    for (const auto& [task, timing] : run.tasks) names.insert(task);
  }
  Table table{"run_tasks", "Measured task times (medians)", {{"name", "run"}}, {}, true};
  const std::vector<std::string> tasks = in_task_order(names);
  for (const std::string& task : tasks) table.columns.push_back({task + "_s", shown_name(task), true});
  for (const Run& run : runs.runs) {
    std::vector<Cell> row = {run.name};
    for (const std::string& task : tasks) {
      const auto found = run.tasks.find(task);
      row.push_back(found == run.tasks.end() ? empty_cell() : seconds_cell(found->second.median_s()));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::optional<Section> runs_section(const ReportInput& input) {
  if (!input.runs || input.runs->content.runs.empty()) return std::nullopt;
  Section section{"runs", "Measured runs", {}};
  section.blocks.emplace_back(
      Text{"Wall time of whole iterations: median of the repetitions; the spread is half the 95 % confidence "
           "interval of the median, relative to the median."});
  if (input.runs->content.clusters.size() == 1) {
    section.blocks.emplace_back(
        Text{"All runs are on cluster " + input.runs->content.clusters.begin()->first + "."});
  }
  section.blocks.emplace_back(run_table(input));
  section.blocks.emplace_back(task_time_table(input.runs->content));
  return section;
}

}  // namespace sextant::inline reports
