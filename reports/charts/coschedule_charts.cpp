#include "reports/charts/coschedule_charts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/json_value.h"
#include "core/units.h"
#include "planner/coschedule/rounds.h"
#include "planner/coschedule/tail.h"
#include "reports/charts/vega_lite.h"

namespace sextant::charts {
namespace {

using namespace coschedule;

constexpr std::string_view kGantt = R"json({
  "mark": {"type": "bar", "cornerRadius": 2},
  "encoding": {
    "x": {"field": "begin_s", "type": "quantitative"}, "x2": {"field": "end_s"},
    "y": {"field": "node", "type": "nominal", "axis": {"title": null, "labelLimit": 180}},
    "color": {"field": "job", "type": "nominal", "legend": {"title": null, "orient": "bottom"}},
    "opacity": {"field": "phase", "type": "nominal", "legend": null,
                "scale": {"type": "ordinal", "domain": ["rollout", "tail of rollout", "training", "weight sync"], "range": [0.95, 0.5, 0.95, 0.7]}},
    "tooltip": [{"field": "job", "type": "nominal"}, {"field": "phase", "type": "nominal"},
                {"field": "node", "type": "nominal"}, {"field": "begin", "type": "nominal"},
                {"field": "end", "type": "nominal"}, {"field": "time", "type": "nominal"}]}
})json";

constexpr std::string_view kSteps = R"json({
  "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6},
  "encoding": {
    "x": {"field": "hours", "type": "quantitative", "axis": {"title": "time (h)", "tickCount": 8}},
    "y": {"field": "value", "type": "quantitative"},
    "color": {"field": "what", "type": "nominal", "legend": {"title": null, "orient": "bottom"}},
    "tooltip": [{"field": "what", "type": "nominal"}, {"field": "hours", "type": "quantitative", "format": ".2f"},
                {"field": "value", "type": "quantitative", "format": ".4~g"}]}
})json";

// Bounds are worked out for some states only, and hold for these.
constexpr std::string_view kCost = R"json({
  "encoding": {
    "x": {"field": "hours", "type": "quantitative", "axis": {"title": "time (h)", "tickCount": 8}},
    "y": {"field": "value", "type": "quantitative", "axis": {"title": "dollars an hour"}},
    "color": {"field": "what", "type": "nominal", "legend": {"title": null, "orient": "bottom"}},
    "tooltip": [{"field": "what", "type": "nominal"}, {"field": "hours", "type": "quantitative", "format": ".2f"},
                {"field": "value", "type": "quantitative", "format": ".4~g"}]},
  "layer": [
    {"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.6},
     "transform": [{"filter": "datum.what == 'cost'"}]},
    {"mark": {"type": "point", "filled": true, "size": 30},
     "transform": [{"filter": "datum.what != 'cost'"}]}
  ]})json";

constexpr std::string_view kHistogram = R"json({
  "mark": {"type": "bar", "stroke": null},
  "encoding": {
    "x": {"field": "bin", "type": "ordinal", "axis": {"title": "slowdown over what the job allows", "labelAngle": -50}},
    "y": {"field": "jobs", "type": "quantitative", "axis": {"title": "jobs", "tickMinStep": 1}},
    "color": {"field": "kept", "type": "nominal", "legend": {"title": null, "orient": "bottom"},
              "scale": {"domain": ["kept", "broken"], "range": ["#0072B2", "#D55E00"]}},
    "tooltip": [{"field": "bin", "type": "nominal"}, {"field": "jobs", "type": "quantitative"}, {"field": "kept", "type": "nominal"}]}
})json";

constexpr std::string_view kOverBound = R"json({
  "mark": {"type": "bar", "stroke": null, "color": "#0072B2"},
  "encoding": {
    "x": {"field": "bin", "type": "ordinal", "axis": {"title": "cost over the lower bound", "labelAngle": -50}},
    "y": {"field": "states", "type": "quantitative", "axis": {"title": "placements", "tickMinStep": 1}},
    "tooltip": [{"field": "bin", "type": "nominal"}, {"field": "states", "type": "quantitative"}]}
})json";

