#include "planner/coschedule/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "core/json_value.h"
#include "planner/coschedule/admission/queue.h"
#include "planner/coschedule/bound/cheapest_group.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/coschedule/bound/optimum.h"
#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/round_robin.h"
#include "planner/coschedule/simulation/baselines.h"
#include "planner/coschedule/simulation/repack.h"
#include "planner/coschedule/trace/workload.h"
#include "planner/exact/milp.h"
#include "sextant/error.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Placement placed(const std::vector<Job>& jobs, const Pools& pools = test::pools(),
                 const PlacementRules& rules = {}) {
  Placement placement{pools, {}};
  for (const Job& of : jobs) {
    PlacementAnswer answer = place(placement, of, rules);
    EXPECT_TRUE(answer.is_placed) << answer.refusal;
    if (answer.is_placed) take(placement, std::move(answer));
  }
  return placement;
}

TEST(Place, PacksAJobIntoTheBubblesOfAnother) {
  const Placement one = placed({job("a", 60, 40)});
  EXPECT_EQ(one.usd_per_hour(), 4);
  const PlacementAnswer answer = place(one, job("b", 40, 60));
  EXPECT_EQ(answer.chosen.decision, Decision::packing);
  EXPECT_EQ(answer.chosen.added_usd_per_hour, 0);
  EXPECT_DOUBLE_EQ(answer.chosen.period_s, 100);
}

// The running example of section 4.2: a job whose rollout does not fit beside either of two others gets a new node.
TEST(Place, ScalesRolloutWhereTrainingHasTime) {
  Placement placement = placed({job("c", 90, 20, 1.1), job("d", 80, 30, 1.2)});
  ASSERT_EQ(placement.groups.size(), 1U);
  EXPECT_EQ(placement.groups.front().rollout_nodes, 2);
  PlacementAnswer answer = place(placement, job("e", 85, 20, 1.2));
  EXPECT_EQ(answer.chosen.decision, Decision::rollout_scaling);
  EXPECT_EQ(answer.chosen.new_rollout_nodes, 1);
  EXPECT_EQ(answer.chosen.added_usd_per_hour, 1);
  take(placement, std::move(answer));
  EXPECT_THAT(broken_promises(placement), IsEmpty());
}

// A short job is slowed down to the iteration of a long one: 20 s alone, 100 s in the group.
TEST(Place, NeverBreaksAPromise) {
  const Placement placement = placed({job("long", 60, 40)});
  const PlacementAnswer answer = place(placement, job("short", 10, 10, 1.5), {}, true);
  EXPECT_EQ(answer.chosen.decision, Decision::new_group);
  EXPECT_THAT(
      answer.candidates,
      Contains(Field(&Candidate::refusal,
                     "an iteration of short would take 100 s, 5.00 times that alone; it allows 1.50 times")));
}

TEST(Place, HostsHoldTheSuspendedStatesOfAllTheirJobs) {
  Pools pools = test::pools();
  pools.training.host_memory_bytes = 1000;
  Job a = job("a", 60, 40), b = job("b", 40, 60);
  a.training_host_bytes = 600;
  b.training_host_bytes = 400;
  EXPECT_EQ(placed({a, b}, pools).groups.size(), 1U);
  b.training_host_bytes = 401;
  EXPECT_EQ(placed({a, b}, pools).groups.size(), 2U);
  b.training_host_bytes = 1001;
  const PlacementAnswer answer = place(placed({a}, pools), b);
  EXPECT_FALSE(answer.is_placed);
  EXPECT_THAT(answer.refusal, HasSubstr("of each node of the training pool"));
}

TEST(Place, APoolWithoutFreeNodesHasNoPlace) {
  Pools pools = test::pools();
  pools.rollout.max_nodes = 1;
  const Placement placement = placed({job("a", 60, 40, 1)}, pools);
  const PlacementAnswer answer = place(placement, job("b", 60, 40, 1));
  EXPECT_FALSE(answer.is_placed);
  EXPECT_THAT(answer.refusal, HasSubstr("too few free nodes"));
}

