#include <algorithm>
#include <array>
#include <numeric>

#include "calibrate/import/records/facts.h"
#include "core/units.h"
#include "lab/reproduce/weave/finding.h"
#include "lab/reproduce/weave/weave.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/simulation/job_level.h"
#include "planner/coschedule/tail.h"
#include "planner/coschedule/trace/workload.h"

namespace sextant::weave {
namespace {

using coschedule::Group;
using coschedule::Job;
using coschedule::Pools;

constexpr double kColdStart_s = 135;  // section 3.2: "up to 135 seconds"

// Table 2: bytes of a suspended phase on a node of eight GPUs.
struct States {
  double rollout_bytes, training_bytes;
};
constexpr States k7b{275.7e9, 240e9}, k14b{445.4e9, 456.1e9}, k32b{490.3e9, 520.4e9};

// Every GPU loads its part over its own link to the host.
double warm_start_s(const Facts& facts, const char* gpu, double bytes) {
  constexpr int kNodeGpus = 8;
  return bytes / kNodeGpus / facts.gpu(gpu).type.host_bytes_per_s->value;
}

// A job of the printed iteration alone, of which the rollout takes `over_training` times as long as the training.
Job printed_job(const Facts& facts, const char* name, double solo_s, double over_training,
                const States& states) {
  constexpr double kMemoryRatio = 4.0 / 3.35;  // Table 1: decode reads memory
  Job job;
  job.name = name;
  job.training_s = solo_s / (1 + over_training);
  job.rollout_s = solo_s - job.training_s;
  job.max_slowdown = 2;  // the most of section 6.4
  job.colocated_rollout_s = job.rollout_s * kMemoryRatio;
  job.rollout_host_bytes = states.rollout_bytes;
  job.training_host_bytes = states.training_bytes;
  job.rollout_warm_start_s = warm_start_s(facts, "H20-96GB", states.rollout_bytes);
  job.training_warm_start_s = warm_start_s(facts, "H800", states.training_bytes);
  return job;
}

struct Benchmark {
  const char* name;
  Group group;
  double solo_s, ideal_s, printed_s;        // Table 4
  double over_solo, over_gavel, over_verl;  // Figure 10
};

Job wide(Job job, int nodes) {
  job.rollout_nodes = job.training_nodes = nodes;
  return job;
}

// Section 6.2. The ratios of types D and E are printed; A and C are taken as balanced. A rollout of C that takes 0.8
// times as long as its training is what the printed iteration of (c) needs.
constexpr double kShortRollout = 0.8;
std::vector<Benchmark> benchmarks(const Facts& facts) {
  const auto type = [&](const char* name, double solo_s, double ratio, const States& states) {
    return printed_job(facts, name, solo_s, ratio, states);
  };
  const Job a1 = type("A1", 257.7, 1, k7b), a2 = type("A2", 257.7, 1, k7b);
  const Job d1 = type("D1", 525.4, 2.5, k7b), d2 = type("D2", 525.4, 2.5, k7b), e = type("E", 525.4, 6, k14b);
  const Job c = wide(type("C", 574.6, 1, k32b), 2), short_c = wide(type("C", 574.6, kShortRollout, k32b), 2);
  return {
      {"(a) Temporal Mux", {"a", 1, 1, {{a1, {0}}, {a2, {0}}}}, 257.7, 240.8, 261.8, 1.82, 1.73, 1.47},
      {"(b) Train Mux", {"b", 3, 1, {{d1, {0}}, {d2, {1}}, {e, {2}}}}, 525.4, 490.3, 552.0, 1.90, 1.43, 1.35},
      {"(c) Spatial Mux",
       {"c", 2, 2, {{c, {0, 1}}, {d1, {0}}, {d2, {1}}}},
       574.6,
       516.7,
       630.8,
       1.99,
       1.78,
       1.43},
      {"(c) with a shorter rollout of C",
       {"c", 2, 2, {{short_c, {0, 1}}, {d1, {0}}, {d2, {1}}}},
       574.6,
       516.7,
       630.8,
       1.99,
       1.78,
       1.43}};
}

double period_s(const Group& group) { return coschedule::best_turns(group, 0).period_s; }

// Iterations in an hour for a dollar.
double per_usd(const std::vector<double>& iteration_s, double usd_per_hour) {
  double rate = 0;
  for (const double seconds : iteration_s) rate += 3600 / seconds;
  return rate / usd_per_hour;
}

double solo_per_usd(const Group& group, const Pools& pools) {
  double rate = 0, usd = 0;
  for (const coschedule::Member& member : group.members) {
    rate += 3600 / member.job.solo_s();
    usd += pools.usd_per_hour(member.job);
  }
  return rate / usd;
}

using Use = coschedule::GroupUse (*)(const coschedule::RunningGroup&, const Pools&);

// Each job on its own, as a scheduler of whole jobs runs it.
double job_level_per_usd(const Group& group, const Pools& pools, Use use) {
  coschedule::RunningGroup running{&group, {}, {}};
  for (const coschedule::Member& member : group.members) {
    running.times.push_back({member.job.rollout_s, member.job.training_s, member.job.sync_s});
    running.batches.push_back(nullptr);
  }
  const coschedule::GroupUse result = use(running, pools);
  return per_usd(result.iteration_s, result.rollout_nodes * pools.rollout.usd_per_node_hour() +
                                         result.training_nodes * pools.training.usd_per_node_hour());
}

// Each job on its training nodes alone, with the printed gain of the longest job.
double ideal_per_usd(const Benchmark& one, const Pools& pools) {
  double rate = 0, usd = 0;
  for (const coschedule::Member& member : one.group.members) {
    rate += 3600 / (member.job.solo_s() * one.ideal_s / one.solo_s);
    usd += pools.usd_per_hour(0, member.job.training_nodes);
  }
  return rate / usd;
}

std::string bottleneck(const Group& group) {
  return "the busiest node works " + format_seconds(coschedule::load_s(group)) + ", the longest job takes " +
         format_seconds(coschedule::cycle_s(group)) + " alone";
}

void add_benchmark(ReproducedExperiment& out, const Benchmark& one, const Pools& pools) {
  const double period = period_s(one.group);
  add_finding(out, {"iteration in a group", "WEAVE, Table 4", "s"}, one.name, period, one.printed_s,
              one.printed_s, bottleneck(one.group));
  const double ours =
      per_usd(std::vector<double>(one.group.members.size(), period), one.group.usd_per_hour(pools));
  const auto compared = [&](const char* group, double other, double printed) {
    add_finding(out, {group, "WEAVE, Figure 10", "x"}, one.name, ours / other, printed, printed,
                format_number(ours) + " and " + format_number(other) + " iterations for a dollar");
  };
  compared("throughput at the same cost: WEAVE over solo disaggregation", solo_per_usd(one.group, pools),
           one.over_solo);
  compared("throughput at the same cost: WEAVE over Gavel+",
           job_level_per_usd(one.group, pools, coschedule::gavel_use), one.over_gavel);
  compared("throughput at the same cost: WEAVE over veRL",
           job_level_per_usd(one.group, pools, coschedule::colocated_use), one.over_verl);
  compared("throughput at the same cost: WEAVE over veRL at the ideal of Table 4", ideal_per_usd(one, pools),
           one.over_verl);
}

Group with_cold_starts(Group group) {
  for (coschedule::Member& member : group.members)
    member.job.rollout_warm_start_s = member.job.training_warm_start_s = kColdStart_s;
  return group;
}

// Section 3.2 and Figure 4.
void add_starts(ReproducedExperiment& out, const Facts& facts, const std::vector<Benchmark>& all) {
  const double warm_s = warm_start_s(facts, "H800", k32b.training_bytes);
  add_finding(out, {"cold start over warm start", "WEAVE, section 3.2 and Figure 4", "x"},
              "largest state of Table 2", kColdStart_s / warm_s, 0, 71.5,
              "our warm start takes " + format_seconds(warm_s));
  double most = 0;
  std::string facts_of_most;
  for (const Benchmark& one : all) {
    const double cold_s = period_s(with_cold_starts(one.group)), loss = 1 - period_s(one.group) / cold_s;
    if (loss <= most) continue;
    most = loss;
    facts_of_most = std::string(one.name) + " takes " + format_seconds(cold_s) + " with cold starts of " +
                    format_seconds(kColdStart_s);
  }
  add_finding(out, {"throughput lost to cold starts", "WEAVE, section 3.2", "%"},
              "most of the micro-benchmarks", 100 * most, 0, 45, facts_of_most);
}

// Two jobs on one pair of nodes whose responses are log-normal with a median of a quarter of the maximum.
Group pair_with_tails(const Facts& facts, double other_solo_s, const States& other, double batch_share) {
  Group group{"pair",
              1,
              1,
              {{printed_job(facts, "7B", 257.7, 1, k7b), {0}},
               {printed_job(facts, "other", other_solo_s, 1, other), {0}}}};
  coschedule::TraceRules lengths;
  lengths.response_median = 0.25;
  lengths.response_sigma = 0.8;
  for (coschedule::Member& member : group.members) {
    member.job.responses = coschedule::drawn_responses(lengths);
    member.job.responses->batch_share = batch_share;
  }
  return group;
}

double gain_of_migration(const Group& group) {
  coschedule::RunningGroup running{&group, {}, {}};
  std::vector<coschedule::Batch> batches;
  for (const coschedule::Member& member : group.members)
    batches.push_back(coschedule::typical_batch(*member.job.responses));
  for (std::size_t m = 0; m < batches.size(); ++m) {
    running.times.push_back(coschedule::times_of(group.members[m].job, batches[m]));
    running.batches.push_back(&batches[m]);
  }
  return coschedule::move_tails(running, coschedule::TailRule::stay).period_s /
         coschedule::move_tails(running, coschedule::TailRule::fixed).period_s;
}

// Figure 12 (right): tails move at 80 % of the responses.
void add_migration(ReproducedExperiment& out, const Facts& facts) {
  const auto add = [&](const char* cell, double other_solo_s, const States& other, double batch_share) {
    add_finding(
        out, {"throughput with migration of long tails over without", "WEAVE, section 6.3 and Figure 12", "x"},
        cell, gain_of_migration(pair_with_tails(facts, other_solo_s, other, batch_share)), 1.06, 1.28,
        format_percent(batch_share, 0) + " of a decode step are in proportion to the live responses");
  };
  add("7B-8k and 7B-8k", 257.7, k7b, 0);
  add("7B-8k and 7B-8k, full batches", 257.7, k7b, 1);
  add("7B-8k and a job twice as long", 2 * 257.7, k14b, 0);
  add("7B-8k and a job twice as long, full batches", 2 * 257.7, k14b, 1);
}

// Figure 19: E is killed and comes back.
void add_failure(ReproducedExperiment& out, const Benchmark& train_mux, const Pools& pools) {
  constexpr double kTight = 1.1;  // the example of section 4.2
  coschedule::Placement placement{pools, {train_mux.group}};
  for (coschedule::Member& member : placement.groups.front().members) member.job.max_slowdown = kTight;
  const double before_s = period_s(placement.groups.front());
  const Job killed = placement.groups.front().members.back().job;
  coschedule::remove_job(placement, killed.name, false);
  const double away_s = period_s(placement.groups.front());
  coschedule::take(placement, coschedule::place(placement, killed));
  const double after_s = period_s(placement.groups.front());
  const Printed printed{"iteration of D1 and D2 after a failure of E, over that before",
                        "WEAVE, section 6.6 and Figure 19", "x"};
  const std::string facts = "before " + format_seconds(before_s) + ", without E " + format_seconds(away_s) +
                            ", after its return " + format_seconds(after_s);
  add_finding(out, printed, "while E is away", away_s / before_s, 0, 1, facts);
  add_finding(out, printed, "after E came back", after_s / before_s, 1, 1, facts);
  add_finding(out, {"groups after E came back", "WEAVE, section 6.6", "groups"}, "Train Mux",
              static_cast<double>(placement.groups.size()), 1, 1, facts);
}

}  // namespace

void add_micro_benchmarks(ReproducedExperiment& out, const Facts& facts) {
  const Pools pools = coschedule::weave_pools();
  const std::vector<Benchmark> all = benchmarks(facts);
  add_starts(out, facts, all);
  for (const Benchmark& one : all) add_benchmark(out, one, pools);
  add_migration(out, facts);
  add_failure(out, all[1], pools);
}

}  // namespace sextant::weave
