#include "calibrate/accuracy.h"

#include <cmath>

#include "core/json_value.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {
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

ComparedMemory parse_memory(const JsonView& view) {
  view.allow_only({"run", "measured_bytes", "predicted_bytes", "held_out"});
  ComparedMemory memory;
  memory.run = view.required("run").text();
  memory.measured_bytes = view.required("measured_bytes").positive();
  memory.predicted_bytes = view.required("predicted_bytes").non_negative();
  memory.held_out = view.required("held_out").flag();
  return memory;
}

Json to_json(const ComparedMemory& memory) {
  return {{"run", memory.run},
          {"measured_bytes", memory.measured_bytes},
          {"predicted_bytes", memory.predicted_bytes},
          {"held_out", memory.held_out}};
}

// All three members are absent if no run carries memory.
void parse_memories(const JsonView& view, Accuracy& accuracy) {
  if (const auto memories = view.optional("memories")) {
    for (const JsonView& memory : memories->items()) accuracy.memories.push_back(parse_memory(memory));
  }
  for (const std::string_view key : {"held_out_memories", "in_sample_memories"}) {
    if (accuracy.memories.empty() && view.optional(key))
      view.optional(key)->fail("only allowed with \"memories\"");
  }
  if (const auto summary = view.optional("held_out_memories"))
    accuracy.held_out_memories = parse_summary(*summary);
  if (const auto summary = view.optional("in_sample_memories"))
    accuracy.in_sample_memories = parse_summary(*summary);
}

ComparedWait parse_wait(const JsonView& view) {
  view.allow_only({"run", "task", "measured_s", "predicted_s", "iteration_s", "held_out"});
  ComparedWait wait;
  wait.run = view.required("run").text();
  wait.task = view.required("task").text();
  wait.measured_s = view.required("measured_s").non_negative();
  wait.predicted_s = view.required("predicted_s").non_negative();
  wait.iteration_s = view.required("iteration_s").positive();
  wait.held_out = view.required("held_out").flag();
  return wait;
}

Json to_json(const ComparedWait& wait) {
  return {{"run", wait.run},
          {"task", wait.task},
          {"measured_s", wait.measured_s},
          {"predicted_s", wait.predicted_s},
          {"iteration_s", wait.iteration_s},
          {"held_out", wait.held_out}};
}

void write_waits(const std::vector<ComparedWait>& waits, Json& json) {
  if (waits.empty()) return;
  json["waits"] = Json::array();
  for (const ComparedWait& wait : waits) json["waits"].push_back(to_json(wait));
}

void write_memories(const Accuracy& accuracy, Json& json) {
  if (accuracy.memories.empty()) return;
  json["memories"] = Json::array();
  for (const ComparedMemory& memory : accuracy.memories) json["memories"].push_back(to_json(memory));
  json["held_out_memories"] = to_json(accuracy.held_out_memories);
  json["in_sample_memories"] = to_json(accuracy.in_sample_memories);
}

}  // namespace

double ComparedMemory::error_fraction() const { return std::abs(predicted_bytes / measured_bytes - 1); }

double ComparedWait::error_fraction() const { return std::abs(predicted_s - measured_s) / iteration_s; }

double ComparedTime::error_fraction() const {
  return measured_s > 0 ? std::abs(predicted_s / measured_s - 1) : 0;
}

ErrorSummary summarise(const std::vector<double>& errors) {
  ErrorSummary summary;
  summary.count = static_cast<int>(errors.size());
  if (errors.empty()) return summary;
  summary.mape = mean(errors);
  summary.median = median(errors);
  summary.p90 = quantile(errors, 0.9);
  summary.worst = quantile(errors, 1.0);
  return summary;
}

ErrorSummary summarise(const std::vector<ComparedWait>& waits) {
  std::vector<double> errors;
  errors.reserve(waits.size());
  for (const ComparedWait& wait : waits) errors.push_back(wait.error_fraction());
  return summarise(errors);
}

Accuracy Accuracy::parse(const JsonView& view) {
  view.allow_only({"times", "held_out_tasks", "held_out_iterations", "in_sample_tasks", "in_sample_iterations",
                   "held_out_by_task", "memories", "held_out_memories", "in_sample_memories", "waits",
                   "rank_correlation", "order", "interval_coverage", "has_intervals"});
  Accuracy accuracy;
  for (const JsonView& time : view.required("times").items()) accuracy.times.push_back(parse_time(time));
  accuracy.held_out_tasks = parse_summary(view.required("held_out_tasks"));
  accuracy.held_out_iterations = parse_summary(view.required("held_out_iterations"));
  accuracy.in_sample_tasks = parse_summary(view.required("in_sample_tasks"));
  accuracy.in_sample_iterations = parse_summary(view.required("in_sample_iterations"));
  for (const auto& [task, summary] : view.required("held_out_by_task").members()) {
    accuracy.held_out_by_task[task] = parse_summary(summary);
  }
  parse_memories(view, accuracy);
  if (const auto waits = view.optional("waits")) {
    for (const JsonView& wait : waits->items()) accuracy.waits.push_back(parse_wait(wait));
  }
  if (const auto order = view.optional("order")) accuracy.order = PlanOrder::parse(*order);
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
  write_memories(*this, json);
  write_waits(waits, json);
  json["rank_correlation"] = rank_correlation;
  if (order) json["order"] = order->to_json();
  json["interval_coverage"] = interval_coverage;
  json["has_intervals"] = has_intervals;
  return json;
}

}  // namespace sextant::inline calibrate
