#include "calibrate/accuracy.h"
#include "calibrate/ranking.h"
#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/accuracy_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

using Row = std::vector<Cell>;

Row summary_row(const std::string& what, const ErrorSummary& summary) {
  if (summary.count == 0) {
    return {what, count_cell(0), empty_cell(), empty_cell(), empty_cell(), empty_cell()};
  }
  return {what,
          count_cell(static_cast<std::size_t>(summary.count)),
          percent_cell(summary.mape),
          percent_cell(summary.median),
          percent_cell(summary.p90),
          percent_cell(summary.worst)};
}

Table summary_table(const Accuracy& accuracy) {
  Table table{"errors",
              "Errors |predicted / measured − 1|",
              {{"times", "of"},
               {"count", "count", true},
               {"mape", "mean (MAPE)", true},
               {"median", "median", true},
               {"p90", "90 % below", true},
               {"worst", "worst", true}},
              {}};
  table.rows.push_back(summary_row("held out: all tasks", accuracy.held_out_tasks));
  table.rows.push_back(summary_row("held out: iterations", accuracy.held_out_iterations));
  for (const std::string& task : tasks_of(accuracy.held_out_by_task)) {
    table.rows.push_back(summary_row("held out: " + shown_name(task), accuracy.held_out_by_task.at(task)));
  }
  if (!accuracy.memories.empty()) {
    table.rows.push_back(summary_row("held out: memory", accuracy.held_out_memories));
  }
  table.rows.push_back(summary_row("in sample: all tasks", accuracy.in_sample_tasks));
  table.rows.push_back(summary_row("in sample: iterations", accuracy.in_sample_iterations));
  if (!accuracy.memories.empty()) {
    table.rows.push_back(summary_row("in sample: memory", accuracy.in_sample_memories));
  }
  return table;
}

Table memories_table(const Accuracy& accuracy) {
  Table table{"compared_memories",
              "All compared memory peaks",
              {{"run", "run"},
               {"held_out", "set"},
               {"measured_bytes", "measured", true},
               {"predicted_bytes", "predicted", true},
               {"error_fraction", "error", true}},
              {},
              true};
  for (const ComparedMemory& memory : accuracy.memories) {
    table.rows.push_back({memory.run,
                          {memory.held_out ? "held out" : "in sample", memory.held_out},
                          bytes_cell(memory.measured_bytes),
                          bytes_cell(memory.predicted_bytes),
                          percent_cell(memory.predicted_bytes / memory.measured_bytes - 1)});
  }
  return table;
}

Table times_table(const Accuracy& accuracy) {
  Table table{"compared_times",
              "All compared times",
              {{"run", "run"},
               {"task", "task"},
               {"held_out", "set"},
               {"measured_s", "measured", true},
               {"measured_spread_fraction", "spread", true},
               {"predicted_s", "predicted", true},
               {"error_fraction", "error", true}},
              {},
              true};
  for (const ComparedTime& time : accuracy.times) {
    table.rows.push_back({time.run,
                          {shown_name(time.task), time.task},
                          {time.held_out ? "held out" : "in sample", time.held_out},
                          seconds_cell(time.measured_s),
                          percent_cell(time.measured_spread_fraction),
                          seconds_cell(time.predicted_s),
                          percent_cell(time.predicted_s / time.measured_s - 1)});
  }
  return table;
}

std::string reading(const Accuracy& accuracy) {
  std::string text =
      "Each point compares one measured time of one run with the prediction of the fitted model. Held-out runs "
      "were not used by the fit that predicts them; only their errors show how far to trust the model on a new "
      "plan. In-sample errors are those of runs that the fit used.";
  if (accuracy.held_out_iterations.count > 1) {
    text += " Rank correlation of predicted and measured iteration times (Spearman, held out): " +
            format_number(accuracy.rank_correlation) + ".";
  }
  if (accuracy.held_out_iterations.count > 0) text += " " + describe(accuracy.order);
  if (accuracy.has_intervals) {
    text += " Held-out times inside their 90 % interval: " + format_percent(accuracy.interval_coverage) + ".";
  }
  return text;
}

void add_chart(Section& section, const char* id, const char* caption, Json spec, bool wide) {
  if (!spec.is_null()) section.blocks.emplace_back(Chart{id, caption, std::move(spec), wide});
}

}  // namespace

std::optional<Section> accuracy_section(const ReportInput& input) {
  if (!input.accuracy) return std::nullopt;
  const Accuracy& accuracy = input.accuracy->content;
  std::vector<ComparedTime> tasks;
  std::vector<ComparedTime> iterations;
  for (const ComparedTime& time : accuracy.times)
    (time.task == kIteration ? iterations : tasks).push_back(time);

  Section section{"accuracy", "Predicted against measured", {Text{reading(accuracy)}}};
  add_chart(section, "tasks_scatter",
            "Times of tasks. Prediction and measurement are equal on the dashed line; the band is ±15 %. Click "
            "a task in the legend to see only this task.",
            charts::predicted_against_measured(tasks), false);
  add_chart(section, "iterations_scatter", "Times of whole iterations, in the same form.",
            charts::predicted_against_measured(iterations), false);
  add_chart(section, "errors_by_task",
            "Errors of held-out times; right of zero the prediction is too long. Grey ticks are medians, the "
            "band is ±15 %.",
            charts::errors_by_task(accuracy.times), true);
  section.blocks.emplace_back(summary_table(accuracy));
  if (!accuracy.times.empty()) section.blocks.emplace_back(times_table(accuracy));
  if (!accuracy.memories.empty()) section.blocks.emplace_back(memories_table(accuracy));
  return section;
}

}  // namespace sextant::inline reports
