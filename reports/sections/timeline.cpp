#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/plan_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {

namespace {

Table timeline_table(const Prediction& prediction) {
  Table table{"timeline",
              "Start and end of each task",
              {{"task", "task"}, {"devices", "devices"}, {"start_s", "start", true}, {"end_s", "end", true}},
              {}};
  for (const std::string& task : tasks_of(prediction.tasks)) {
    const TaskPrediction& predicted = prediction.tasks.at(task);
    table.rows.push_back({{shown_name(task), task},
                          device_ranges(predicted.devices),
                          seconds_cell(predicted.start_s),
                          seconds_cell(predicted.end_s)});
  }
  return table;
}

}  // namespace

std::optional<Section> timeline_section(const ReportInput& input) {
  if (!input.prediction) return std::nullopt;
  const Prediction& prediction = input.prediction->content;
  std::string text = "One iteration of workflow " + prediction.workflow +
                     " as predicted: " + format_seconds(prediction.iteration_s);
  if (prediction.iteration_interval_s) {
    text += " (90 % interval " + shown_interval(*prediction.iteration_interval_s) + ")";
  }
  text += ". A task starts when the tasks that it depends on have ended and its devices are free.";
  if (prediction.weight_sync_s > 0) {
    text += " Sending the new weights to the devices that use them takes " +
            format_seconds(prediction.weight_sync_s) + " and has no bar";
    if (prediction.weight_sync_hidden_s > 0)
      text += "; " + format_seconds(prediction.weight_sync_hidden_s) +
              " of it pass while another task still trains";
    text += ".";
  }
  Section section{"timeline", "Timeline of one iteration", {Text{text}}};
  if (!prediction.bottleneck.empty()) section.blocks.emplace_back(Text{as_sentence(prediction.bottleneck)});
  const Cluster* cluster = input.cluster ? &input.cluster->content : nullptr;
  Json spec = charts::timeline(prediction, cluster);
  if (!spec.is_null()) {
    section.blocks.emplace_back(Chart{"timeline",
                                      "Time for which each task occupies each device. Gaps are idle time. If "
                                      "there are many devices, those with the same work share a row.",
                                      std::move(spec)});
  }
  if (!prediction.tasks.empty()) section.blocks.emplace_back(timeline_table(prediction));
  return section;
}

}  // namespace sextant::inline reports
