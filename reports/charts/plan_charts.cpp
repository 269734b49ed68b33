#include "reports/charts/plan_charts.h"

#include <algorithm>

#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/vega_lite.h"
#include "reports/content/names.h"

namespace sextant::charts {
namespace {

constexpr const char* kOtherTerms = "other terms";

template <typename Map>
std::vector<std::string> shown_tasks_of(const Map& by_task) {
  std::vector<std::string> shown;
  for (const std::string& task : tasks_of(by_task)) shown.push_back(shown_name(task));
  return shown;
}

// The terms that have a colour each: all that take time if there are few, otherwise those with the largest shares of
// the tasks. The other terms are drawn as one.
std::set<Term> own_terms(const Prediction& prediction) {
  std::map<Term, double> shares;
  for (const auto& [task, predicted] : prediction.tasks) {
    for (const auto& [term, time_s] : predicted.terms_s) {
      if (time_s > 0 && predicted.time_s > 0) shares[term] += time_s / predicted.time_s;
    }
  }
  std::vector<std::pair<double, Term>> largest;
  for (const auto& [term, share] : shares) largest.emplace_back(-share, term);
  std::sort(largest.begin(), largest.end());
  if (largest.size() > kColourCount) largest.resize(kColourCount - 1);
  std::set<Term> own;
  for (const auto& [share, term] : largest) own.insert(term);
  return own;
}

std::vector<std::string> shown_terms(const Prediction& prediction) {
  std::vector<std::string> shown;
  for (const Term term : own_terms(prediction)) shown.push_back(shown_name(name_of(term)));
  if (!merged_terms(prediction).empty()) shown.push_back(kOtherTerms);
  return shown;
}

Json term_row(const std::string& task, const TaskPrediction& predicted, int order, double time_s) {
  return {{"task", shown_name(task)},
          {"order", order},
          {"time_s", time_s},
          {"share", finite_or_null(time_s / predicted.time_s)},
          {"time", format_seconds(time_s)},
          {"share_shown", predicted.time_s > 0 ? format_percent(time_s / predicted.time_s) : ""}};
}

// The row of the merged terms says what is in it: "optimizer 1.20 s, overhead 0.100 s".
Json merged_row(const std::string& task, const TaskPrediction& predicted, const std::set<Term>& own) {
  double sum_s = 0;
  std::string parts;
  for (const auto& [term, time_s] : predicted.terms_s) {
    if (own.contains(term) || time_s <= 0) continue;
    sum_s += time_s;
    parts += (parts.empty() ? "" : ", ") + shown_name(name_of(term)) + " " + format_seconds(time_s);
  }
  if (parts.empty()) return nullptr;
  Json row = term_row(task, predicted, kTermCount, sum_s);
  row["term"] = kOtherTerms;
  row["time"] = format_seconds(sum_s) + " (" + parts + ")";
  return row;
}

Json term_rows(const Prediction& prediction) {
  const std::set<Term> own = own_terms(prediction);
  Json rows = Json::array();
  for (const std::string& task : tasks_of(prediction.tasks)) {
    const TaskPrediction& predicted = prediction.tasks.at(task);
    for (const auto& [term, time_s] : predicted.terms_s) {
      if (!own.contains(term) || time_s <= 0) continue;
      rows.push_back(term_row(task, predicted, static_cast<int>(term), time_s));
      rows.back()["term"] = shown_name(name_of(term));
    }
    Json merged = merged_row(task, predicted, own);
    if (!merged.is_null()) rows.push_back(std::move(merged));
  }
  return rows;
}

constexpr std::string_view kBreakdown = R"json({
  "mark": {"type": "bar", "stroke": null},
  "encoding": {
    "x": {"type": "quantitative", "stack": "zero"},
    "y": {"field": "task", "type": "nominal", "axis": {"title": null, "labelLimit": 160}},
    "color": {"field": "term", "type": "nominal", "legend": {"title": null, "orient": "bottom"}},
    "order": {"field": "order", "type": "quantitative"},
    "tooltip": [{"field": "task", "type": "nominal"}, {"field": "term", "type": "nominal"},
                {"field": "time", "type": "nominal"}, {"field": "share_shown", "type": "nominal", "title": "share of the task"}]}
})json";

Json breakdown(const Prediction& prediction, const char* description) {
  Json rows = term_rows(prediction);
  if (rows.empty()) return nullptr;
  Json spec = specification(description, row_height(prediction.tasks.size(), 32), kBreakdown);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["y"]["sort"] = shown_tasks_of(prediction.tasks);
  spec["encoding"]["color"]["scale"] = colour_scale(shown_terms(prediction));
  return spec;
}

}  // namespace

