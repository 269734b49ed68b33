// Members that run several times in a meta-iteration (rounds.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "core/json_value.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/control/permit_queue.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/rounds.h"
#include "planner/coschedule/simulation/baselines.h"
#include "planner/coschedule/simulation/repack.h"
#include "planner/coschedule/simulation/simulate.h"
#include "sextant/error.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Group with_turns(Group group) {
  group.turns = repeated_turns(group);
  return group;
}

// Two jobs on rollout nodes of their own and one training node.
Group apart(Job first, Job second) { return {"g", 2, 1, {{std::move(first), {0}}, {std::move(second), {1}}}}; }

// Round robin runs each once in 20 s. The short one trains from 0 to 1 and 10 to 11, the long one from 11 to 20.
TEST(Repetition, AShortJobThatFitsTwiceRunsTwice) {
  const Group group = with_turns(apart(job("long", 11, 9), job("short", 9, 1)));
  EXPECT_THAT(iterations_of(group), ElementsAre(1, 2));
  const std::vector<MemberIterations> iterations = member_iterations(group);
  EXPECT_NEAR(iterations[0].longest_s, 20, 1e-9);
  EXPECT_NEAR(iterations[0].slowdown, 1, 1e-9);
  EXPECT_NEAR(iterations[1].mean_s, 10, 1e-9);
  EXPECT_NEAR(iterations[1].longest_s, 10, 1e-9);
  EXPECT_NEAR(throughput(group, {1, 2}, 20), 2, 1e-9);
  EXPECT_THAT(simulated_iterations_s(group),
              ElementsAre(::testing::DoubleNear(20, 1e-9), ::testing::DoubleNear(10, 1e-9)));
}

// All pairs of jobs with whole seconds whose load is at most their cycle are tried, the shortest in all first. In six
// seconds the long one runs twice and the short one three times, instead of twice each.
TEST(Repetition, TheSmallestPairThatGainsTakesFiveSeconds) {
  std::vector<std::vector<int>> smallest;
  for (int sum = 4; sum <= 10 && smallest.empty(); ++sum) {
    for (int r1 = 1; r1 < sum; ++r1) {
      for (int t1 = 1; r1 + t1 < sum; ++t1) {
        for (int r2 = 1; r1 + t1 + r2 < sum; ++r2) {
          const int t2 = sum - r1 - t1 - r2;
          if (r1 + t1 < r2 + t2) continue;  // the first is the longer one
          const Group group = apart(job("long", r1, t1), job("short", r2, t2));
          if (load_s(group) > cycle_s(group)) continue;
          if (!repeated_turns(group).empty()) smallest.push_back({r1, t1, r2, t2});
        }
      }
    }
  }
  EXPECT_THAT(smallest, ElementsAre(ElementsAre(2, 1, 1, 1)));
}

// The long job allows nothing, and the short one would be in its way every other time.
TEST(Repetition, NobodyIsMadeLaterThanPromised) {
  Group group = apart(job("long", 10, 10, 1.0), job("short", 9, 3));
  EXPECT_THAT(repeated_turns(group), IsEmpty());
  group.members[0].job.max_slowdown = 1.3;
  group = with_turns(group);
  EXPECT_THAT(iterations_of(group), ElementsAre(1, 2));
  EXPECT_LE(member_iterations(group)[0].longest_s, 1.3 * 20 + 1e-9);
}

Group random_group(std::uint64_t seed, int max_members, double min_slowdown) {
  std::mt19937_64 random(seed);
  const auto below = [&](int count) { return static_cast<int>(random() % static_cast<std::uint64_t>(count)); };
  Group group{"g", 1 + below(3), 1, {}};
  const int members = 2 + below(max_members - 1);
  for (int m = 0; m < members; ++m) {
    Member member{job("j" + std::to_string(m), 1 + below(12), 1 + below(5), min_slowdown + 0.25 * below(7)),
                  {}};
    member.rollout_nodes.push_back(below(group.rollout_nodes));
    for (int node = member.rollout_nodes.front() + 1; node < group.rollout_nodes; ++node) {
      if (below(4) == 0) member.rollout_nodes.push_back(node);
    }
    member.job.rollout_nodes = static_cast<int>(member.rollout_nodes.size());
    group.members.push_back(std::move(member));
  }
  return group;
}

