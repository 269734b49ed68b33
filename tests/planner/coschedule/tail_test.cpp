#include "planner/coschedule/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planner/coschedule/draws.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using test::on_one_pair;

// Ten responses, of which eight have 20 tokens and two 100; the bounds are of 100 tokens for each.
Batch two_of_ten_are_long() { return Batch({20, 20, 20, 20, 20, 20, 20, 20, 100, 100}); }

Job with_lengths(Job of, double batch_share = 0, int workers = 10) {
  Responses responses;
  responses.tokens.kind = LengthKind::empirical;
  responses.tokens.tokens = {20, 100};
  responses.tokens.weights = {8, 2};
  responses.count = 10;
  responses.workers = workers;
  responses.batch_share = batch_share;
  of.responses = responses;
  return of;
}

// A rollout of 100 s if all have 100 tokens. Steps of equal time: the longest decides. With steps that take half of
// their time in proportion to the batch: (100 + 36) / 2 s, as the mean is 36.
TEST(Times, FollowTheLongestResponseAndTheMeanBatch) {
  const Batch batch = two_of_ten_are_long();
  EXPECT_DOUBLE_EQ(batch.mean_up_to(20), 20);
  EXPECT_DOUBLE_EQ(batch.mean_up_to(60), 28);
  EXPECT_DOUBLE_EQ(batch.mean_up_to(1000), 36);
  EXPECT_NEAR(times_of(with_lengths(job("a", 100, 50)), batch).rollout_s, 100, 1e-9);
  EXPECT_NEAR(times_of(with_lengths(job("a", 100, 50), 0.5), batch).rollout_s, 68, 1e-9);
  EXPECT_NEAR(times_of(with_lengths(job("a", 100, 50)), batch).training_s, 18, 1e-9);
  Job fixed = with_lengths(job("a", 100, 50));
  fixed.responses->fixed_training_share = 0.5;
  EXPECT_NEAR(times_of(fixed, batch).training_s, 34, 1e-9);
}

// A rollout of 100 s has waits of 40 s between five turns. A batch of which no response has more than half of the tokens
// takes half of the other 60 s, and the waits.
TEST(Times, WaitsForEnvironmentsDoNotDependOnTheLengths) {
  Job waiting = with_lengths(job("a", 100, 50));
  waiting.turns = 5;
  waiting.environment_s_per_turn = 10;
  EXPECT_NEAR(times_of(waiting, Batch({20, 50})).rollout_s, 70, 1e-9);
  EXPECT_NEAR(times_of(waiting, Batch({100, 100})).rollout_s, 100, 1e-9);
  const TailSplit split = split_rollout(waiting, two_of_ten_are_long(), 0.8).value();
  EXPECT_NEAR(split.head_s, 40 + 12, 1e-9);
  EXPECT_NEAR(split.tail_s, 48, 1e-9);
  waiting.responses.reset();
  waiting.typical_fraction = 0.5;
  EXPECT_NEAR(typical_times(waiting).rollout_s, 70, 1e-9);
}

// At 80 % the head has 20 tokens; two of ten responses need two of ten workers, where their batch is as large as at the
// start. On three workers of ten, 2 of 10 responses need one.
TEST(SplitRollout, TheTailTakesTheWorkersOfItsShare) {
  const Batch batch = two_of_ten_are_long();
  TailSplit split = split_rollout(with_lengths(job("a", 100, 50)), batch, 0.8).value();
  EXPECT_NEAR(split.head_s, 20, 1e-9);
  EXPECT_NEAR(split.tail_s, 80, 1e-9);
  EXPECT_EQ(split.tail_workers, 2);
  split = split_rollout(with_lengths(job("a", 100, 50), 1), batch, 0.8).value();
  EXPECT_NEAR(split.head_s, 20, 1e-9);
  EXPECT_NEAR(split.tail_s, 80, 1e-9);  // full batches on two workers; 16 if they stayed on ten
  split = split_rollout(with_lengths(job("a", 100, 50), 0, 3), batch, 0.8).value();
  EXPECT_EQ(split.tail_workers, 1);
  Job slow = with_lengths(job("a", 100, 50));
  slow.responses->migration_s = 7;
  EXPECT_NEAR(split_rollout(slow, batch, 0.8)->tail_s, 87, 1e-9);
}

TEST(SplitRollout, NothingMovesFromOneWorkerOrIfAllEndTogether) {
  const Batch batch = two_of_ten_are_long();
  EXPECT_FALSE(split_rollout(with_lengths(job("a", 100, 50), 0, 1), batch, 0.8));
  EXPECT_FALSE(split_rollout(with_lengths(job("a", 100, 50)), batch, 0.9));  // the ninth has 100 tokens
  EXPECT_FALSE(split_rollout(with_lengths(job("a", 100, 50)), Batch({100, 100, 100, 100}), 0.5));
}

