#include <chrono>
#include <optional>

#include "core/units.h"
#include "lab/reproduce/weave/finding.h"
#include "lab/reproduce/weave/weave.h"
#include "planner/coschedule/bound/optimum.h"
#include "planner/coschedule/simulation/baselines.h"
#include "planner/coschedule/simulation/simulate.h"
#include "planner/coschedule/trace/workload.h"

namespace sextant::weave {
namespace {

using namespace coschedule;

constexpr const char* kFigure15 = "WEAVE, section 6.5 and Figure 15";

// A setting of Figures 15 and 20; the default is mixed jobs, promises drawn from (1, 2) and groups of five.
struct Setting {
  std::string name;
  Profile profile = Profile::mixed;
  double min_slowdown = 1, max_slowdown = 2;
  int max_members = 5;
};

// A policy over some traces.
struct Outcome {
  double usd = 0, kept = 0, hours = 0, max_usd_per_hour = 0;
  int max_gpus = 0;
  [[nodiscard]] double usd_per_hour() const { return usd / hours; }
};

// Costs of WEAVE and of the optimum in the states that can be enumerated, which leaves out few.
struct OverOptimum {
  double ours = 0, best = 0;
  [[nodiscard]] double ratio() const { return ours / best; }
};

constexpr int kSeeds = 3;

JobTrace trace_of(const Setting& setting, std::uint64_t seed) {
  TraceRules rules;
  rules.profile = setting.profile;
  rules.min_slowdown = setting.min_slowdown;
  rules.max_slowdown = setting.max_slowdown;
  rules.seed = seed;
  Pools pools = weave_pools();
  pools.max_members = setting.max_members;
  return drawn_trace(rules, pools);
}

void add_to(Outcome& sum, const Simulation& result, const Pools& pools) {
  sum.usd += result.total_usd;
  sum.hours += result.duration_s / 3600;
  sum.kept += result.kept_fraction / kSeeds;
  for (const SimulatedState& state : result.states) {
    sum.max_usd_per_hour = std::max(sum.max_usd_per_hour, state.usd_per_hour);
    sum.max_gpus = std::max(sum.max_gpus, state.rollout_nodes * pools.rollout.gpus_per_node +
                                              state.training_nodes * pools.training.gpus_per_node);
  }
}

Outcome run(const Setting& setting, std::uint64_t seed, const char* policy, OverOptimum* optimum = nullptr) {
  constexpr std::size_t kMaxJobs = 12;
  Outcome sum;
  for (std::uint64_t s = seed; s < seed + kSeeds; ++s) {
    SimulationOptions options;
    if (optimum != nullptr) {
      options.on_state = [&](const coschedule::Placement& placement, double seconds) {
        if (placement.groups.empty() || placement.job_count() > kMaxJobs) return;
        optimum->ours += placement.usd_per_hour() * seconds;
        optimum->best +=
            seconds * cheapest_placement(placement.jobs(), placement.pools, {placement.pools, {}}, {0})
                          .placement.usd_per_hour();
      };
    }
    const JobTrace trace = trace_of(setting, s);
    add_to(sum, simulate(trace, *find_policy(policy), options), trace.pools);
  }
  return sum;
}

struct PrintedRow {
  Setting setting;
  double weave_low, weave_high;  // cost over the optimum
  double random_low, random_high, random_kept_low, random_kept_high;
  double greedy_low, greedy_high, greedy_kept_low, greedy_kept_high;
};

struct Row {
  OverOptimum optimum;
  Outcome weave, random, greedy, solo;
};

Row run_all(const Setting& setting, std::uint64_t seed) {
  Row row;
  row.weave = run(setting, seed, "weave-paper", &row.optimum);
  row.random = run(setting, seed, "random");
  row.greedy = run(setting, seed, "most-idle");
  row.solo = run(setting, seed, "solo");
  return row;
}

void add_row(ReproducedExperiment& out, const char* source, const PrintedRow& printed, const Row& row) {
  const std::string& cell = printed.setting.name;
  const double best = row.weave.usd / row.optimum.ratio();
  const std::string solo =
      "a group of its own for every job costs " + format_number(row.solo.usd / best) + " times the optimum";
  add_finding(out, {"cost over the optimum: WEAVE's Algorithm 1", source, "x"}, cell, row.optimum.ratio(),
              printed.weave_low, printed.weave_high, solo);
  add_finding(out, {"promises kept: WEAVE's Algorithm 1", source, "%"}, cell, 100 * row.weave.kept, 100, 100,
              solo);
  const auto baseline = [&](const char* cost, const char* kept, const Outcome& of, double low, double high,
                            double kept_low, double kept_high) {
    add_finding(out, {cost, source, "x"}, cell, of.usd / best, low, high, solo);
    add_finding(out, {kept, source, "%"}, cell, 100 * of.kept, kept_low, kept_high, solo);
  };
  baseline("cost over the optimum: random", "promises kept: random", row.random, printed.random_low,
           printed.random_high, printed.random_kept_low, printed.random_kept_high);
  baseline("cost over the optimum: most idle", "promises kept: most idle", row.greedy, printed.greedy_low,
           printed.greedy_high, printed.greedy_kept_low, printed.greedy_kept_high);
}

// Figure 15 prints ranges over its settings.
std::vector<PrintedRow> rows_of_figure_15() {
  const auto by_profile = [](const char* name, Profile profile) {
    return PrintedRow{{name, profile}, 1.01, 1.12, 1.72, 2.00, 37, 58, 1.38, 1.89, 42, 61};
  };
  const auto by_promise = [](const char* name, double slowdown, double random_kept, double greedy_kept) {
    return PrintedRow{{name, Profile::mixed, slowdown, slowdown},
                      1.01,
                      1.12,
                      1.59,
                      2.09,
                      random_kept,
                      random_kept,
                      1.59,
                      2.09,
                      greedy_kept,
                      greedy_kept};
  };
  const auto by_size = [](const char* name, int members) {
    return PrintedRow{
        {name, Profile::mixed, 1, 2, members}, 1.01, 1.12, 1.59, 2.15, 48, 61, 1.59, 2.15, 48, 61};
  };
  return {by_profile("balanced", Profile::balanced),
          by_profile("rollout-heavy", Profile::rollout_heavy),
          by_profile("train-heavy", Profile::train_heavy),
          by_promise("slowdown of 1.2 allowed", 1.2, 38, 43),
          by_promise("slowdown of 2 allowed", 2.0, 71, 73),
          by_size("groups of at most 2", 2),
          by_size("groups of at most 3", 3)};
}

// Figure 20 and the appendix.
void add_default(ReproducedExperiment& out, std::uint64_t seed) {
  constexpr const char* kFigure20 = "WEAVE, appendix and Figure 20";
  const Row row = run_all({"mixed"}, seed);
  add_row(out, kFigure20, {{"mixed"}, 1.06, 1.06, 1.97, 1.97, 60, 60, 1.66, 1.66, 62, 62}, row);
  const std::string facts = "the trace has " + format_number(300 * 14.4 / 580) +
                            " jobs at a time on average, and a job alone on a node of either kind costs $" +
                            format_number(weave_pools().usd_per_hour(1, 1)) + " an hour";
  const auto dollars = [&](const char* cell, const Outcome& of, double printed) {
    add_finding(out, {"mean cost", kFigure20, "$/h"}, cell, of.usd_per_hour(), printed, printed, facts);
  };
  dollars("WEAVE's Algorithm 1", row.weave, 870);
  dollars("random", row.random, 1620);
  dollars("most idle", row.greedy, 1360);
  add_finding(out, {"highest cost", kFigure20, "$/h"}, "WEAVE's Algorithm 1", row.weave.max_usd_per_hour, 1800,
              1800, facts);
  add_finding(out, {"most GPUs", kFigure20, "GPUs"}, "WEAVE's Algorithm 1", row.weave.max_gpus, 504, 504,
              facts);
}

coschedule::Placement placed(int jobs, std::uint64_t seed, const PlacementRules& rules = {}) {
  coschedule::Placement placement{weave_pools(), {}};
  for (int j = 0; j < jobs; ++j)
    take(placement,
         place(placement, drawn_job(Profile::mixed, 1, 2, seed, static_cast<std::uint64_t>(j)), rules));
  return placement;
}

// Whether departures or arrivals make the difference: jobs that arrive one after the other, and all stay.
void add_arrivals(ReproducedExperiment& out, std::uint64_t seed) {
  constexpr int kJobs = 8, kDraws = 100;
  OverOptimum sum;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const coschedule::Placement placement = placed(kJobs, seed + draw, PlacementRules::as_printed());
    sum.ours += placement.usd_per_hour();
    sum.best +=
        cheapest_placement(placement.jobs(), weave_pools(), {weave_pools(), {}}, {0}).placement.usd_per_hour();
  }
  add_finding(
      out, {"cost over the optimum: WEAVE's Algorithm 1, if no job ends", "WEAVE, appendix and Figure 20", "x"},
      "mixed", sum.ratio(), 1.06, 1.06, "the mean of " + std::to_string(kDraws) + " draws of 8 jobs");
}

double seconds_of(const std::function<void()>& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

// Table 5.
void add_latencies(ReproducedExperiment& out) {
  constexpr int kDecisions = 50;
  const Printed ours{"decision about an arriving job", "WEAVE, Table 5", "s"};
  for (const auto& [jobs, printed_s] : {std::pair{5, 5.6e-3},
                                        {9, 6.5e-3},
                                        {13, 7.6e-3},
                                        {100, 41.9e-3},
                                        {500, 198e-3},
                                        {1000, 318e-3},
                                        {2000, 591e-3}}) {
    const coschedule::Placement placement = placed(jobs, 1);
    const double seconds = seconds_of([&, jobs = jobs] {
      for (int d = 0; d < kDecisions; ++d) {
        const Job job = drawn_job(Profile::mixed, 1, 2, 1, static_cast<std::uint64_t>(jobs + d));
        (void)place(placement, job);
      }
    });
    add_finding(out, ours, std::to_string(jobs) + " jobs", seconds / kDecisions, 0, printed_s, "measured here");
  }
  const Printed optimum{"optimum with regrouping of all jobs", "WEAVE, Table 5", "s"};
  for (const auto& [jobs, printed_s] : {std::pair{5, 113e-3}, {9, 60.0}, {13, 5 * 3600.0}}) {
    std::vector<Job> all = placed(jobs, 1).jobs();
    const double seconds = seconds_of([&] {
      (void)cheapest_placement(all, weave_pools(), {weave_pools(), {}}, {0});
    });
    add_finding(out, optimum, std::to_string(jobs) + " jobs", seconds, 0, printed_s, "measured here");
  }
}

}  // namespace

void add_scheduler(ReproducedExperiment& out, std::uint64_t seed) {
  for (const PrintedRow& printed : rows_of_figure_15())
    add_row(out, kFigure15, printed, run_all(printed.setting, seed));
  add_default(out, seed);
  add_arrivals(out, seed);
  add_latencies(out);
}

}  // namespace sextant::weave