// Turns one after the other: the mean of a meta-iteration and the longest iteration of each member, of the second half.
struct Played {
  double period_s = 0;
  std::vector<double> longest_s;
};

Played play(const Group& group, const std::vector<int>& order) {
  constexpr int kMetaIterations = 120;  // half of them is a multiple of 1 to 6
  std::vector<double> node_s(static_cast<std::size_t>(group.rollout_nodes), 0.0),
      ready_s(group.members.size(), 0.0);
  Played played{0, std::vector<double>(group.members.size(), 0.0)};
  double training_s = 0, half_s = 0;
  for (int i = 0; i < kMetaIterations; ++i) {
    if (i == kMetaIterations / 2) half_s = training_s;
    for (const int turn : order) {
      const auto m = static_cast<std::size_t>(turn);
      const Member& member = group.members[m];
      double start_s = ready_s[m];
      for (const int node : member.rollout_nodes)
        start_s = std::max(start_s, node_s[static_cast<std::size_t>(node)]);
      for (const int node : member.rollout_nodes)
        node_s[static_cast<std::size_t>(node)] = start_s + member.job.rollout_s;
      training_s = std::max(training_s, start_s + member.job.rollout_s) + member.job.training_s;
      if (i >= kMetaIterations / 2)
        played.longest_s[m] = std::max(played.longest_s[m], training_s - ready_s[m]);
      ready_s[m] = training_s;
    }
  }
  played.period_s = (training_s - half_s) / (kMetaIterations / 2);
  return played;
}

// The highest throughput of any order of up to `max_turns` turns that keeps all promises; one turn of each is one.
double best_throughput(const Group& group, std::vector<int> counts, int max_turns, std::size_t from = 0) {
  std::vector<int> order;
  for (std::size_t m = 0; m < counts.size(); ++m)
    order.insert(order.end(), static_cast<std::size_t>(counts[m]), static_cast<int>(m));
  double best = 0;
  if (static_cast<int>(order.size()) > max_turns) return best;
  do {
    const Played played = play(group, order);
    bool keeps = true;
    for (std::size_t m = 0; m < counts.size(); ++m)
      keeps = keeps && played.longest_s[m] <= group.members[m].job.max_iteration_s() * (1 + 1e-9);
    if (keeps) best = std::max(best, throughput(group, counts, played.period_s));
  } while (std::next_permutation(order.begin(), order.end()));
  for (std::size_t m = from; m < counts.size(); ++m) {
    ++counts[m];
    best = std::max(best, best_throughput(group, counts, max_turns, m));
    --counts[m];
  }
  return best;
}

TEST(Repetition, IsAsGoodAsAnyOrderAndAnyRepetition) {
  int repeated = 0, kept = 0;
  for (std::uint64_t seed = 1; kept < 150; ++seed) {
    const Group group = random_group(seed, 3, 1.25);
    const std::vector<int> once(group.members.size(), 1);
    const double period_s = planned_turns(group).period_s;
    if (period_s > max_iteration_s(group) * (1 + 1e-9)) continue;
    ++kept;
    const Group best = with_turns(group);
    repeated += best.turns.empty() ? 0 : 1;
    const int max_turns = group.members.size() == 2 ? 8 : 6;
    const double found = throughput(best, iterations_of(best), planned_turns(best).period_s);
    const double any = best_throughput(group, once, max_turns);
    if (best.turns.empty()) {
      EXPECT_LE(any, found * 1.01 * (1 + 1e-9)) << "seed " << seed;  // less is not worth it
    } else {
      EXPECT_GE(found, any * (1 - 1e-9)) << "seed " << seed;
      EXPECT_GT(found, 1.01 * throughput(group, once, period_s)) << "seed " << seed;
    }
  }
  EXPECT_GT(repeated, 20);
}

