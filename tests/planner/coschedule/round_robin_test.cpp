#include "planner/coschedule/round_robin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/trace/workload.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using test::on_one_pair;

std::vector<int> own_order(const Group& group) {
  std::vector<int> order(group.members.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Seconds of one cycle in which nodes serve the members in these orders for ever, with repetitions: members may
// appear several times. Its own code: start times of many cycles, one event after the other.
double repeated_period_s(const Group& group, const std::vector<int>& rollouts,
                         const std::vector<int>& trainings) {
  constexpr int kCycles = 300;
  std::map<int, double> node_free_s;
  std::vector<double> ready_s(group.members.size(), 0.0);
  std::vector<std::vector<double>> rolled_s(group.members.size());
  std::vector<std::size_t> taken(group.members.size(), 0);
  double pool_free_s = 0, half_s = 0;
  std::size_t r = 0, t = 0;
  const std::size_t rolls = rollouts.size() * kCycles, trains = trainings.size() * kCycles;
  while (t < trains) {
    const auto trained = static_cast<std::size_t>(trainings[t % trainings.size()]);
    if (rolled_s[trained].size() > taken[trained]) {
      const double start_s = std::max(pool_free_s, rolled_s[trained][taken[trained]++]);
      pool_free_s = ready_s[trained] = start_s + group.members[trained].job.training_s;
      if (++t == trains / 2) half_s = pool_free_s;
      continue;
    }
    if (r == rolls) return 1e300;
    const auto rolled = static_cast<std::size_t>(rollouts[r % rollouts.size()]);
    if (rolled_s[rolled].size() > taken[rolled]) return 1e300;  // its training comes later: these orders block
    const Member& member = group.members[rolled];
    double start_s = ready_s[rolled];
    for (const int node : member.rollout_nodes) start_s = std::max(start_s, node_free_s[node]);
    for (const int node : member.rollout_nodes) node_free_s[node] = start_s + member.job.rollout_s;
    rolled_s[rolled].push_back(start_s + member.job.rollout_s);
    ++r;
  }
  return (pool_free_s - half_s) / (kCycles / 2);
}

// The best mean use of both pools of any cyclic order in which member m runs counts[m] times.
double best_use(const Group& group, const std::vector<int>& counts) {
  std::vector<int> rollouts;
  double work_s = 0;
  for (std::size_t m = 0; m < counts.size(); ++m) {
    for (int i = 0; i < counts[m]; ++i) rollouts.push_back(static_cast<int>(m));
    const Job& of = group.members[m].job;
    work_s += counts[m] * (of.rollout_s + of.training_s);
  }
  std::sort(rollouts.begin(), rollouts.end());
  double best = 0;
  do {
    std::vector<int> trainings = rollouts;
    std::sort(trainings.begin(), trainings.end());
    do {
      best = std::max(best, work_s / repeated_period_s(group, rollouts, trainings));
    } while (std::next_permutation(trainings.begin(), trainings.end()));
  } while (std::next_permutation(rollouts.begin(), rollouts.end()));
  return best;
}

// Figure 1: one job rolls out while the other trains.
TEST(RoundRobin, TwoComplementaryJobsRunAsFastAsAlone) {
  const Turns turns = best_turns(on_one_pair({job("a", 60, 40), job("b", 40, 60)}), 0);
  EXPECT_DOUBLE_EQ(turns.period_s, 100);
  EXPECT_DOUBLE_EQ(turns.rollout_start_s[0], 0);
  EXPECT_NEAR(turns.training_start_s[0], 60, 1e-9);
}

// 70 + 50 seconds of rollouts on one node are longer than any of the iterations, 100 and 90.
TEST(RoundRobin, TheBusiestNodeDecidesWhereItIsOverloaded) {
  const Group group = on_one_pair({job("a", 70, 30), job("b", 50, 40)});
  EXPECT_DOUBLE_EQ(load_s(group), 120);
  EXPECT_DOUBLE_EQ(cycle_s(group), 100);
  EXPECT_DOUBLE_EQ(best_turns(group, 0).period_s, 120);
}

// Warm starts are paid where a node is shared: 60 + 5 + 40 + 5, and of the other job 40 + 40.
TEST(RoundRobin, WarmStartsArePaidOnSharedNodesOnly) {
  Job a = job("a", 60, 40), b = job("b", 40, 40);
  a.rollout_warm_start_s = a.training_warm_start_s = 5;
  EXPECT_DOUBLE_EQ(best_turns(on_one_pair({a}), 0).period_s, 100);
  EXPECT_DOUBLE_EQ(best_turns(on_one_pair({a, b}), 0).period_s, 110);
  Group apart{"g", 2, 1, {{a, {0}}, {b, {1}}}};
  EXPECT_DOUBLE_EQ(best_turns(apart, 0).period_s, 105);  // 60 + 40 + 5: training alone is shared
}

// Transfers share the connection of both pools: 4 x 30 s of transfers in turns.
TEST(RoundRobin, TransfersTakeTurnsOnTheConnection) {
  std::vector<Job> jobs;
  for (const char* name : {"a", "b", "c", "d"}) {
    jobs.push_back(job(name, 10, 10));
    jobs.back().sync_s = 30;
  }
  EXPECT_DOUBLE_EQ(best_turns(on_one_pair(jobs), 0).period_s, 120);
}

// The verifier's simulation knows nothing of cycles. In some groups neither a node nor a job alone explains the period.
TEST(RoundRobin, EveryPeriodIsThatOfTheSimulation) {
  int longer_than_loads = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int count) {
      return static_cast<int>(random() % static_cast<std::uint64_t>(count));
    };
    Group group{"g", 1 + below(3), 1 + below(2), {}};
    const int members = 1 + below(5);
    for (int m = 0; m < members; ++m) {
      Member member{job("j" + std::to_string(m), 1 + below(20), 1 + below(20)), {}};
      member.job.sync_s = below(4);
      member.job.rollout_warm_start_s = below(3);
      member.job.training_warm_start_s = below(3);
      for (int node = 0; node < group.rollout_nodes; ++node) {
        if (below(2) == 0) member.rollout_nodes.push_back(node);
      }
      if (member.rollout_nodes.empty()) member.rollout_nodes.push_back(below(group.rollout_nodes));
      member.job.rollout_nodes = static_cast<int>(member.rollout_nodes.size());
      group.members.push_back(std::move(member));
    }
    const Turns turns = turns_in_order(group, own_order(group));
    EXPECT_NEAR(turns.period_s, simulated_period_s(group), 1e-6 * turns.period_s) << "seed " << seed;
    EXPECT_GE(turns.period_s, load_s(group) * (1 - 1e-12));
    double alone_s = load_s(group);
    for (const Phases& of : phases_of(group))
      alone_s = std::max(alone_s, of.rollout_s + of.training_s + of.sync_s);
    longer_than_loads += turns.period_s > alone_s * (1 + 1e-9) ? 1 : 0;
    // The starts are a schedule: no node is used twice at a time.
    const std::vector<Phases> phases = phases_of(group);
    for (std::size_t a = 0; a < phases.size(); ++a) {
      EXPECT_GE(turns.training_start_s[a] - turns.rollout_start_s[a], phases[a].rollout_s - 1e-6);
      for (std::size_t b = a + 1; b < phases.size(); ++b) {
        EXPECT_GE(turns.training_start_s[b] - turns.training_start_s[a], phases[a].training_s - 1e-6);
        EXPECT_GE(turns.training_start_s[a] + turns.period_s - turns.training_start_s[b],
                  phases[b].training_s - 1e-6);
      }
    }
  }
  EXPECT_GT(longer_than_loads, 10);
}