RunningGroup running(const Group& group, const Batch& batch) {
  RunningGroup runs{&group, {}, {}};
  for (const Member& member : group.members) {
    runs.times.push_back(times_of(member.job, batch));
    runs.batches.push_back(&batch);
  }
  return runs;
}

// Two rollouts of 100 s share a node: 200 s a round. Moved at 80 %, a head holds the node for 20 s and its tail two of
// ten workers for 80 s: tails take 160 s of these in turns, and a job alone 100 + 18 s. Decode steps of equal time lose
// nothing on eight workers.
TEST(MoveTails, TailsOverlapTheNextRollout) {
  const Batch batch = two_of_ten_are_long();
  const Group group = on_one_pair({with_lengths(job("a", 100, 50)), with_lengths(job("b", 100, 50))});
  EXPECT_NEAR(move_tails(running(group, batch), TailRule::stay).period_s, 200, 1e-6);
  const TailMoves fixed = move_tails(running(group, batch), TailRule::fixed);
  EXPECT_NEAR(fixed.period_s, 160, 1e-6);
  EXPECT_NEAR(fixed.phases[0].tail_nodes, 0.2, 1e-12);
  // One tail that moves and one that stays are better: a's tail overlaps b's rollout of 100 s, which holds the node
  // after a's head of 20 s.
  const TailMoves best = move_tails(running(group, batch), TailRule::best);
  EXPECT_NEAR(best.period_s, 120, 1e-6);
  EXPECT_EQ((best.phases[0].tail_s > 0) + (best.phases[1].tail_s > 0), 1);
}

// Steps in proportion to the batch: b's rollout of 36 s loses a fifth of its speed while a's tail of 80 s has two of ten
// workers, so it is lengthened by 80 s / 5: 20 + 36 + 16 s hold the node. A job alone takes 100 + 18 s, which decides.
// Without moving, 36 + 36 s hold it, and a job alone takes 54 s.
TEST(MoveTails, FewerWorkersSlowTheNextRollout) {
  const Batch batch = two_of_ten_are_long();
  const Group group = on_one_pair({with_lengths(job("a", 100, 50), 1), with_lengths(job("b", 100, 50), 1)});
  RunningGroup runs = running(group, batch);
  runs.batches[1] = nullptr;
  EXPECT_NEAR(move_tails(runs, TailRule::fixed).period_s, 118, 1e-6);
  EXPECT_NEAR(move_tails(runs, TailRule::stay).period_s, 72, 1e-6);
  EXPECT_NEAR(move_tails(runs, TailRule::best).period_s, 72, 1e-6);
}

TEST(MoveTails, NothingMovesWithoutAnotherJobOnTheNodes) {
  const Batch batch = two_of_ten_are_long();
  Group group{"g", 2, 1, {{with_lengths(job("a", 100, 50)), {0}}, {with_lengths(job("b", 100, 50)), {1}}}};
  const TailMoves moves = move_tails(running(group, batch), TailRule::fixed);
  EXPECT_EQ(moves.phases[0].tail_s, 0);
  EXPECT_NEAR(moves.period_s, 118, 1e-6);
}

// A tail that fills its first node of two holds it until it ends; the second is free after the head.
TEST(MoveTails, ATailMayHoldAWholeNode) {
  Job wide = with_lengths(job("wide", 100, 10), 0, 2);
  wide.rollout_nodes = 2;
  const Batch batch({20, 100});
  Group group{"g", 2, 1, {{wide, {0, 1}}, {job("first", 30, 1), {0}}, {job("second", 30, 1), {1}}}};
  RunningGroup runs{&group, {times_of(wide, batch), {30, 1, 0}, {30, 1, 0}}, {&batch, nullptr, nullptr}};
  const TailMoves moves = move_tails(runs, TailRule::fixed, 0.5);
  EXPECT_NEAR(moves.phases[0].tail_nodes, 1, 1e-12);
  const Turns turns = turns_of_phases(group, moves.phases, {0, 1, 2});
  EXPECT_NEAR(turns.rollout_start_s[1] - turns.rollout_start_s[0], 100, 1e-6);
  EXPECT_NEAR(turns.rollout_start_s[2] - turns.rollout_start_s[0], 20, 1e-6);
  EXPECT_NEAR(moves.period_s, 130, 1e-6);
}

