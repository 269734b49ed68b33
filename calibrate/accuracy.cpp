#include "calibrate/accuracy.h"

#include <cmath>

namespace sextant {
namespace {

ErrorSummary parse_summary(const JsonView& view) {
  view.allow_only({"count", "mape", "median", "p90", "worst"});
  ErrorSummary summary;
  summary.count = view.required("count").count(0);
  summary.mape = view.required("mape").non_negative();
  summary.median = view.required("median").non_negative();
  summary.p90 = view.required("p90").non_negative();
  summary.worst = view.required("worst").non_negative();
  return summary;
}

Json to_json(const ErrorSummary& summary) {
  return {{"count", summary.count},
          {"mape", summary.mape},
          {"median", summary.median},
          {"p90", summary.p90},
          {"worst", summary.worst}};
}

ComparedTime parse_time(const JsonView& view) {
  view.allow_only({"run", "task", "measured_s", "measured_spread_fraction", "predicted_s", "held_out"});
  ComparedTime time;
  time.run = view.required("run").text();
  time.task = view.required("task").text();
  time.measured_s = view.required("measured_s").non_negative();
  time.measured_spread_fraction = view.required("measured_spread_fraction").non_negative();
  time.predicted_s = view.required("predicted_s").non_negative();
  time.held_out = view.required("held_out").flag();
  return time;
}

Json to_json(const ComparedTime& time) {
  return {{"run", time.run},
          {"task", time.task},
          {"measured_s", time.measured_s},
          {"measured_spread_fraction", time.measured_spread_fraction},
          {"predicted_s", time.predicted_s},
          {"held_out", time.held_out}};
}

}  // namespace

double ComparedTime::error_fraction() const {
  return measured_s > 0 ? std::abs(predicted_s / measured_s - 1) : 0;
}

Accuracy Accuracy::parse(const JsonView& view) {
  view.allow_only({"times", "held_out_tasks", "held_out_iterations", "in_sample_tasks", "in_sample_iterations",
                   "held_out_by_task", "rank_correlation", "interval_coverage", "has_intervals"});
  Accuracy accuracy;
  for (const JsonView& time : view.required("times").items()) accuracy.times.push_back(parse_time(time));
  accuracy.held_out_tasks = parse_summary(view.required("held_out_tasks"));
  accuracy.held_out_iterations = parse_summary(view.required("held_out_iterations"));
  accuracy.in_sample_tasks = parse_summary(view.required("in_sample_tasks"));
  accuracy.in_sample_iterations = parse_summary(view.required("in_sample_iterations"));
  for (const auto& [task, summary] : view.required("held_out_by_task").members()) {
    accuracy.held_out_by_task[task] = parse_summary(summary);
  }
  accuracy.rank_correlation = view.required("rank_correlation").number();
  accuracy.interval_coverage = view.required("interval_coverage").fraction();
  accuracy.has_intervals = view.required("has_intervals").flag();
  return accuracy;
}

Json Accuracy::to_json() const {
  Json json;
  json["times"] = Json::array();
  for (const ComparedTime& time : times) json["times"].push_back(sextant::to_json(time));
  json["held_out_tasks"] = sextant::to_json(held_out_tasks);
  json["held_out_iterations"] = sextant::to_json(held_out_iterations);
  json["in_sample_tasks"] = sextant::to_json(in_sample_tasks);
  json["in_sample_iterations"] = sextant::to_json(in_sample_iterations);
  json["held_out_by_task"] = Json::object();
  for (const auto& [task, summary] : held_out_by_task)
    json["held_out_by_task"][task] = sextant::to_json(summary);
  json["rank_correlation"] = rank_correlation;
  json["interval_coverage"] = interval_coverage;
  json["has_intervals"] = has_intervals;
  return json;
}

}  // namespace sextant