// Theorem 1 with one node of each pool: of groups whose load is at most their cycle, no order and no repetition uses
// the pools better than everyone once.
TEST(RoundRobin, NoRepetitionUsesOnePairOfNodesBetter) {
  int groups = 0;
  for (std::uint64_t seed = 1; groups < 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int count) {
      return static_cast<int>(random() % static_cast<std::uint64_t>(count));
    };
    std::vector<Job> jobs;
    const int members = 2 + below(2);
    for (int m = 0; m < members; ++m) jobs.push_back(job("j" + std::to_string(m), 1 + below(9), 1 + below(9)));
    const Group group = on_one_pair(jobs);
    if (load_s(group) > cycle_s(group)) continue;
    ++groups;
    double work_s = 0;
    for (const Job& of : jobs) work_s += of.rollout_s + of.training_s;
    const double once = work_s / best_turns(group, 0).period_s;
    EXPECT_NEAR(once, work_s / cycle_s(group), 1e-9) << "seed " << seed;
    for (std::size_t twice = 0; twice < jobs.size(); ++twice) {
      std::vector<int> counts(jobs.size(), 1);
      counts[twice] = 2;
      EXPECT_LE(best_use(group, counts), once * (1 + 1e-9)) << "seed " << seed;
    }
  }
}

// With two rollout nodes it is false. Round robin: 20 s, the second job once. It fits twice: it rolls out from 1 to 10
// and 11 to 20, and trains from 0 to 1 and 10 to 11, while the first trains from 11 to 20.
TEST(RoundRobin, AShortJobFitsTwiceOnTwoRolloutNodes) {
  const Group group{"g", 2, 1, {{job("long", 11, 9), {0}}, {job("short", 9, 1), {1}}}};
  EXPECT_LT(load_s(group), cycle_s(group));
  const double period_s = best_turns(group, 0).period_s;
  EXPECT_DOUBLE_EQ(period_s, 20);
  EXPECT_NEAR(repeated_period_s(group, {0, 1, 1}, {1, 0, 1}), 20, 1e-9);
  EXPECT_GT(best_use(group, {1, 2}), 30 / period_s);
}

}  // namespace
}  // namespace sextant::coschedule
