#include "ask/plan/planner_options.h"

#include <algorithm>
#include <thread>

#include "ask/words/nearest_name.h"
#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

std::vector<std::string_view> planner_names() {
  std::vector<std::string_view> names;
  for (const Planner& planner : planners()) names.push_back(planner.name);
  return names;
}

// The result lists the planners with the trait: "sha-ea, exact, mcmc".
std::string names_with(bool PlannerTraits::*trait) {
  std::string names;
  for (const Planner& planner : planners()) {
    if (planner.traits.*trait) names += (names.empty() ? "" : ", ") + std::string(planner.name);
  }
  return names;
}

[[noreturn]] void refuse_name(const std::string& written) {
  const std::vector<std::string_view> names = planner_names();
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  throw_bad_input("--planner: unknown planner " + in_quotes(written) + did_you_mean(written, names) +
                  " (planners: " + all + ")");
}

Objective objective_of(const PlannerOptions& options) {
  Objective objective = options.objective;
  if (options.goal == AskedGoal::cost) objective.goal = Goal::cost;
  if (options.goal == AskedGoal::devices) objective.goal = Goal::devices;
  return objective;
}

// An option of some planners only.
struct Special {
  const char* option;
  bool is_given;
  bool PlannerTraits::*trait;
};

std::vector<Special> specials(const PlannerOptions& options) {
  const Objective objective = objective_of(options);
  return {{"--budget", options.budget_s.has_value(), &PlannerTraits::has_budget},
          {"--evaluations", options.evaluations.has_value(), &PlannerTraits::has_budget},
          {"--uneven-stages", options.try_uneven_stages, &PlannerTraits::has_whole_layouts},
          {"--even-load", options.has_even_load, &PlannerTraits::balances_load},
          {"--max-plans", options.max_plans.has_value(), &PlannerTraits::has_whole_layouts},
          {"--warm-start", !options.warm_start.empty(), &PlannerTraits::starts_from_plan},
          {"--max-usd-per-hour", objective.is_time_for_rent(), &PlannerTraits::has_rent},
          {"--goal and limits", !objective.is_time_alone() && !objective.is_time_for_rent(),
           &PlannerTraits::has_objectives},
          {"--pin", !options.pins.devices.empty(), &PlannerTraits::has_pins},
          {"--pin-from", !options.pins.layouts.empty(), &PlannerTraits::has_pins}};
}

// Each thread has tables of its own: more than a few are asked for by name.
int few_cores() {
  constexpr unsigned kFew = 4;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, kFew));
}

}  // namespace

std::optional<RiskGoal> risk_goal_of(AskedGoal goal) {
  switch (goal) {
    case AskedGoal::mean:
      return RiskGoal{};
    case AskedGoal::p50:
      return RiskGoal{0.5};
    case AskedGoal::p75:
      return RiskGoal{0.75};
    case AskedGoal::p90:
      return RiskGoal{0.9};
    case AskedGoal::p95:
      return RiskGoal{0.95};
    case AskedGoal::p99:
      return RiskGoal{0.99};
    case AskedGoal::time:
    case AskedGoal::cost:
    case AskedGoal::devices:
      break;
  }
  return std::nullopt;
}

const Planner& chosen_planner(const PlannerOptions& options, int devices) {
  const Planner* planner = find_planner(options.planner);
  if (planner == nullptr) refuse_name(options.planner);
  for (const Special& special : specials(options)) {
    if (special.is_given && !(planner->traits.*special.trait)) {
      throw_bad_input(std::string(special.option) + ": not supported by planner " + options.planner +
                      "; supported by " + names_with(special.trait));
    }
  }
  if (planner->max_devices > 0 && devices > planner->max_devices) {
    throw_bad_input("--planner: " + options.planner + " plans at most " + std::to_string(planner->max_devices) +
                    " devices, but the cluster has " + std::to_string(devices) +
                    "; choose another planner, such as " + PlannerOptions{}.planner);
  }
  return *planner;
}

void apply(const PlannerOptions& options, const Planner& planner, PlanRequest& request) {
  request.limits.micro_batch_sequences = options.micro_batch_sequences;
  request.limits.try_recompute = options.try_recompute;
  request.limits.try_uneven_stages = options.try_uneven_stages;
  request.limits.balances_load = !options.has_even_load;
  if (options.max_plans) request.limits.max_plans = *options.max_plans;
  request.budget = {options.budget_s.value_or(0), options.evaluations.value_or(0)};
  request.seed = options.seed;
  request.objective = objective_of(options);
  request.threads = planner.traits.has_threads ? options.threads.value_or(few_cores()) : 1;
}

}  // namespace sextant::inline ask
