#include <algorithm>
#include <map>

#include "core/units.h"
#include "lab/reproduce/weave/finding.h"
#include "lab/reproduce/weave/two_weeks_trace.h"
#include "lab/reproduce/weave/weave.h"
#include "planner/coschedule/simulation/baselines.h"
#include "planner/coschedule/simulation/simulate.h"

namespace sextant::weave {
namespace {

using namespace coschedule;

constexpr const char* kScale = "WEAVE, section 6.4 and Figure 14";
constexpr const char* kDrift = "WEAVE, section 6.6, Figures 17 and 18";
constexpr int kTraces = 10, kDriftingTraces = 3;

// Means over the traces, by policy.
struct Replay {
  double usd = 0, kept = 0, rollout_busy = 0, training_busy = 0, rollout_nodes = 0, training_nodes = 0,
         restart_s = 0;
  std::map<std::string, double> decisions;
  double decided = 0;
  [[nodiscard]] double share(Decision decision) const {
    const auto found = decisions.find(std::string(name_of(decision)));
    return found == decisions.end() ? 0 : found->second / decided;
  }
};

Replay replay(const TwoWeeks& rules, std::uint64_t seed, int traces, const char* policy) {
  Replay sum;
  for (int t = 0; t < traces; ++t) {
    SimulationOptions options;
    options.keeps_jobs = false;
    const Simulation one =
        simulate(two_weeks_trace(rules, seed + static_cast<std::uint64_t>(t)), *find_policy(policy), options);
    sum.usd += one.total_usd / traces;
    sum.kept += one.kept_fraction / traces;
    sum.rollout_busy += one.rollout_busy_fraction / traces;
    sum.training_busy += one.training_busy_fraction / traces;
    sum.rollout_nodes += 1.0 * one.max_rollout_nodes / traces;
    sum.training_nodes += 1.0 * one.max_training_nodes / traces;
    sum.restart_s += one.restart_s / traces;
    for (const auto& [name, count] : one.decisions) {
      sum.decisions[name] += count;
      sum.decided += count;
    }
  }
  return sum;
}

// Changed one after the other, each in addition to those before.
struct Variant {
  const char* name;
  TwoWeeks rules;
};
std::vector<Variant> variants() {
  TwoWeeks narrow, loose, alike;
  narrow.min_rollout_s = loose.min_rollout_s = alike.min_rollout_s = 200;
  narrow.max_rollout_s = loose.max_rollout_s = alike.max_rollout_s = 300;
  loose.min_slowdown = alike.min_slowdown = 1.5;
  alike.wide_share = 0;
  return {{"as described", {}},
          {"rollouts of 200 to 300 s", narrow},
          {"and promises of at least 1.5", loose},
          {"and one node of each pool for every job", alike}};
}

void add_costs(ReproducedExperiment& out, const Variant& variant, std::uint64_t seed) {
  const auto total = [&](const char* policy) { return replay(variant.rules, seed, kTraces, policy).usd; };
  const double solo = total("solo"), paper = total("weave-paper"), ours = total("weave"),
               regrouped = total("weave-repack");
  const std::string facts =
      "regrouping running jobs where it pays reaches " + format_number(solo / regrouped) + "x on the same jobs";
  add_finding(out, {"cost: solo disaggregation over Algorithm 1 as printed", kScale, "x"}, variant.name,
              solo / paper, 1.84, 1.84, facts);
  add_finding(out, {"cost: solo disaggregation over our placement", kScale, "x"}, variant.name, solo / ours,
              1.84, 1.84, facts);
  add_finding(out, {"cost: solo disaggregation over our placement with regrouping", kScale, "x"}, variant.name,
              solo / regrouped, 1.84, 1.84, facts);
}

void add_decisions(ReproducedExperiment& out, const Replay& of) {
  const Printed printed{"decisions about arriving jobs", kScale, "%"};
  const std::string facts =
      "of " + format_number(of.decided) + " decisions of " + std::to_string(kTraces) + " traces";
  add_finding(out, printed, "packed", 100 * of.share(Decision::packing), 60.5, 60.5, facts);
  add_finding(out, printed, "more rollout nodes", 100 * of.share(Decision::rollout_scaling), 15, 15, facts);
  add_finding(out, printed, "new groups", 100 * of.share(Decision::new_group), 24.5, 24.5, facts);
}

void add_peaks(ReproducedExperiment& out, const char* name, const Replay& of, double h800, double h20) {
  constexpr int kNodeGpus = 8;
  const Printed printed{"GPUs at the peak", kScale, "GPUs"};
  const std::string facts = "the mean of " + std::to_string(kTraces) + " traces";
  add_finding(out, printed, std::string(name) + ", H800", kNodeGpus * of.training_nodes, h800, h800, facts);
  if (h20 > 0)
    add_finding(out, printed, std::string(name) + ", H20", kNodeGpus * of.rollout_nodes, h20, h20, facts);
}

void add_scale(ReproducedExperiment& out, std::uint64_t seed) {
  for (const Variant& variant : variants()) add_costs(out, variant, seed);
  const auto of = [&](const char* policy) { return replay({}, seed, kTraces, policy); };
  const Replay solo = of("solo"), weave = of("weave-paper"), verl = of("colocated");
  add_finding(out, {"cost: veRL over Algorithm 1 as printed", kScale, "x"}, "as described",
              verl.usd / weave.usd, 1.38, 1.38,
              "solo disaggregation costs " + format_number(solo.usd / verl.usd) + " times as much as veRL");
  add_finding(out, {"cost: solo disaggregation over veRL", kScale, "x"}, "as described", solo.usd / verl.usd,
              0.94 / 0.71, 0.94 / 0.71,
              "veRL has " + format_number(verl.training_nodes) +
                  " training nodes at its peak, solo disaggregation " + format_number(solo.training_nodes));
  add_finding(out, {"promises kept", kScale, "%"}, "as described", 100 * weave.kept, 100, 100, "");
  add_decisions(out, weave);
  add_peaks(out, "WEAVE", weave, 152, 216);
  add_peaks(out, "solo disaggregation", solo, 328, 328);
  add_peaks(out, "veRL", verl, 328, 0);
  const auto bubbles = [&](const char* cell, double before, double after, double printed) {
    add_finding(out, {"bubbles removed from those of solo disaggregation", kScale, "%"}, cell,
                100 * std::max(0.0, 1 - (1 - after) / (1 - before)), printed, printed,
                "nodes are busy for " + format_percent(before) + " of the time alone and for " +
                    format_percent(after) + " in groups");
  };
  bubbles("rollout nodes", solo.rollout_busy, weave.rollout_busy, 24.4);
  bubbles("training nodes", solo.training_busy, weave.training_busy, 43.1);
}

struct DriftRow {
  const char* name;
  DriftSetting setting;
  double cost, kept;
};

void add_drift(ReproducedExperiment& out, const DriftRow& row, std::uint64_t seed) {
  TwoWeeks rules;
  rules.drift = row.setting;
  const auto of = [&](const char* policy) { return replay(rules, seed, kDriftingTraces, policy); };
  const Replay weave = of("weave-paper"), regrouped = of("regroup-hourly"), random = of("random"),
               idle = of("most-idle");
  const auto without_drift = [&](const char* policy) { return replay({}, seed, kDriftingTraces, policy).usd; };
  const std::string facts =
      "regrouping stops jobs for " + format_number(regrouped.restart_s / 3600) + " hours and keeps " +
      format_percent(regrouped.kept) + " of the promises; a group of its own for every job costs " +
      format_number(of("solo").usd / regrouped.usd) + " times as much; without drift WEAVE costs " +
      format_number(without_drift("weave-paper") / without_drift("regroup-hourly")) + " times as much";
  const auto cost = [&](const char* group, const Replay& one, double low, double high) {
    add_finding(out, {group, kDrift, "x"}, row.name, one.usd / regrouped.usd, low, high, facts);
  };
  cost("cost with drift: WEAVE over hourly regrouping", weave, row.cost, row.cost);
  cost("cost with drift: random over hourly regrouping", random, 3.50, 3.60);
  cost("cost with drift: most idle over hourly regrouping", idle, 3.21, 3.30);
  add_finding(out, {"promises kept with drift", kDrift, "%"}, row.name, 100 * weave.kept, row.kept, row.kept,
              facts);
  add_finding(out, {"rollout nodes busy: hourly regrouping over WEAVE", kDrift, "x"}, row.name,
              regrouped.rollout_busy / weave.rollout_busy, 1, 1.059, facts);
  add_finding(out, {"training nodes busy: hourly regrouping over WEAVE", kDrift, "x"}, row.name,
              regrouped.training_busy / weave.training_busy, 0, 1, facts);
  if (row.setting == DriftSetting::mixed)
    add_finding(out, {"hours of restarts by hourly regrouping", "WEAVE, section 6.6", "h"}, row.name,
                regrouped.restart_s / 3600, 32.9, 32.9, facts);
}

}  // namespace

void add_two_weeks(ReproducedExperiment& out, std::uint64_t seed) {
  add_scale(out, seed);
  for (const DriftRow& row : {DriftRow{"increasing", DriftSetting::increasing, 1.11, 98.6},
                              DriftRow{"decreasing", DriftSetting::decreasing, 1.10, 98.7},
                              DriftRow{"mixed", DriftSetting::mixed, 1.08, 95.6}})
    add_drift(out, row, seed);
}

}  // namespace sextant::weave