TEST(Place, AJobIsPlacedOnce) {
  const Placement placement = placed({job("a", 60, 40)});
  EXPECT_THROW((void)place(placement, job("a", 1, 1)), Error);
}

// One pair of nodes. In the order of the queue the first job takes it alone; two others can share it.
TEST(PlaceQueue, PlacesAsManyAsFitAndNamesThoseThatWait) {
  Pools pools = test::pools();
  pools.rollout.max_nodes = pools.training.max_nodes = 1;
  const std::vector<Job> queue{job("long", 100, 100, 1), job("a", 60, 40, 1), job("b", 40, 60, 1)};
  const QueueAnswer answer = place_queue({pools, {}}, queue);
  EXPECT_EQ(answer.in_order_placed, 1);
  EXPECT_EQ(answer.placed(), 2);
  ASSERT_EQ(answer.jobs.size(), 3U);
  EXPECT_EQ(answer.jobs.back().name, "long");
  EXPECT_FALSE(answer.jobs.back().is_placed);
  EXPECT_THAT(answer.jobs.back().words, HasSubstr("too few free nodes"));
  EXPECT_THAT(broken_promises(answer.placement), IsEmpty());
  EXPECT_THROW((void)place_queue({pools, {}}, {job("a", 1, 1), job("a", 1, 1)}), Error);
}

// Queues of five jobs, beside four that run: never dearer than one after the other, and cheaper by 2 % on average.
TEST(PlaceQueue, CostsNoMoreThanOneAfterTheOther) {
  constexpr int kDraws = 60;
  double ratio = 0;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    std::vector<Job> running, queue;
    for (std::uint64_t j = 0; j < 9; ++j)
      (j < 4 ? running : queue).push_back(drawn_job(Profile::mixed, 1, 2, seed, j));
    const Placement before = placed(running, weave_pools());
    const QueueAnswer answer = place_queue(before, queue);
    EXPECT_EQ(answer.placed(), 5);
    EXPECT_EQ(answer.placement.job_count(), 9U);
    EXPECT_THAT(broken_promises(answer.placement), IsEmpty()) << "seed " << seed;
    std::vector<Job> all = running;
    all.insert(all.end(), queue.begin(), queue.end());
    EXPECT_NEAR(answer.in_order_usd_per_hour, placed(all, weave_pools()).usd_per_hour(), 1e-9);
    EXPECT_LE(answer.placement.usd_per_hour(), answer.in_order_usd_per_hour + 1e-9);
    for (const Group& group : before.groups) {  // whoever runs stays
      for (const Member& member : group.members)
        EXPECT_EQ(answer.placement.group_of(member.job.name)->name, group.name);
    }
    ratio += answer.placement.usd_per_hour() / answer.in_order_usd_per_hour / kDraws;
  }
  EXPECT_LT(ratio, 0.98);
}

// 15 GB over 20 Gbit/s are 6 s; of three rollout nodes each lacks two thirds of it, at 10 GB/s.
TEST(WithSync, FollowsFromTheWeightsAndTheBandwidthsOfThePools) {
  Job of = job("a", 60, 40);
  of.weight_bytes = 15e9;
  Pools pools = test::pools();
  EXPECT_EQ(with_sync(of, pools).sync_s, 0);
  pools.connection_bytes_per_s = 2.5e9;
  EXPECT_DOUBLE_EQ(with_sync(of, pools).sync_s, 6);
  pools.rollout.link_bytes_per_s = 10e9;
  of.rollout_nodes = 3;
  EXPECT_DOUBLE_EQ(with_sync(of, pools).sync_s, 7);
  const PlacementAnswer answer = place({pools, {}}, of);
  EXPECT_DOUBLE_EQ(answer.group.members.front().job.sync_s, 7);
  of.sync_s = 2;
  EXPECT_DOUBLE_EQ(with_sync(of, pools).sync_s, 2);
}

