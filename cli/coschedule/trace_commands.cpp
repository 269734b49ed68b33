#include "cli/coschedule/trace_commands.h"

#include <cmath>
#include <map>

#include "cli/shared/command.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/table.h"
#include "core/in_file.h"
#include "core/units.h"
#include "planner/coschedule/simulation/baselines.h"
#include "planner/coschedule/simulation/simulate.h"
#include "sextant/error.h"

namespace sextant::cli {

using namespace coschedule;

namespace {

JobTrace trace_of(const CoscheduleOptions& options, std::uint64_t seed) {
  TraceRules rules = options.rules;
  rules.seed = seed;
  if (!options.trace.empty() && !options.csv.empty())
    throw_bad_input("--trace and --csv are both traces; give one of them");
  if (!options.trace.empty()) return load_document<JobTrace>(options.trace).content;
  if (rules.max_slowdown < rules.min_slowdown)
    throw_bad_input("--slowdown-to: expected at least --slowdown-from");
  Pools pools = weave_pools();
  pools.max_members = options.max_members;
  if (options.csv.empty()) return drawn_trace(rules, pools);
  return in_file(options.csv, [&] { return trace_of_csv(read_text_file(options.csv), rules, pools); });
}

SimulationOptions simulation_options(const CoscheduleOptions& options, const Interrupt& interrupt,
                                     std::uint64_t seed) {
  SimulationOptions simulation;
  simulation.seed = seed;
  simulation.is_cancelled = &interrupt.flag();
  simulation.tails = options.tails.value_or(TailRule::best);
  simulation.tail_threshold = options.tail_threshold.value_or(kWeaveThreshold);
  if (options.probability < 1) simulation.probability = options.probability;
  simulation.restart_s = options.repack.restart_s;
  simulation.mean_time_between_failures_s = options.failures_every_s;
  simulation.bound_every = options.bound_every;
  simulation.return_after_s = options.return_after_s;
  return simulation;
}

void add_row(Table& table, const Simulation& result) {
  int placed = 0;
  for (const auto& [name, count] : result.decisions) placed += count;
  const auto share = [&](Decision decision) {
    const auto found = result.decisions.find(std::string(name_of(decision)));
    return format_percent(found == result.decisions.end() ? 0.0 : 1.0 * found->second / placed);
  };
  table.add({result.policy, dollars(result.mean_usd_per_hour), format_percent(result.kept_fraction),
             format_percent(result.always_kept_fraction), times(result.mean_slowdown),
             format_percent(result.rollout_busy_fraction), format_percent(result.training_busy_fraction),
             share(Decision::packing), share(Decision::rollout_scaling), share(Decision::new_group),
             std::to_string(result.max_rollout_nodes), std::to_string(result.max_training_nodes),
             format_seconds(result.decision_p99_s)});
}

// Prints failures, jobs that were placed anew and restarts, if there were any.
void print_interruptions(const Simulation& result) {
  if (result.failures > 0)
    print_line(std::to_string(result.failures) + " failures; each job came back from its last whole iteration");
  if (result.resubmissions > 0)
    print_line(std::to_string(result.resubmissions) + " jobs had drifted and were placed anew");
  if (result.restarts > 0)
    print_line(std::to_string(result.restarts) + " restarts of jobs that were regrouped");
  if (result.restart_s > 0)
    print_line("jobs stood still for " + format_seconds(result.restart_s) + " in restarts");
}

Table table_of_simulations() {
  return Table({"policy", "an hour", "kept", "always", "slowdown", "rollout busy", "training busy", "packed",
                "scaled", "new", "rollout nodes", "training nodes", "decision p99"});
}

// A table of its own: a line with both would be cut by most terminals.
void print_policies() {
  Table table({"policy", "what it does"});
  table.align_left(1);
  for (const Policy& policy : policies())
    table.add({std::string(policy.name), std::string(policy.description)});
  std::fputs(table.text().c_str(), stdout);
}

struct Mean {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  [[nodiscard]] double mean() const { return sum / count; }
  // The error is that of the mean.
  [[nodiscard]] double standard_error() const {
    if (count < 2) return 0;
    return std::sqrt(std::max(0.0, squares / count - mean() * mean()) / (count - 1));
  }
};

}  // namespace

int simulate_trace(const CoscheduleOptions& options) {
  const Policy* policy = find_policy(options.policy);
  const JobTrace trace = trace_of(options, options.rules.seed);
  const Interrupt interrupt;
  const Simulation result =
      simulate(trace, *policy, simulation_options(options, interrupt, options.rules.seed));
  if (options.json) {
    print_document(result);
  } else {
    Table table = table_of_simulations();
    add_row(table, result);
    std::fputs(table.text().c_str(), stdout);
    print_line(dollars(result.total_usd) + " in total for " + format_seconds(result.duration_s) +
               "; always: the share of "
               "the jobs whose slowest iteration was within what they allow, too");
    print_interruptions(result);
    if (result.refused > 0) print_line(std::to_string(result.refused) + " jobs found no place");
    if (result.was_interrupted) print_line("interrupted: the rest of the trace was not simulated");
  }
  if (!options.out.empty()) {
    save_document(options.out, result);
    say_wrote(options.out);
  }
  return kDone;
}

int compare_policies(const CoscheduleOptions& options) {
  const Interrupt interrupt;
  const int seeds = options.trace.empty() ? options.seeds : 1;
  struct Row {
    Mean cost, kept, slowdown, rollout_busy, training_busy, stopped;
  };
  std::map<std::string, Row> rows;
  int done = 0;
  for (; done < seeds && !interrupt.came(); ++done) {
    const std::uint64_t seed = options.rules.seed + static_cast<std::uint64_t>(done);
    const SimulationOptions simulation = simulation_options(options, interrupt, seed);
    const JobTrace trace = trace_of(options, seed);
    double solo = 0;
    std::map<std::string, Simulation> results;
    for (const Policy& policy : policies()) {
      Simulation result = simulate(trace, policy, simulation);
      if (policy.name == "solo") solo = result.total_usd;
      results.emplace(policy.name, std::move(result));
    }
    if (interrupt.came()) break;
    if (solo <= 0)
      throw_bad_input("coschedule compare: the jobs cost nothing, so that no costs can be compared");
    for (const auto& [name, result] : results) {
      Row& row = rows[name];
      row.cost.add(result.total_usd / solo);
      row.kept.add(result.kept_fraction);
      row.slowdown.add(result.mean_slowdown);
      row.rollout_busy.add(result.rollout_busy_fraction);
      row.training_busy.add(result.training_busy_fraction);
      row.stopped.add(result.restarts + result.resubmissions);
    }
  }
  if (done == 0) throw_machine_failed("interrupted before the first trace was simulated");
  Table table({"policy", "cost over solo", "+-", "kept", "+-", "slowdown", "+-", "rollout busy",
               "training busy", "restarts"});
  for (const Policy& policy : policies()) {
    const Row& row = rows[std::string(policy.name)];
    table.add({std::string(policy.name), times(row.cost.mean()), times(row.cost.standard_error()),
               format_percent(row.kept.mean()), format_percent(row.kept.standard_error()),
               times(row.slowdown.mean()), times(row.slowdown.standard_error()),
               format_percent(row.rollout_busy.mean()), format_percent(row.training_busy.mean()),
               format_number(std::round(row.stopped.mean()))});
  }
  std::fputs(table.text().c_str(), stdout);
  print_line("means of " + std::to_string(done) + (done == 1 ? " trace" : " traces") +
             "; +- is the standard error of the mean\n");
  print_policies();
  return kDone;
}

}  // namespace sextant::cli
