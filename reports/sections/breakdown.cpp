#include <cmath>

#include "core/json_value.h"
#include "reports/charts/plan_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

// Terms that take time in some task.
std::vector<Term> used_terms(const Prediction& prediction) {
  std::set<Term> terms;
  for (const auto& [task, predicted] : prediction.tasks) {
    for (const auto& [term, time_s] : predicted.terms_s) {
      if (time_s > 0) terms.insert(term);
    }
  }
  return {terms.begin(), terms.end()};
}

void add_iteration_row(Table& table, const char* what, const char* name, double time_s) {
  std::vector<Cell> row(table.columns.size(), empty_cell());
  row[0] = {what, name};
  row[2] = seconds_cell(time_s);
  table.rows.push_back(std::move(row));
}

// The time by which the tasks and the other parts of the iteration exceed it because they run at the same time;
// negative for a document without the time of the controller. Rounding counts as zero.
double excess_of_rows(const Prediction& prediction) {
  constexpr double kRounding = 1e-6;  // relative
  double sum_s =
      prediction.weight_sync_s + prediction.data_s + prediction.controller_s + prediction.rule_reward_s;
  for (const auto& [task, predicted] : prediction.tasks) sum_s += predicted.time_s;
  const double excess_s = sum_s - prediction.iteration_s;
  return std::abs(excess_s) > kRounding * prediction.iteration_s ? excess_s : 0;
}

// Adds the parts of an iteration that are no tasks, and the iteration, to which all rows sum.
void add_iteration_rows(Table& table, const Prediction& prediction) {
  const auto set_interval = [&](const std::optional<Interval>& interval) {
    if (interval)
      table.rows.back()[3] = {shown_interval(*interval), Json::array({interval->low, interval->high})};
  };
  const auto add = [&](const char* what, const char* name, double time_s) {
    if (time_s > 0) add_iteration_row(table, what, name, time_s);
  };
  add("weight sync", "weight_sync", prediction.weight_sync_s);
  if (prediction.weight_sync_s > 0) set_interval(prediction.weight_sync_interval_s);
  add("data between tasks", "data", prediction.data_s);
  add("controller", "controller", prediction.controller_s);
  add("rule reward", "rule_reward", prediction.rule_reward_s);
  const double excess_s = excess_of_rows(prediction);
  add("not in the document", "not_stated", -excess_s);
  if (excess_s > 0) add_iteration_row(table, "saved by running at the same time", "overlapped", -excess_s);
  add_iteration_row(table, "iteration", "iteration", prediction.iteration_s);
  set_interval(prediction.iteration_interval_s);
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
  add_iteration_rows(table, prediction);
  return table;
}

std::string merged_text(const Prediction& prediction) {
  std::string names;
  for (const std::string& term : charts::merged_terms(prediction)) names += (names.empty() ? "" : ", ") + term;
  return names.empty() ? "" : " Other terms are the smallest: " + names + ". The table has all terms.";
}

}  // namespace

std::optional<Section> breakdown_section(const ReportInput& input) {
  if (!input.prediction || input.prediction->content.tasks.empty()) return std::nullopt;
  const Prediction& prediction = input.prediction->content;
  Section section{"breakdown", "Where the time of each task goes", {}};
  section.blocks.emplace_back(Text{
      "Terms of the cost model on the slowest replica and stage of each task; they add up to the task's "
      "predicted time. The times of the table's rows add up to the iteration, its last row. Start with the "
      "longest term of a task on the critical path of the timeline."});
  for (const std::string& note : prediction.notes) section.blocks.emplace_back(Text{as_sentence(note)});
  Json seconds = charts::breakdown_seconds(prediction);
  if (!seconds.is_null()) {
    section.blocks.emplace_back(Chart{"breakdown_seconds", "Predicted time by term." + merged_text(prediction),
                                      std::move(seconds), false});
    section.blocks.emplace_back(Chart{"breakdown_shares",
                                      "The same as shares of each task, which shows short tasks too.",
                                      charts::breakdown_shares(prediction), false});
  }
  section.blocks.emplace_back(terms_table(prediction));
  return section;
}

}  // namespace sextant::inline reports