TEST(RemoveJob, GivesBackNodesThatNobodyUses) {
  Placement placement = placed({job("c", 90, 20, 1.1), job("d", 80, 30, 1.2)});
  EXPECT_EQ(placement.usd_per_hour(), 5);
  remove_job(placement, "c");
  EXPECT_EQ(placement.usd_per_hour(), 4);
  EXPECT_EQ(placement.groups.front().members.front().rollout_nodes, std::vector<int>{0});
  remove_job(placement, "d");
  EXPECT_THAT(placement.groups, IsEmpty());
  EXPECT_THROW(remove_job(placement, "d"), Error);
}

// A group that trains on two nodes because of one job shrinks only if the others keep up on one.
TEST(RemoveJob, KeepsTrainingNodesThatPromisesNeed) {
  Job wide = job("wide", 50, 30, 2);
  wide.training_nodes = 2;
  Placement placement = placed({wide, job("a", 30, 60, 1.2), job("b", 20, 60, 1.3)});
  ASSERT_EQ(placement.groups.size(), 1U);
  remove_job(placement, "wide");
  EXPECT_EQ(placement.groups.front().training_nodes, 2);  // on one, both need 120 s
  EXPECT_THAT(broken_promises(placement), IsEmpty());
}

Placement random_placement(std::uint64_t seed, int jobs, const PlacementRules& rules) {
  std::mt19937_64 random(seed);
  Pools pools = weave_pools();
  Placement placement{pools, {}};
  for (int j = 0; j < jobs; ++j) {
    Job of = drawn_job(Profile::mixed, 1, 2, seed, static_cast<std::uint64_t>(j));
    of.rollout_nodes = 1 + static_cast<int>(random() % 2);
    of.training_nodes = 1 + static_cast<int>(random() % 2);
    of.rollout_host_bytes = of.training_host_bytes = 4e11;
    of.rollout_warm_start_s = of.training_warm_start_s = 1;
    of.sync_s = static_cast<double>(random() % 10);
    PlacementAnswer answer = place(placement, of, rules);
    EXPECT_TRUE(answer.is_placed);
    take(placement, std::move(answer));
    if (random() % 3 == 0) {
      const Group& group = placement.groups[random() % placement.groups.size()];
      remove_job(placement, std::string(group.members.front().job.name));
    }
  }
  return placement;
}

TEST(Place, AnyHistoryPassesAVerifierOfItsOwn) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    PlacementRules rules;
    rules.training_may_grow = seed % 2 == 0;
    rules.best_fit = seed % 3 != 0;
    EXPECT_THAT(broken_promises(random_placement(seed, 25, rules)), IsEmpty()) << "seed " << seed;
    EXPECT_THAT(broken_promises(random_placement(seed, 25, PlacementRules::as_printed())), IsEmpty());
  }
}

// Every regrouping of random placements keeps all promises, costs what it says, and moves nobody who must stay.
TEST(Repack, SavesWhatItSaysAndKeepsWhoMustStay) {
  int regrouped = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Placement placement = random_placement(seed, 14, {});
    const std::string stays = placement.groups.front().members.front().job.name;
    const auto pins_of = [&](const Placement& of) {
      const Group& group = *of.group_of(stays);
      const auto member = std::find_if(group.members.begin(), group.members.end(),
                                       [&](const Member& one) { return one.job.name == stays; });
      return std::pair(group.name, member->rollout_nodes.size());
    };
    const auto before = pins_of(placement);
    const double usd = placement.usd_per_hour();
    const std::size_t jobs = placement.job_count();
    std::optional<Repacked> better =
        repack(placement, placement.groups.front().name, [&](const Job& of) { return of.name != stays; });
    if (!better) continue;
    ++regrouped;
    EXPECT_GT(better->saved_usd_per_hour, 0);
    EXPECT_THAT(better->restarted, ::testing::Not(Contains(stays)));
    kept += better->restarted.size() < jobs ? 1 : 0;
    const double saved = better->saved_usd_per_hour;
    take(placement, *std::move(better));
    EXPECT_NEAR(placement.usd_per_hour(), usd - saved, 1e-6) << "seed " << seed;
    EXPECT_EQ(placement.job_count(), jobs);
    EXPECT_EQ(pins_of(placement), before) << "seed " << seed;
    EXPECT_THAT(broken_promises(placement), IsEmpty()) << "seed " << seed;
  }
  EXPECT_GT(regrouped, 10);
  EXPECT_EQ(kept, regrouped);
}

