#include "cli/plan/plan_sets.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ask/plan/plan_search.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/units.h"
#include "planner/pareto.h"
#include "sextant/profile_space.h"

namespace sextant::cli {
namespace {

struct ModeOfWork {
  std::string name;
  Mode mode;
  double staleness;
  int streamed_parts;
};

// Training takes a batch in parts where the framework does, by its optimizer steps.
std::vector<ModeOfWork> modes_for(const FrameworkProfile* profile, const Workflow& workflow) {
  const bool is_free = profile == nullptr || profile->is_any();
  const auto ahead = [&](const char* name, double staleness, int parts) {
    if (!is_free) parts = profile->streams_mini_batches ? workflow.mini_batches : 1;
    return ModeOfWork{name + (parts > 1 ? " in " + std::to_string(parts) + " parts" : std::string()),
                      Mode::asynchronous, staleness, parts};
  };
  return {{"synchronous", Mode::synchronous, 0, 1},
          {"one step off", Mode::one_step_off, 1, 1},
          ahead("asynchronous, half a batch ahead", 0.5, 2),
          ahead("asynchronous, a batch ahead", 1, 4)};
}

Workflow in_mode(const Workflow& workflow, const ModeOfWork& mode, const FrameworkProfile* profile) {
  Workflow changed = workflow;
  changed.mode = mode.mode;
  changed.staleness = mode.staleness;
  changed.streamed_parts = mode.streamed_parts;
  changed.rollout.batches_in_flight = profile != nullptr ? profile->batches_in_flight(changed) : 0;
  return changed;
}

struct PlanInMode {
  std::optional<PlanOutput> answer;  // nullopt: no plan
  std::string why_not = "no plan";
};

// The answer of `sextant plan` to the question in another mode, for which the framework has rules of its own.
PlanInMode plan_in(const ModeOfWork& mode, const PlanOptions& options, const AskedPlan& asked,
                   const std::atomic<bool>& is_cancelled) {
  LoadedInputs loaded = asked.loaded;
  const FrameworkProfile* profile = asked.profile_in_force(options);
  loaded.workflow = in_mode(loaded.workflow, mode, profile);
  if (profile != nullptr && !why_not_offered(*profile, loaded.workflow).empty())
    return {std::nullopt, "not offered by " + profile->name};
  PlanInputs own(options, std::move(loaded), {1, false});
  own.request.is_cancelled = &is_cancelled;
  const auto search = [&](const PlanRequest& request) { return search_once(own.planner, request); };
  PlanOutput answer = search_as_asked(options, own, {search, true});
  complete_answer(options, own, answer);
  if (answer.result.outcome != PlanOutcome::found) return {};
  return {std::move(answer), ""};
}

std::string compared_ends(const ParetoPoint& fastest, const ParetoPoint& cheapest) {
  const double slower = cheapest.result.prediction->iteration_s / fastest.result.prediction->iteration_s;
  const double max_usd = fastest.usd_per_iteration, min_usd = cheapest.usd_per_iteration;
  if (min_usd <= 0) {
    return "the fastest costs " + format_number(max_usd) +
           " dollars per iteration, the cheapest nothing; the fastest takes 1 / " + format_number(slower) +
           " of its time\n";
  }
  return "the fastest costs " + format_percent(max_usd / min_usd - 1) +
         " more per iteration than the cheapest and takes 1 / " + format_number(slower) + " of its time\n";
}

}  // namespace

PlanSet pareto_set(const Planner& planner, const PlanRequest& request, const Subcluster& part, int points) {
  const std::vector<ParetoPoint> front = pareto_front(request, planner, points);
  Table table({"iteration", "time gap", "dollars per iteration", "cost gap", "dollars per hour", "devices"});
  Json json = Json::array();
  for (const ParetoPoint& point : front) {
    const double iteration_s = point.result.prediction->iteration_s;
    const std::optional<double> dollar_gap =
        relative_gap(point.usd_per_iteration, *point.result.bound_of_all_usd);
    table.add({format_seconds(iteration_s), "at most " + format_percent(point.result.gap_of_all()),
               format_number(point.usd_per_iteration),
               dollar_gap ? "at most " + format_percent(*dollar_gap) : "not known",
               format_number(point.rented.usd_per_hour),
               std::to_string(static_cast<int>(point.rented.devices))});
    json.push_back({{"iteration_s", iteration_s},
                    {"lower_bound_s", point.result.bound_of_all_s},
                    {"usd_per_iteration", point.usd_per_iteration},
                    {"lower_bound_usd", *point.result.bound_of_all_usd},
                    {"usd_per_hour", point.rented.usd_per_hour},
                    {"devices", point.rented.devices},
                    {"proof", name_of(point.result.proof)},
                    {"plan", part.on_whole(*point.result.plan).to_json()}});
  }
  std::string text = table.text();
  if (front.size() > 1) {
    text += compared_ends(front.front(), front.back());
  }
  const bool are_proved = std::all_of(front.begin(), front.end(), [](const ParetoPoint& point) {
    return point.result.proof == Proof::optimal;
  });
  if (are_proved && !front.empty())
    text += "proved: no plan in the space of " + std::string(planner.name) +
            " is faster than the first, and none is both as fast as a plan above and cheaper\n";
  return {std::move(text), format_json(json) + "\n", front.empty(), {}};
}

PlanSet compared_modes(const PlanOptions& options, const AskedPlan& asked,
                       const std::atomic<bool>& is_cancelled) {
  Table table({"mode", "iteration", "gap to the best", "vs synchronous", "devices"});
  PlanSet set;
  Json json = Json::array();
  double synchronous_s = 0, best_s = 0;
  const std::vector<ModeOfWork> modes = modes_for(asked.profile_in_force(options), asked.loaded.workflow);
  std::string best = modes.front().name;
  for (const ModeOfWork& mode : modes) {
    if (is_cancelled.load()) break;
    const PlanInMode planned = plan_in(mode, options, asked, is_cancelled);
    if (!planned.answer) {
      table.add({mode.name, planned.why_not, "", "", ""});
      continue;
    }
    const PlanResult& result = planned.answer->result;
    if (!planned.answer->warning.empty()) set.notes.push_back(mode.name + ": " + planned.answer->warning);
    const double iteration_s = result.prediction->iteration_s;
    if (mode.mode == Mode::synchronous) synchronous_s = iteration_s;
    if (best_s == 0 || iteration_s < best_s) {
      best_s = iteration_s;
      best = mode.name;
    }
    const double devices = rented_by(*result.plan, asked.loaded.cluster).devices;
    const std::string beside = synchronous_s > 0 ? format_percent(iteration_s / synchronous_s - 1) : "";
    table.add({mode.name, format_seconds(iteration_s), "at most " + format_percent(result.gap_of_all()), beside,
               std::to_string(static_cast<int>(devices))});
    json.push_back({{"mode", mode.name},
                    {"staleness", mode.staleness},
                    {"streamed_parts", mode.streamed_parts},
                    {"iteration_s", iteration_s},
                    {"lower_bound_s", result.bound_of_all_s},
                    {"devices", devices},
                    {"plan", result.plan->to_json()}});
  }
  set.text = table.text();
  if (best_s > 0 && synchronous_s > 0) {
    constexpr double kPays = 0.01;  // less is within what a search leaves open
    const double gain = 1 - best_s / synchronous_s;
    set.text += gain > kPays ? "asynchronous execution pays off: " + best + " takes " + format_percent(gain) +
                                   " less than synchronous under this model\n"
                             : std::string(
                                   "asynchronous execution does not pay off: no mode is more than 1 % faster "
                                   "than synchronous\n");
  }
  set.json = format_json(json) + "\n";
  set.is_empty = best_s == 0;
  return set;
}

}  // namespace sextant::cli