// Adds the span from `begin_s` on, in which a chart's time begins.
void add_bar(Json& rows, const std::string& job, const char* phase, const std::string& node, PhaseSpan span,
             double begin_s) {
  if (span.seconds() <= 0) return;
  span = {span.begin_s - begin_s, span.end_s - begin_s};
  rows.push_back({{"job", job},
                  {"phase", phase},
                  {"node", node},
                  {"begin_s", span.begin_s},
                  {"end_s", span.end_s},
                  {"begin", format_seconds(span.begin_s)},
                  {"end", format_seconds(span.end_s)},
                  {"time", format_seconds(span.seconds())}});
}

std::string rollout_label(int node) { return "rollout " + std::to_string(node); }

std::vector<Phases> typical_phases(const Group& group) {
  std::vector<std::optional<Batch>> batches;
  RunningGroup running{&group, {}, {}};
  for (const Member& member : group.members) {
    batches.push_back(member.job.responses ? std::optional(typical_batch(*member.job.responses))
                                           : std::nullopt);
    running.times.push_back(typical_times(member.job));
  }
  for (const std::optional<Batch>& batch : batches) running.batches.push_back(batch ? &*batch : nullptr);
  return move_tails(running, TailRule::best).phases;
}

Json steps(const char* description, const char* axis, const std::vector<std::string>& names, Json rows) {
  if (rows.empty()) return nullptr;
  Json spec = specification(description, 220, kSteps);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["y"]["axis"] = {{"title", axis}};
  spec["encoding"]["color"]["scale"] = colour_scale(names);
  return spec;
}

// Long traces keep a page small: about this many points of a line.
constexpr std::size_t kMaxPoints = 2000;

template <typename Add>
Json over_time(const Simulation& simulation, const Add& add) {
  Json rows = Json::array();
  const std::size_t every = simulation.states.size() / kMaxPoints + 1;
  const double begin_s = simulation.states.empty() ? 0 : simulation.states.front().time_s;
  for (std::size_t i = 0; i < simulation.states.size(); i += every) {
    const SimulatedState& state = simulation.states[i];
    add(state, [&](const char* what, double value) {
      rows.push_back({{"hours", (state.time_s - begin_s) / 3600}, {"what", what}, {"value", value}});
    });
  }
  return rows;
}

}  // namespace

Json group_gantt(const Group& group) {
  constexpr int kSettled = 12;  // rounds until the turns repeat
  const std::vector<Phases> phases = typical_phases(group);
  Rounds rounds(group);
  for (int i = 0; i < kSettled; ++i) (void)rounds.next(phases);
  const std::vector<MemberRound> first = rounds.next(phases), second = rounds.next(phases);
  double begin_s = first.front().rollout.begin_s, end_s = 0;
  for (const MemberRound& member : first) begin_s = std::min(begin_s, member.rollout.begin_s);
  const std::vector<int> turns = meta_iteration(group);
  const auto rounds_of = [&](int member) {
    std::vector<MemberRound> of;
    for (const std::vector<MemberRound>* round : {&first, &second}) {
      for (std::size_t turn = 0; turn < turns.size(); ++turn) {
        if (turns[turn] == member) of.push_back((*round)[turn]);
      }
    }
    return of;
  };
  Json rows = Json::array();
  std::vector<std::string> nodes, jobs;
  for (int node = 0; node < group.rollout_nodes; ++node) nodes.push_back(rollout_label(node));
  nodes.emplace_back("training");
  nodes.emplace_back("weight sync");
  for (std::size_t m = 0; m < group.members.size(); ++m) {
    const Member& member = group.members[m];
    jobs.push_back(member.job.name);
    for (const MemberRound& round : rounds_of(static_cast<int>(m))) {
      double left = phases[m].tail_nodes;
      for (const int node : member.rollout_nodes) {
        add_bar(rows, member.job.name, "rollout", rollout_label(node), round.rollout, begin_s);
        if (left > 0)
          add_bar(rows, member.job.name, "tail of rollout", rollout_label(node), round.tail, begin_s);
        left -= 1;
      }
      add_bar(rows, member.job.name, "training", "training", round.training, begin_s);
      add_bar(rows, member.job.name, "weight sync", "weight sync", round.sync, begin_s);
      end_s = std::max(end_s, round.sync.end_s - begin_s);
    }
  }
  Json spec =
      specification("Two meta-iterations of " + group.name + ", by node", row_height(nodes.size(), 26), kGantt);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["x"]["axis"] = seconds_axis("time", end_s);
  spec["encoding"]["y"]["sort"] = nodes;
  spec["encoding"]["color"]["scale"] = colour_scale(jobs);
  return spec;
}