// The same for a regrouping of all jobs, which many groups of a few jobs each cannot reach.
TEST(Repack, RegroupsAllJobsAndKeepsWhoMustStay) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<Job> jobs;
    for (std::uint64_t j = 0; j < 60; ++j) jobs.push_back(drawn_job(Profile::mixed, 1, 2, seed, j));
    Placement placement = placed(jobs, weave_pools());
    const std::string stays = placement.groups.back().members.front().job.name;
    const std::vector<Member> before = placement.group_of(stays)->members;
    const double usd = placement.usd_per_hour();
    const std::size_t groups = placement.groups.size();
    std::optional<Repacked> better =
        repack_all(placement, [&](const Job& of) { return of.name != stays; }, {300, 1e9}, {5});
    ASSERT_TRUE(better) << "seed " << seed;
    EXPECT_EQ(better->old_groups.size(), groups - 1);
    const double saved = better->saved_usd_per_hour;
    EXPECT_GT(saved, 0.05 * usd);
    take(placement, *std::move(better));
    EXPECT_NEAR(placement.usd_per_hour(), usd - saved, 1e-6) << "seed " << seed;
    EXPECT_EQ(placement.job_count(), jobs.size());
    EXPECT_EQ(placement.group_of(stays)->members, before) << "seed " << seed;
    EXPECT_THAT(broken_promises(placement), IsEmpty()) << "seed " << seed;
    EXPECT_FALSE(repack_all(placed(jobs, weave_pools()), [](const Job&) { return true; }, {300, 1e-9}, {1}))
        << "a saving of nanoseconds pays for no restart";
  }
}

// A saving that does not pay for the restarts within the horizon is left alone. By hand: a (60, 40) and b (40, 60) in
// groups of their own share one for 4 dollars an hour less; one restart of 900 s costs 4 x 900 / 3600 = 1 dollar.
TEST(Repack, WaitsForSavingsThatPayForTheRestarts) {
  Placement placement{test::pools(), {}};
  placement.groups.push_back({"one", 1, 1, {{job("a", 60, 40), {0}}}});
  placement.groups.push_back({"two", 1, 1, {{job("b", 40, 60), {0}}}});
  const auto anyone = [](const Job&) { return true; };
  EXPECT_FALSE(repack(placement, "one", anyone, {900, 899, 9}));
  const std::optional<Repacked> better = repack(placement, "one", anyone, {900, 901, 9});
  ASSERT_TRUE(better);
  EXPECT_EQ(better->saved_usd_per_hour, 4);
  EXPECT_EQ(better->restarted.size(), 1U);
}

// All ways to part the jobs into groups, by brute force.
double brute_force_usd(const std::vector<Job>& jobs, const Pools& pools,
                       std::vector<std::vector<const Job*>>& groups, std::size_t next) {
  if (next == jobs.size()) {
    double usd = 0;
    for (const auto& group : groups) {
      const std::optional<Group> cheapest = cheapest_group(group, pools, false);
      if (!cheapest) return 1e300;
      usd += cheapest->usd_per_hour(pools);
    }
    return usd;
  }
  double best = 1e300;
  for (std::size_t g = 0; g <= groups.size(); ++g) {
    const bool is_new = g == groups.size();
    if (is_new) groups.emplace_back();
    groups[g].push_back(&jobs[next]);
    best = std::min(best, brute_force_usd(jobs, pools, groups, next + 1));
    groups[g].pop_back();
    if (is_new) {
      groups.pop_back();
      break;
    }
  }
  return best;
}