// Groups of up to five, with transfers and warm starts, checked by the verifier's own code.
TEST(Repetition, KeepsAllPromisesInTheSimulation) {
  int repeated = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    Group group = random_group(seed, 5, 1.25);
    for (Member& member : group.members) {
      member.job.sync_s = static_cast<double>(seed % 3);
      member.job.rollout_warm_start_s = static_cast<double>(seed % 2);
    }
    group = with_turns(group);
    if (group.turns.empty()) continue;
    ++repeated;
    const std::vector<double> simulated_s = simulated_iterations_s(group);
    const std::vector<MemberIterations> iterations = member_iterations(group);
    EXPECT_NEAR(simulated_period_s(group), planned_turns(group).period_s, 1e-6 * simulated_period_s(group));
    for (std::size_t m = 0; m < simulated_s.size(); ++m) {
      EXPECT_LE(simulated_s[m], group.members[m].job.max_iteration_s() * (1 + 1e-6)) << "seed " << seed;
      EXPECT_NEAR(simulated_s[m], iterations[m].longest_s, 1e-6 * simulated_s[m]) << "seed " << seed;
    }
  }
  EXPECT_GT(repeated, 100);
}

// Nodes hold one suspended job, so that the short one gets a rollout node of its own.
Placement long_and_short(bool may_repeat = true) {
  Placement placement{test::pools(), {}};
  placement.pools.rollout.host_memory_bytes = 10;
  PlacementRules rules;
  rules.may_repeat = may_repeat;
  for (Job of : {job("long", 11, 9), job("short", 9, 1)}) {
    of.rollout_host_bytes = 6;
    take(placement, place(placement, of, rules));
  }
  return placement;
}

TEST(Repetition, IsPartOfTheAnswerOfPlace) {
  Placement placement = long_and_short();
  ASSERT_EQ(placement.groups.size(), 1U);
  EXPECT_THAT(iterations_of(placement.groups[0]), ElementsAre(1, 2));
  EXPECT_THAT(broken_promises(placement), IsEmpty());
  const Json json = placement.to_json();
  EXPECT_EQ(json["groups"][0]["turns"].size(), 3U);
  EXPECT_EQ(Placement::parse(JsonView(json)), placement);
  EXPECT_THAT(long_and_short(false).groups[0].turns, IsEmpty());
  EXPECT_FALSE(long_and_short(false).to_json()["groups"][0].contains("turns"));
  // A third member, and one that leaves: turns are planned anew.
  Job third = job("third", 9, 1);
  third.rollout_host_bytes = 6;
  take(placement, place(placement, third));
  ASSERT_EQ(placement.groups.size(), 1U);
  EXPECT_THAT(iterations_of(placement.groups[0]), ElementsAre(1, 2, 2));
  EXPECT_THAT(broken_promises(placement), IsEmpty());
  remove_job(placement, "long");
  EXPECT_THAT(iterations_of(placement.groups[0]), ElementsAre(1, 1));
  remove_job(placement, "short");
  EXPECT_THAT(placement.groups[0].turns, IsEmpty());
}

