#include "cli/plan/planner_options.h"

#include <algorithm>
#include <thread>

#include "cli/command_line/checks.h"
#include "cli/command_line/nearest_name.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "core/text.h"
#include "sextant/error.h"
#include "sextant/search.h"

namespace sextant::cli {
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

std::string yes(bool is_so) { return is_so ? "yes" : ""; }

}  // namespace

void add_planner_options(const Command& command, PlannerOptions& options) {
  command.add_option("--planner", options.planner, "Planner that searches; --list shows all").shows_default();
  command
      .add_option("--budget", options.budget_s,
                  "Search time in seconds (default: portfolio 2, sha-ea 1, exact until it has a proof)")
      .check(positive_number());
  command
      .add_option("--evaluations", options.evaluations,
                  "Total number of plans to evaluate, or tree nodes to visit: same plan on any machine and "
                  "number of threads")
      .check(integer_between(1, SearchRecord::kMaxCount));
  command.add_option("--seed", options.seed, "Random seed for randomised planners")
      .check(integer_between(0, SearchRecord::kMaxCount))
      .shows_default();
  constexpr int kMaxThreads = 4096;
  command
      .add_option("--threads", options.threads,
                  "Threads per rank, for planners that use several (default: all cores, at most 4)")
      .check(integer_between(1, kMaxThreads));
  constexpr int kMaxSequences = 1'000'000;
  command
      .add_option("--micro-batches", options.micro_batch_sequences, "Micro-batch sizes to try, such as 1,2,4")
      .parted_by_commas()
      .check(integer_between(1, kMaxSequences))
      .shows_default();
  command.add_flag("--recompute", options.try_recompute, "Also try training with recomputation");
  command.add_flag("--uneven-stages", options.try_uneven_stages,
                   "Exhaustive only: try every assignment of layers to stages");
  command.add_flag("--even-load", options.has_even_load,
                   "Portfolio, sha-ea, exact, ilp only: equal layers and batch shares on any devices, to see "
                   "what balancing gains");
  command
      .add_option("--max-plans", options.max_plans,
                  "Exhaustive only: refuse search spaces with more plans than this")
      .check(integer_between(1, SearchRecord::kMaxCount));
  command.add_choice("--goal", options.goal,
                     {{"time", AskedGoal::time},
                      {"cost", AskedGoal::cost},
                      {"devices", AskedGoal::devices},
                      {"mean", AskedGoal::mean},
                      {"p50", AskedGoal::p50},
                      {"p75", AskedGoal::p75},
                      {"p90", AskedGoal::p90},
                      {"p95", AskedGoal::p95},
                      {"p99", AskedGoal::p99}},
                     "Objective: iteration time, cost of an iteration, fewest devices, or mean or percentile "
                     "of the time under risk");
  command.add_option("--deadline", options.objective.max_iteration_s, "Maximum time of an iteration in seconds")
      .check(positive_number());
  command
      .add_option("--max-usd-per-hour", options.objective.max_usd_per_hour,
                  "Maximum price of the plan's devices in dollars per hour")
      .check(positive_number());
  command
      .add_option("--max-usd-per-iteration", options.objective.max_usd_per_iteration,
                  "Maximum cost of an iteration in dollars")
      .check(positive_number());
  add_pin_options(command, options.pins);
  command.add_option("--warm-start", options.warm_start,
                     "Portfolio, exact, ilp only: plan document to start from; its execution options become an "
                     "additional choice");
}

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

std::string describe_planners() {
  Table table(
      {"planner", "max devices", "threads", "ranks", "seed", "proves", "goals", "pins", "in this build"});
  std::string help;
  for (const Planner& planner : planners()) {
    const PlannerTraits& traits = planner.traits;
    table.add({std::string(planner.name), planner.max_devices > 0 ? std::to_string(planner.max_devices) : "any",
               yes(traits.has_threads), yes(traits.has_ranks), yes(traits.has_seed), yes(traits.proves),
               traits.has_objectives ? "all" : "time", yes(traits.has_pins), traits.is_built() ? "yes" : "NO"});
    help += std::string(planner.name) + ": " + std::string(planner.help) + "\n";
  }
  return table.text() + "\n" + help;
}

std::string planners_as_json() {
  Json all = Json::array();
  for (const Planner& planner : planners()) {
    const PlannerTraits& traits = planner.traits;
    Json entry{{"name", planner.name}, {"help", planner.help}};
    if (planner.max_devices > 0) entry["most_devices"] = planner.max_devices;
    entry.update({{"has_budget", traits.has_budget},
                  {"has_threads", traits.has_threads},
                  {"has_ranks", traits.has_ranks},
                  {"has_seed", traits.has_seed},
                  {"has_whole_layouts", traits.has_whole_layouts},
                  {"starts_from_plan", traits.starts_from_plan},
                  {"can_be_cancelled", traits.can_be_cancelled},
                  {"proves", traits.proves},
                  {"has_objectives", traits.has_objectives},
                  {"has_rent", traits.has_rent},
                  {"has_pins", traits.has_pins},
                  {"balances_load", traits.balances_load},
                  {"is_built", traits.is_built()}});
    all.push_back(std::move(entry));
  }
  return format_json(all) + "\n";
}

}  // namespace sextant::cli