TEST(Optimum, IsThatOfBruteForceAndTheBoundIsBelow) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::vector<Job> jobs;
    for (std::uint64_t j = 0; j < 6; ++j) {
      jobs.push_back(drawn_job(Profile::mixed, 1, 2, seed, j));
      jobs.back().rollout_nodes = 1 + static_cast<int>((seed + j) % 2);
      jobs.back().sync_s = static_cast<double>(j);
    }
    const Pools pools = weave_pools();
    std::vector<std::vector<const Job*>> groups;
    const double brute = brute_force_usd(jobs, pools, groups, 0);
    const Optimum best = cheapest_placement(jobs, pools, {pools, {}}, {0});
    EXPECT_NEAR(best.placement.usd_per_hour(), brute, 1e-6) << "seed " << seed;
    EXPECT_EQ(best.placement.job_count(), jobs.size());
    EXPECT_THAT(broken_promises(best.placement), IsEmpty());
    const double ours = placed(jobs, pools).usd_per_hour();
    EXPECT_GE(ours, brute - 1e-6);
    const CostBound relaxed = relax_placements(jobs, pools, {}, {1}).bound;
    EXPECT_LE(relaxed.usd_per_hour, brute + 1e-6) << "seed " << seed;
    const CostBound bound = min_usd_per_hour(jobs, pools, {}, {1});
    EXPECT_LE(bound.usd_per_hour, brute + 1e-6) << "seed " << seed;
    EXPECT_GE(bound.usd_per_hour, relaxed.usd_per_hour - 1e-6) << "seed " << seed;
    EXPECT_GE(bound.usd_per_hour, 0.5 * brute) << "seed " << seed;
    EXPECT_LE(min_usd_per_hour(jobs, pools, {}, {1}, true).usd_per_hour, bound.usd_per_hour + 1e-6);
  }
}

// 500 small cases of all profiles against their exact optimum: jobs as they come, and the bound that is printed with them.
TEST(Optimum, OfFiveHundredSmallCasesIsNearTheBound) {
  constexpr std::array kProfiles{Profile::mixed, Profile::balanced, Profile::rollout_heavy,
                                 Profile::train_heavy};
  constexpr std::uint64_t kCases = 500;
  std::array<double, kProfiles.size()> gap{};
  double over_optimum = 0;
  for (std::uint64_t number = 0; number < kCases; ++number) {
    std::vector<Job> jobs;
    const std::size_t profile = number % kProfiles.size();
    for (std::uint64_t j = 0; j < 3 + number % 6; ++j)
      jobs.push_back(drawn_job(kProfiles.at(profile), 1, 2, 100 + number, j));
    const Placement ours = placed(jobs, weave_pools());
    ASSERT_THAT(broken_promises(ours), IsEmpty()) << "case " << number;
    const Optimum best = cheapest_placement(jobs, weave_pools(), {weave_pools(), {}}, {0});
    ASSERT_THAT(broken_promises(best.placement), IsEmpty()) << "case " << number;
    const double usd = best.placement.usd_per_hour();
    EXPECT_GE(ours.usd_per_hour(), usd - 1e-6) << "case " << number;
    const CostBound bound = min_usd_per_hour(jobs, weave_pools(), {}, {1});
    EXPECT_TRUE(bound.is_tight);
    EXPECT_LE(bound.usd_per_hour, usd + 1e-6) << "case " << number;
    gap.at(profile) += (usd / bound.usd_per_hour - 1) * kProfiles.size() / kCases;
    over_optimum += ours.usd_per_hour() / usd / kCases;
  }
  for (const double of_profile : gap) EXPECT_LT(of_profile, 0.01);
  EXPECT_LT(over_optimum, 1.08);
}

// Three jobs (50, 50) that allow no slowdown: any two fill one pair of nodes, so that the relaxation takes
// halves of three groups, 6 dollars. Whole groups are two.
TEST(CostBound, OfFewJobsTakesGroupsWhole) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  const std::vector<Job> jobs{job("a", 50, 50, 1), job("b", 50, 50, 1), job("c", 50, 50, 1)};
  EXPECT_NEAR(relax_placements(jobs, test::pools(), {}, {1}).bound.usd_per_hour, 6, 1e-6);
  EXPECT_NEAR(min_usd_per_hour(jobs, test::pools(), {}, {1}).usd_per_hour, 8, 1e-6);
  EXPECT_LE(min_usd_per_hour(jobs, test::pools(), {}, {0}).usd_per_hour, 6 + 1e-6);
}

