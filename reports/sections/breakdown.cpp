#include "core/json_value.h"
#include "reports/charts/plan_charts.h"
#include "reports/sections/names.h"
#include "reports/sections/sections.h"

namespace sextant {
namespace {

std::vector<Term> used_terms(const Prediction& prediction) {
  std::set<Term> terms;
  for (const auto& [task, predicted] : prediction.tasks) {
    for (const auto& [term, time_s] : predicted.terms_s) terms.insert(term);
  }
  return {terms.begin(), terms.end()};
}

Table terms_table(const Prediction& prediction) {
  Table table{"terms",
              "Predicted time of each task and its terms",
              {{"task", "task"},
               {"devices", "devices"},
               {"time_s", "time", true},
               {"interval_s", "90 % interval", true}},
              {}};
  const std::vector<Term> terms = used_terms(prediction);
  for (const Term term : terms) {
    table.columns.push_back({std::string(name_of(term)) + "_s", shown_name(name_of(term)), true});
  }
  for (const std::string& task : tasks_of(prediction.tasks)) {
    const TaskPrediction& predicted = prediction.tasks.at(task);
    std::vector<Cell> row = {{shown_name(task), task},
                             device_ranges(predicted.devices),
                             seconds_cell(predicted.time_s),
                             empty_cell()};
    if (const auto& interval = predicted.interval_s) {
      row.back() = {shown_interval(*interval), Json::array({interval->low, interval->high})};
    }
    for (const Term term : terms) {
      const auto found = predicted.terms_s.find(term);
      row.push_back(found == predicted.terms_s.end() ? empty_cell() : seconds_cell(found->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::optional<Section> breakdown_section(const ReportInput& input) {
  if (!input.prediction || input.prediction->content.tasks.empty()) return std::nullopt;
  const Prediction& prediction = input.prediction->content;
  Section section{"breakdown", "Where the time of each task goes", {}};
  section.blocks.emplace_back(
      Text{"Terms of the cost model on the slowest replica and stage of each task; they add up to the task's "
           "predicted "
           "time. Shorten the longest term of a task on the longest path of the timeline first."});
  Json seconds = charts::breakdown_seconds(prediction);
  if (!seconds.is_null()) {
    section.blocks.emplace_back(
        Chart{"breakdown_seconds", "Predicted time by term.", std::move(seconds), false});
    section.blocks.emplace_back(Chart{"breakdown_shares",
                                      "The same as shares, so that short tasks can be read too.",
                                      charts::breakdown_shares(prediction), false});
  }
  section.blocks.emplace_back(terms_table(prediction));
  return section;
}

}  // namespace sextant