// Another code: members of one pair of nodes take their turns event by event, and a rollout advances at a lower speed
// while a tail has some of the workers.
double simulated_s(const std::vector<Phases>& phases) {
  constexpr int kRounds = 600;
  std::vector<double> ready(phases.size(), 0.0);
  double node_free = 0, training_free = 0, tail_end = 0, tail_before = 0, tail_share = 0, half = 0, last = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t m = 0; m < phases.size(); ++m) {
      const Phases& of = phases[m];
      // Begins when the node is free and at most one tail is left.
      const double start = std::max({ready[m], node_free, phases.size() > 2 ? tail_before : 0.0});
      double end = start + of.rollout_s;
      if (tail_end > start) {
        const double speed = 1 / (1 - of.batch_share + of.batch_share / (1 - tail_share));
        const double beside = tail_end - start;
        end = beside * speed >= of.rollout_s ? start + of.rollout_s / speed
                                             : tail_end + (of.rollout_s - beside * speed);
      }
      node_free = end;
      double rolled = end;
      tail_before = tail_end;
      if (of.tail_s > 0) {
        tail_before = tail_end;
        rolled = tail_end = std::max(end, tail_end) + of.tail_s;
        tail_share = of.tail_nodes;
      }
      training_free = std::max(rolled, training_free) + of.training_s;
      ready[m] = training_free + of.sync_s;
    }
    last = *std::max_element(ready.begin(), ready.end());
    if (round + 1 == kRounds / 2) half = last;
  }
  return (last - half) / (kRounds / 2);
}

// The period is safe: never below that of the events, and rarely much above.
TEST(MoveTails, ThePeriodIsAtLeastThatOfTheEvents) {
  double sum = 0, exact = 0;
  int moved = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Draws draws(seed, 0);
    std::vector<Job> jobs;
    const std::size_t members = 2 + draws.below(3);
    for (std::size_t m = 0; m < members; ++m) {
      Job of = job("j" + std::to_string(m), draws.within({20, 200}), draws.within({20, 200}));
      Responses responses;
      responses.tokens.kind = LengthKind::lognormal;
      responses.tokens.median = draws.within({100, 900});
      responses.tokens.sigma = draws.within({0.3, 1.2});
      responses.tokens.max = 1000;
      responses.count = 64;
      responses.batch_share = draws.uniform();
      responses.migration_s = draws.within({0, 3});
      of.responses = responses;
      jobs.push_back(std::move(of));
    }
    const Group group = on_one_pair(jobs);
    std::vector<Batch> batches;
    for (const Member& member : group.members) batches.push_back(drawn_batch(*member.job.responses, seed, 1));
    RunningGroup runs{&group, {}, {}};
    for (std::size_t m = 0; m < members; ++m) {
      runs.times.push_back(times_of(group.members[m].job, batches[m]));
      runs.batches.push_back(&batches[m]);
    }
    const TailMoves moves = move_tails(runs, TailRule::fixed);
    for (const Phases& of : moves.phases) moved += of.tail_s > 0 ? 1 : 0;
    const double simulated = simulated_s(moves.phases);
    EXPECT_GE(moves.period_s, simulated * (1 - 1e-6)) << "seed " << seed;
    sum += moves.period_s;
    exact += simulated;
    const TailMoves best = move_tails(runs, TailRule::best);
    EXPECT_LE(best.period_s, moves.period_s * (1 + 1e-6)) << "seed " << seed;
    EXPECT_LE(best.period_s, move_tails(runs, TailRule::stay).period_s * (1 + 1e-9));
  }
  EXPECT_GT(moved, 500);
  EXPECT_LT(sum, 1.03 * exact);
}

TEST(Responses, DrawsRepeatAndKeepTheDistribution) {
  Responses responses;
  responses.tokens.kind = LengthKind::lognormal;
  responses.tokens.median = 300;
  responses.tokens.sigma = 0.8;
  responses.tokens.max = 4000;
  double mean = 0, longest = 0;
  constexpr int kDraws = 400;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const Batch batch = drawn_batch(responses, 5, i);
    mean += batch.mean() / kDraws;
    longest += batch.longest() / kDraws;
  }
  EXPECT_NEAR(mean, responses.tokens.mean_tokens(), 0.01 * mean);
  EXPECT_NEAR(longest, responses.tokens.longest_of(responses.count), 0.03 * longest);
  EXPECT_EQ(drawn_batch(responses, 5, 7).mean(), drawn_batch(responses, 5, 7).mean());
  EXPECT_NEAR(typical_batch(responses).mean(), mean, 0.02 * mean);
}

}  // namespace
}  // namespace sextant::coschedule