// Three jobs that allow nothing beside them cost three groups; the bound is exact.
TEST(CostBound, IsExactWhereJobsCannotShare) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  const std::vector<Job> jobs{job("a", 60, 40, 1), job("b", 70, 40, 1), job("c", 80, 40, 1)};
  EXPECT_NEAR(min_usd_per_hour(jobs, test::pools(), {}, {1}).usd_per_hour, 12, 1e-6);
}

// Beyond the sizes that are solved exactly: the answer keeps all promises, is no dearer than the start, and its bound
// is below it. The bound of any 14 of the jobs is below their exact optimum, and near it.
TEST(Optimum, OfManyJobsIsBetweenItsBoundAndTheStart) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    std::vector<Job> jobs;
    for (std::uint64_t j = 0; j < 80; ++j) {
      jobs.push_back(drawn_job(Profile::mixed, 1, 2, seed, j));
      jobs.back().sync_s = static_cast<double>(j % 4);
      if (seed == 2) jobs.back().rollout_nodes = 1 + static_cast<int>(j % 3);
      if (seed == 3) jobs.back().training_nodes = 1 + static_cast<int>(j % 2);
    }
    const Pools pools = weave_pools();
    const Placement start = placed(jobs, pools);
    const Optimum best = cheapest_placement(jobs, pools, start, {10});
    EXPECT_THAT(broken_promises(best.placement), IsEmpty()) << "seed " << seed;
    EXPECT_EQ(best.placement.job_count(), jobs.size());
    EXPECT_LE(best.placement.usd_per_hour(), start.usd_per_hour());
    EXPECT_GE(best.placement.usd_per_hour(), best.lower_bound_usd_per_hour);
    EXPECT_LT(best.gap_fraction(), seed == 2 ? 0.2 : 0.1) << "seed " << seed;
    const std::vector<Job> few(jobs.begin(), jobs.begin() + 10);
    const double exact = cheapest_placement(few, pools, {pools, {}}, {0}).placement.usd_per_hour();
    const CostBound bound = relax_placements(few, pools, {}, {10}).bound;
    EXPECT_TRUE(bound.is_tight) << "seed " << seed;
    EXPECT_LE(bound.usd_per_hour, exact * (1 + 1e-9)) << "seed " << seed;
    EXPECT_GE(bound.usd_per_hour, 0.8 * exact) << "seed " << seed;
  }
}

std::vector<Job> many_jobs(std::uint64_t count) {
  std::vector<Job> jobs;
  for (std::uint64_t j = 0; j < count; ++j) jobs.push_back(drawn_job(Profile::mixed, 1, 2, 1, j));
  return jobs;
}

// However busy the machine is: the budget is one of steps, not of seconds.
TEST(CostBound, IsTheSameForTheSameWorkOnABusyMachine) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  const std::vector<Job> jobs = many_jobs(80);
  const Pools pools = weave_pools();
  const BoundBudget budget{0.02};
  const CostBound quiet = min_usd_per_hour(jobs, pools, {}, budget);
  EXPECT_FALSE(quiet.is_tight);
  EXPECT_FALSE(quiet.is_out_of_time);
  std::atomic<bool> is_done = false;
  std::vector<std::thread> busy;
  for (unsigned i = 0; i < 2 * std::max(1U, std::thread::hardware_concurrency()); ++i)
    busy.emplace_back([&] {
      while (!is_done) {
      }
    });
  const CostBound loaded = min_usd_per_hour(jobs, pools, {}, budget);
  is_done = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_EQ(loaded.usd_per_hour, quiet.usd_per_hour);
  EXPECT_EQ(loaded.rounds, quiet.rounds);
  EXPECT_EQ(loaded.groups, quiet.groups);
  EXPECT_GE(min_usd_per_hour(jobs, pools, {}, {0.3}).usd_per_hour, quiet.usd_per_hour);
}