std::vector<std::string> merged_terms(const Prediction& prediction) {
  const std::set<Term> own = own_terms(prediction);
  std::set<Term> merged;
  for (const auto& [task, predicted] : prediction.tasks) {
    for (const auto& [term, time_s] : predicted.terms_s) {
      if (!own.contains(term) && time_s > 0) merged.insert(term);
    }
  }
  std::vector<std::string> shown;
  shown.reserve(merged.size());
  for (const Term term : merged) shown.push_back(shown_name(name_of(term)));
  return shown;
}

Json breakdown_seconds(const Prediction& prediction) {
  Json spec = breakdown(prediction, "Predicted time of each task, by term");
  if (spec.is_null()) return spec;
  double longest_s = 0;
  for (const auto& [task, predicted] : prediction.tasks) longest_s = std::max(longest_s, predicted.time_s);
  spec["encoding"]["x"]["field"] = "time_s";
  spec["encoding"]["x"]["axis"] = seconds_axis("predicted time", longest_s);
  return spec;
}

Json breakdown_shares(const Prediction& prediction) {
  Json spec = breakdown(prediction, "Share of each term in the predicted time of each task");
  if (spec.is_null()) return spec;
  spec["encoding"]["x"]["field"] = "share";
  spec["encoding"]["x"]["scale"] = {{"domain", {0, 1}}, {"nice", false}, {"clamp", true}};
  spec["encoding"]["x"]["axis"] = {{"title", "share of the task's time"},
                                   {"labelExpr", "format(datum.value * 100, '.3~g') + ' %'"}};
  return spec;
}

namespace {

// One row of the chart: what happens on a device, as (task, start, end).
using Schedule = std::vector<std::string>;

std::vector<std::pair<std::vector<DeviceId>, Schedule>> schedules(const Prediction& prediction) {
  std::map<DeviceId, Schedule> by_device;
  for (const std::string& task : tasks_of(prediction.tasks)) {
    for (const DeviceId device : prediction.tasks.at(task).devices) by_device[device].push_back(task);
  }
  return device_rows(by_device);
}

constexpr std::string_view kTimeline = R"json({
  "mark": {"type": "bar", "cornerRadius": 2, "opacity": 0.9},
  "encoding": {
    "x": {"field": "start_s", "type": "quantitative"}, "x2": {"field": "end_s"},
    "y": {"field": "device", "type": "nominal", "axis": {"title": null, "labelLimit": 180}},
    "color": {"field": "task", "type": "nominal", "legend": {"title": null, "orient": "bottom"}},
    "tooltip": [{"field": "task", "type": "nominal"}, {"field": "device", "type": "nominal"},
                {"field": "start", "type": "nominal"}, {"field": "end", "type": "nominal"},
                {"field": "time", "type": "nominal"}]}
})json";

}  // namespace

Json timeline(const Prediction& prediction, const Cluster* cluster) {
  Json rows = Json::array();
  std::vector<std::string> labels;
  double last_s = 0;
  for (const auto& [devices, tasks] : schedules(prediction)) {
    labels.push_back(row_label(devices, cluster));
    for (const std::string& task : tasks) {
      const TaskPrediction& predicted = prediction.tasks.at(task);
      last_s = std::max(last_s, predicted.end_s);
      rows.push_back({{"device", labels.back()},
                      {"task", shown_name(task)},
                      {"start_s", predicted.start_s},
                      {"end_s", predicted.end_s},
                      {"start", format_seconds(predicted.start_s)},
                      {"end", format_seconds(predicted.end_s)},
                      {"time", format_seconds(predicted.end_s - predicted.start_s)}});
    }
  }
  if (rows.empty()) return nullptr;
  Json spec =
      specification("Predicted timeline of one iteration, by device", row_height(labels.size(), 28), kTimeline);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["x"]["axis"] = seconds_axis("time in the iteration", last_s);
  spec["encoding"]["y"]["sort"] = labels;
  spec["encoding"]["color"]["scale"] = task_colour_scale(shown_tasks_of(prediction.tasks));
  return spec;
}

namespace {

constexpr std::string_view kMemory = R"json({
  "layer": [
    {"mark": {"type": "bar"},
     "encoding": {
       "x": {"field": "gib", "type": "quantitative", "stack": "zero",
             "axis": {"title": "memory (GiB)", "tickCount": 6}},
       "color": {"field": "part", "type": "nominal",
                 "scale": {"domain": ["resident", "working"], "range": ["#0072B2", "#E69F00"]},
                 "legend": {"title": null, "orient": "bottom"}},
       "order": {"field": "order", "type": "quantitative"}}},
    {"mark": {"type": "tick", "thickness": 2.5, "size": 22, "color": "#D55E00"},
     "encoding": {"x": {"field": "capacity_gib", "type": "quantitative"}}}
  ]})json";

constexpr double kGiB = 1 << 30;  // so that ticks are round numbers