TEST(Repetition, FaultyTurnsAreRefused) {
  const auto refusal = [](const std::vector<int>& turns, double probability) -> std::string {
    Placement placement = long_and_short();
    placement.groups[0].turns = turns;
    placement.probability = probability;
    const Json json = placement.to_json();
    try {
      (void)Placement::parse(JsonView(json));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({1, 0, 1}, 1), "");
  EXPECT_THAT(refusal({1, 0, 2}, 1), HasSubstr("/groups/0/turns: expected positions of members below 2"));
  EXPECT_THAT(refusal({1, 1}, 1), HasSubstr("every member needs a turn"));
  EXPECT_THAT(refusal({1, 0, 1}, 0.95), HasSubstr("one iteration each"));
}

// A repetition that breaks a promise is found.
TEST(Repetition, ABrokenPromiseIsReported) {
  Placement placement = long_and_short();
  placement.groups[0].turns = {0, 1, 1, 1, 1, 1};
  EXPECT_THAT(broken_promises(placement), ElementsAre(HasSubstr("an iteration of long takes")));
}

// Alone, the short job has 100 iterations in 1000 s. Round robin needs 2000 s for them; the long one takes as long.
TEST(Repetition, IsSimulated) {
  JobTrace trace{long_and_short().pools, long_and_short().jobs()};
  for (Job& of : trace.jobs) of.duration_s = 1000;
  const Simulation repeated = simulate(trace, *find_policy("weave")),
                   once = simulate(trace, *find_policy("weave-once"));
  ASSERT_EQ(repeated.jobs.size(), 2U);
  EXPECT_NEAR(repeated.jobs[0].end_s, 1000, 1e-6);
  EXPECT_NEAR(repeated.jobs[1].end_s, 1000, 1e-6);
  EXPECT_NEAR(repeated.jobs[1].slowdown, 1, 1e-9);
  EXPECT_NEAR(repeated.training_busy_fraction, 0.55, 1e-9);
  EXPECT_EQ(once.jobs[0].name, "long");
  EXPECT_NEAR(once.jobs[1].end_s, 1500, 1e-6);  // alone after the first 1000 s
  EXPECT_NEAR(repeated.total_usd, 5 * 1000.0 / 3600, 1e-6);
}

// Jobs that ask for permits, on a clock of their own: mean iterations of the second half.
std::vector<double> iterations_with_permits(const Group& group, int meta_iterations) {
  PermitQueue queue(group);
  const std::size_t members = group.members.size();
  struct Running {
    double ends_s = std::numeric_limits<double>::infinity();
    bool trains = false;
    std::vector<double> ended_s;
  };
  std::vector<Running> running(members);
  const std::vector<int> counts = iterations_of(group);
  for (std::size_t m = 0; m < members; ++m) queue.join(static_cast<int>(m));
  for (std::size_t m = 0; m < members; ++m) EXPECT_TRUE(queue.request(static_cast<int>(m), Phase::rollout));
  for (double now_s = 0; running[0].ended_s.size() < static_cast<std::size_t>(meta_iterations * counts[0]);) {
    for (const int m : queue.granted()) {
      Running& of = running[static_cast<std::size_t>(m)];
      const Job& granted = group.members[static_cast<std::size_t>(m)].job;
      of.trains = queue.phase_of(m) == Phase::training;
      of.ends_s = now_s + (of.trains ? granted.training_s : granted.rollout_s);
    }
    const auto first = std::min_element(running.begin(), running.end(),
                                        [](const Running& a, const Running& b) { return a.ends_s < b.ends_s; });
    if (first->ends_s == std::numeric_limits<double>::infinity()) return {};  // all wait for each other
    const int m = static_cast<int>(first - running.begin());
    now_s = first->ends_s;
    first->ends_s = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(queue.release(m));
    if (first->trains) first->ended_s.push_back(now_s);
    EXPECT_TRUE(queue.request(m, first->trains ? Phase::rollout : Phase::training));
  }
  std::vector<double> mean_s;
  for (const Running& of : running) {
    const std::size_t half = of.ended_s.size() / 2, last = of.ended_s.size() - 1;
    mean_s.push_back((of.ended_s[last] - of.ended_s[half]) / static_cast<double>(last - half));
  }
  return mean_s;
}

TEST(Repetition, PermitsFollowTheTurns) {
  int repeated = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Group group = with_turns(random_group(seed, 4, 1.5));
    if (group.turns.empty()) continue;
    ++repeated;
    const std::vector<double> mean_s = iterations_with_permits(group, 400);
    ASSERT_EQ(mean_s.size(), group.members.size()) << "seed " << seed;
    const std::vector<MemberIterations> planned = member_iterations(group);
    for (std::size_t m = 0; m < mean_s.size(); ++m)
      EXPECT_NEAR(mean_s[m], planned[m].mean_s, 0.01 * mean_s[m]) << "seed " << seed;
  }
  EXPECT_GT(repeated, 30);
}

}  // namespace
}  // namespace sextant::coschedule
