#include "cli/plan/planner_options.h"

#include <utility>

#include "cli/command_line/checks.h"
#include "cli/shared/table.h"
#include "core/json_value.h"
#include "sextant/search.h"

namespace sextant::cli {
namespace {

std::string yes(bool is_so) { return is_so ? "yes" : ""; }

void add_pin_options(const Command& command, PinOptions& options) {
  command
      .add_option(
          "--pin", options.devices,
          "TASK=DEVICES: place the task on these devices, nodes, zones or regions (node/3,node/4); repeatable")
      .may_be_repeated();
  command
      .add_option("--pin-from", options.layouts,
                  "PLAN.json:TASK: use the task's layout in this plan document, including degrees and batches; "
                  "repeatable")
      .may_be_repeated();
}

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