struct MemoryKey {
  double capacity_bytes;
  double resident_bytes;
  double working_bytes;
  bool operator==(const MemoryKey&) const = default;
};

Json memory_row(const std::string& device, const MemoryKey& memory, const char* part, double bytes, int order) {
  return {{"device", device},
          {"part", part},
          {"order", order},
          {"gib", bytes / kGiB},
          {"size", format_bytes(bytes)},
          {"capacity_gib", memory.capacity_bytes / kGiB},
          {"capacity", format_bytes(memory.capacity_bytes)}};
}

}  // namespace

Json memory(const Prediction& prediction, const Cluster* cluster) {
  std::map<DeviceId, MemoryKey> by_device;
  for (const DeviceMemory& each : prediction.memory) {
    by_device[each.device] = {each.capacity_bytes, each.resident_bytes, each.working_bytes};
  }
  if (by_device.empty()) return nullptr;
  Json rows = Json::array();
  std::vector<std::string> labels;
  for (const auto& [devices, needed] : device_rows(by_device)) {
    labels.push_back(row_label(devices, cluster));
    rows.push_back(memory_row(labels.back(), needed, "resident", needed.resident_bytes, 0));
    rows.push_back(memory_row(labels.back(), needed, "working", needed.working_bytes, 1));
  }
  Json spec =
      specification("Memory that the plan needs on each device", row_height(labels.size(), 28), kMemory);
  spec["data"] = inline_data(std::move(rows));
  for (auto& layer : spec["layer"]) {
    layer["encoding"]["y"] = {{"field", "device"},
                              {"type", "nominal"},
                              {"sort", labels},
                              {"axis", {{"title", nullptr}, {"labelLimit", 180}}}};
    layer["encoding"]["tooltip"] = Json::parse(
        R"json([{"field": "device", "type": "nominal"}, {"field": "part", "type": "nominal"},
            {"field": "size", "type": "nominal"}, {"field": "capacity", "type": "nominal"}])json");
  }
  return spec;
}

namespace {

constexpr std::string_view kOccupancy = R"json({
  "encoding": {
    "x": {"field": "device", "type": "ordinal", "axis": {"title": "device", "labelAngle": 0, "labelOverlap": true}},
    "y": {"field": "task", "type": "nominal", "axis": {"title": null, "labelLimit": 160}}},
  "layer": [
    {"mark": {"type": "rect", "opacity": 0.9, "cornerRadius": 2},
     "encoding": {
       "color": {"field": "task", "type": "nominal", "legend": null},
       "tooltip": [{"field": "task", "type": "nominal"}, {"field": "device", "type": "ordinal"},
                   {"field": "replica", "type": "ordinal"}, {"field": "stage", "type": "ordinal"},
                   {"field": "shard", "type": "ordinal"}, {"field": "layers", "type": "quantitative"}]}}
  ]})json";

constexpr std::string_view kOccupancyText =
    R"json({"mark": {"type": "text", "color": "#111111", "fontSize": 10}, "encoding": {"text": {"field": "place", "type": "nominal"}}})json";

Json occupancy_rows(const Plan& plan) {
  Json rows = Json::array();
  for (const std::string& name : tasks_of(plan.tasks)) {
    const TaskPlan& task = plan.tasks.at(name);
    for (std::size_t r = 0; r < task.replicas.size(); ++r) {
      const auto& stages = task.replicas[r].stages;
      for (std::size_t s = 0; s < stages.size(); ++s) {
        for (std::size_t t = 0; t < stages[s].devices.size(); ++t) {
          rows.push_back({{"task", shown_name(name)},
                          {"device", stages[s].devices[t].value},
                          {"replica", r},
                          {"stage", s},
                          {"shard", t},
                          {"layers", stages[s].layers},
                          {"place", "r" + std::to_string(r) + " s" + std::to_string(s)}});
        }
      }
    }
  }
  return rows;
}

}  // namespace

Json occupancy(const Plan& plan) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : plan.tasks) devices.merge(task.devices());
  if (devices.size() < 2 || devices.size() > kMaxOccupancyDevices) return nullptr;
  Json spec = specification("Devices of each task", row_height(plan.tasks.size(), 28), kOccupancy);
  spec["data"] = inline_data(occupancy_rows(plan));
  spec["encoding"]["y"]["sort"] = shown_tasks_of(plan.tasks);
  spec["layer"][0]["encoding"]["color"]["scale"] = task_colour_scale(shown_tasks_of(plan.tasks));
  constexpr std::size_t kMaxLabelled = 20;  // more labels than this would not fit their cells
  if (devices.size() <= kMaxLabelled) spec["layer"].push_back(Json::parse(kOccupancyText));
  return spec;
}

}  // namespace sextant::charts