TEST(CostBound, SaysThatTheWallTimeEndedIt) {
  if (make_milp_solver() == nullptr) GTEST_SKIP() << "no solver of linear programs";
  const std::vector<Job> jobs = many_jobs(80);
  const CostBound bound = min_usd_per_hour(jobs, weave_pools(), {}, {1000, 1e-6});
  EXPECT_TRUE(bound.is_out_of_time);
  EXPECT_GE(bound.usd_per_hour, min_usd_per_hour(jobs, weave_pools(), {}, {0}).usd_per_hour);
}

// A job (60, 40) that may take twice as long has one rollout and one training node for at most 200 s, so it
// costs at least (60 x 1 + 40 x 3) / 200 dollars an hour at the pools' 1 and 3 dollars a node.
TEST(CostBound, NeedsNoSearchForTheWorkOfAllJobs) {
  std::vector<Job> jobs;
  for (int j = 0; j < 30; ++j) jobs.push_back(job("job-" + std::to_string(j), 60, 40, 2));
  const Pools pools = test::pools();
  const double of_one =
      (60 * pools.rollout.usd_per_node_hour() + 40 * pools.training.usd_per_node_hour()) / 200;
  EXPECT_GE(min_usd_per_hour(jobs, pools, {}, {0}).usd_per_hour, 30 * of_one * (1 - 1e-6));
}

TEST(PlacementDocument, ReadsWhatItWrites) {
  const Placement placement = random_placement(3, 12, {});
  const Json json = placement.to_json();
  EXPECT_EQ(Placement::parse(JsonView(json)), placement);
}

TEST(PlacementDocument, RefusesWhatCannotBe) {
  const Placement placement = placed({job("a", 60, 40), job("b", 40, 60)});
  const auto refusal = [&](const std::string& pointer, const Json& value) {
    Json json = placement.to_json();
    json[Json::json_pointer(pointer)] = value;
    try {
      (void)Placement::parse(JsonView(json));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("/groups/0/members/0/rollout_nodes", {1}), HasSubstr("ascending numbers below 1"));
  EXPECT_THAT(refusal("/groups/0/members/0/rollout_nodes", {0, 0}), HasSubstr("expected 1 nodes"));
  EXPECT_THAT(refusal("/groups/0/members/1/job/name", "a"), HasSubstr("another job has this name"));
  EXPECT_THAT(refusal("/groups/0/members/1/job/max_slowdown", 0.5), HasSubstr("from 1, as a job is not"));
  EXPECT_THAT(refusal("/groups/0/members/1/job/rollout_s", 1e300), HasSubstr("1e-6 to 1e9"));
  EXPECT_THAT(refusal("/groups/0/members/1/job/rollout_nodes", 2147483647), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(refusal("/pools/rollout/usd_per_gpu_hour", 1e300), HasSubstr("from 0 to 1e6"));
  EXPECT_THAT(refusal("/groups/0/members/1/job/training_nodes", 2), HasSubstr("the group has 1"));
}

TEST(JobTraceDocument, RefusesTimeThatGoesBackAndJobsThatFitNowhere) {
  JobTrace trace{test::pools(), {job("a", 1, 1), job("b", 1, 1)}};
  for (Job& of : trace.jobs) of.duration_s = 10;
  trace.jobs[0].arrival_s = 5;
  Json json = trace.to_json();
  EXPECT_THROW((void)JobTrace::parse(JsonView(json)), Error);
  trace.jobs[1].arrival_s = 6;
  json = trace.to_json();
  EXPECT_EQ(JobTrace::parse(JsonView(json)), trace);
  const Json empty = JobTrace{test::pools(), {}}.to_json();
  EXPECT_THROW((void)JobTrace::parse(JsonView(empty)), Error);
  trace.pools.training.max_nodes = 1;
  trace.jobs[1].training_nodes = 2;
  json = trace.to_json();
  EXPECT_THROW((void)JobTrace::parse(JsonView(json)), Error);
}

}  // namespace
}  // namespace sextant::coschedule