bool has_cost_bound(const Simulation& simulation) {
  return std::any_of(simulation.states.begin(), simulation.states.end(),
                     [](const SimulatedState& state) { return state.bound_usd_per_hour > 0; });
}

Json cost_over_time(const Simulation& simulation) {
  Json rows = over_time(simulation, [](const SimulatedState& state, const auto& row) {
    row("cost", state.usd_per_hour);
    if (state.bound_usd_per_hour > 0) row("lower bound of any placement", state.bound_usd_per_hour);
  });
  if (rows.empty()) return nullptr;
  const bool has_bound = has_cost_bound(simulation);
  Json spec = specification(has_bound ? "Cost over time, and its lower bound" : "Cost over time", 220, kCost);
  spec["data"] = inline_data(std::move(rows));
  std::vector<std::string> names{"cost"};
  if (has_bound) names.emplace_back("lower bound of any placement");
  spec["encoding"]["color"]["scale"] = colour_scale(names);
  return spec;
}

Json nodes_over_time(const Simulation& simulation) {
  Json rows = over_time(simulation, [](const SimulatedState& state, const auto& row) {
    row("rollout nodes", state.rollout_nodes);
    row("training nodes", state.training_nodes);
    row("jobs", state.jobs);
  });
  return steps("Nodes and jobs over time", "number", {"rollout nodes", "training nodes", "jobs"},
               std::move(rows));
}

Json busy_over_time(const Simulation& simulation) {
  Json rows = over_time(simulation, [](const SimulatedState& state, const auto& row) {
    row("rollout nodes", state.rollout_busy_fraction);
    row("training nodes", state.training_busy_fraction);
  });
  return steps("Share of the nodes' time in which they work", "busy share", {"rollout nodes", "training nodes"},
               std::move(rows));
}

Json cost_over_bound_histogram(const Simulation& simulation) {
  constexpr double kBin = 0.05;
  std::map<int, int> bins;
  for (const SimulatedState& state : simulation.states) {
    if (state.bound_usd_per_hour <= 0) continue;
    const double over = state.usd_per_hour / state.bound_usd_per_hour - 1;
    ++bins[std::max(0, static_cast<int>(over / kBin + 1e-9))];
  }
  if (bins.empty()) return nullptr;
  Json rows = Json::array();
  std::vector<std::string> labels;
  for (int bin = 0; bin <= bins.rbegin()->first; ++bin) {
    labels.push_back(format_number(1 + bin * kBin) + " to " + format_number(1 + (bin + 1) * kBin));
    rows.push_back({{"bin", labels.back()}, {"states", bins[bin]}});
  }
  Json spec = specification("Placements by their cost over its lower bound", 220, kOverBound);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["x"]["sort"] = labels;
  return spec;
}

Json slo_histogram(const Simulation& simulation) {
  constexpr double kBin = 0.05;
  std::map<std::pair<int, bool>, int> bins;
  for (const SimulatedJob& job : simulation.jobs) {
    if (job.max_slowdown <= 0) continue;
    const double share = job.slowdown / job.max_slowdown;
    ++bins[{static_cast<int>(share / kBin - 1e-9), job.kept}];
  }
  if (bins.empty()) return nullptr;
  Json rows = Json::array();
  std::vector<std::string> labels;
  const auto label_of = [](int bin) {
    return format_number(bin * kBin) + " to " + format_number((bin + 1) * kBin);
  };
  for (int bin = bins.begin()->first.first; bin <= bins.rbegin()->first.first; ++bin)
    labels.push_back(label_of(bin));  // also those between that have no job
  for (const auto& [bin, jobs] : bins)
    rows.push_back({{"bin", label_of(bin.first)}, {"jobs", jobs}, {"kept", bin.second ? "kept" : "broken"}});
  Json spec = specification("Jobs by their slowdown over what they allow", 220, kHistogram);
  spec["data"] = inline_data(std::move(rows));
  spec["encoding"]["x"]["sort"] = labels;
  spec["encoding"]["x"]["scale"] = {{"domain", labels}};
  return spec;
}

}  // namespace sextant::charts
