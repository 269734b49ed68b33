#include "planner/coschedule/chance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/coschedule/check_placement.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/rounds.h"
#include "planner/coschedule/simulation/simulate.h"
#include "planner/coschedule/trace/workload.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using test::job;
using test::on_one_pair;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Job with_response(Job of, const Lengths& tokens, int count) {
  Responses responses;
  responses.tokens = tokens;
  responses.count = count;
  of.responses = responses;
  return of;
}

Lengths two_lengths() {
  Lengths lengths;
  lengths.kind = LengthKind::empirical;
  lengths.tokens = {20, 100};
  lengths.weights = {8, 2};
  return lengths;
}

ChanceRules many() {
  ChanceRules rules;
  rules.iterations = 4000;
  return rules;
}

// Rollouts of 20 s, or 100 s with probability 0.2, of two jobs on one node; training takes nothing. Between the ends of
// two iterations of a job lie one rollout of each. Twice the time alone is exceeded if only the other one is long:
// with probability 0.2 x 0.8.
TEST(DrawnIterations, CountIterationsInWhichTheOtherJobIsLong) {
  const Group group = on_one_pair({with_response(job("a", 100, 1e-6, 2.2), two_lengths(), 1),
                                   with_response(job("b", 100, 1e-6, 2.2), two_lengths(), 1)});
  const KeptShares chance = DrawnIterations(many()).of(group, 0);
  EXPECT_NEAR(chance.kept_fraction[0], 0.84, 0.02);
  EXPECT_NEAR(chance.kept_fraction[1], 0.84, 0.02);
  EXPECT_NEAR(chance.slowdown[0], 2, 0.05);
  EXPECT_NEAR(chance.period_s, 72, 2);  // 2 x (0.8 x 20 + 0.2 x 100)
  DrawnIterations drawn(many());
  EXPECT_TRUE(drawn.keeps(group, 0.8, 0));
  EXPECT_FALSE(drawn.keeps(group, 0.9, 0));
}

TEST(DrawnIterations, AreCertainWithoutLengths) {
  const Group group = on_one_pair({job("a", 100, 50, 1.34), job("b", 100, 50, 1.33)});
  const KeptShares chance = DrawnIterations().of(group, 0);
  EXPECT_NEAR(chance.kept_fraction[0], 1, 1e-9);
  EXPECT_NEAR(chance.slowdown[0], 200.0 / 150, 1e-9);
  EXPECT_NEAR(chance.kept_fraction[1], 0, 1e-9);
}

// Both train for 100 s at the bounds: 200 s against 140 s alone. The mean response has 36 of 100 tokens.
TEST(PlaceByChance, AcceptsWhatTheBoundsRefuse) {
  Placement certain{test::pools(), {}}, likely{test::pools(), {}, 0.95};
  const Job a = with_response(job("a", 40, 100, 1.4), two_lengths(), 256),
            b = with_response(job("b", 40, 100, 1.4), two_lengths(), 256);
  for (Placement* placement : {&certain, &likely}) {
    take(*placement, place(*placement, a));
    take(*placement, place(*placement, b));
  }
  EXPECT_EQ(certain.groups.size(), 2U);
  EXPECT_EQ(likely.groups.size(), 1U);
  EXPECT_THAT(broken_promises(likely), IsEmpty());
  likely.probability = 1;
  EXPECT_EQ(broken_promises(likely).size(), 2U);
}

// Two jobs that fit one pair of nodes only if the tails of their rollouts move. The numbers with tails that stay are those
// of a simulation by other code, which knew none of this.
std::vector<Job> jobs_that_need_moving_tails() {
  std::vector<Job> jobs;
  for (const auto& [name, training_s] : {std::pair{"A", 60.0}, {"B", 70.0}}) {
    Lengths tokens;
    tokens.kind = LengthKind::lognormal;
    tokens.median = 1800;
    tokens.sigma = 0.8;
    tokens.max = 8192;
    Job of = with_response(job(name, 160, training_s, 1.25), tokens, 256);
    of.sync_s = 3;
    of.responses->workers = 8;
    jobs.push_back(of);
  }
  return jobs;
}

TEST(PlaceByChance, CountsOnTailsThatMoveOnlyIfThePlacementSaysSo) {
  const std::vector<Job> jobs = jobs_that_need_moving_tails();
  Placement moving{test::pools(), {}, 0.95, 0.8}, staying{test::pools(), {}, 0.95, 0};
  for (Placement* placement : {&moving, &staying}) {
    for (const Job& of : jobs) take(*placement, place(*placement, of));
    EXPECT_THAT(broken_promises(*placement), IsEmpty());
  }
  EXPECT_EQ(moving.rollout_nodes(), 1);
  EXPECT_EQ(staying.rollout_nodes(), 2);
  Placement alone{test::pools(), {}, 0.95, 0};
  take(alone, place(alone, jobs.front()));
  const PlacementAnswer why = place(alone, jobs.back(), {}, true);
  EXPECT_THAT(why.candidates.back().refusal, HasSubstr("in 0.0 % of its iterations"));
  EXPECT_THAT(why.candidates.back().refusal, HasSubstr("with tails that stay"));
  const KeptShares stay = DrawnIterations().of(moving.groups.front(), 0);
  EXPECT_NEAR(stay.slowdown[0], 1.77, 0.02);
  EXPECT_NEAR(stay.slowdown[1], 1.75, 0.02);
  EXPECT_NEAR(stay.kept_fraction[0], 0, 1e-9);
  moving.tail_threshold = 0;
  EXPECT_THAT(broken_promises(moving),
              ::testing::Each(HasSubstr("keeps its promise in 0.0 % of its iterations with tails that stay")));
  EXPECT_EQ(broken_promises(moving).size(), 2U);
}

// All placements did so before they stated the tails.
TEST(PlaceByChance, ADocumentWithoutTailsMovesThemAtTheShareOfThePaper) {
  Placement placement{test::pools(), {}, 0.95, 0};
  Json json = placement.to_json();
  EXPECT_EQ(json.at("tail_threshold"), 0);
  EXPECT_EQ(Placement::parse(JsonView(json)).tail_threshold, 0);
  json.erase("tail_threshold");
  EXPECT_EQ(Placement::parse(JsonView(json)).tail_threshold, kWeaveThreshold);
}

// Jobs without lengths run at their bounds: whatever the bounds admit, a weaker promise admits too.
TEST(PlaceByChance, AdmitsWhatTheBoundsAdmitIfNoJobHasLengths) {
  const JobTrace trace = drawn_trace({}, weave_pools());
  Placement certain{trace.pools, {}}, likely{trace.pools, {}, 0.95, 0};
  for (std::size_t j = 0; j < 30; ++j) {
    PlacementRules rules;
    rules.may_repeat = false;
    const PlacementAnswer answer = place(certain, trace.jobs[j], rules);
    likely.groups = certain.groups;
    EXPECT_LE(place(likely, trace.jobs[j]).chosen.added_usd_per_hour, answer.chosen.added_usd_per_hour + 1e-9);
    take(certain, answer);
  }
}

TEST(PlaceByChance, SimulatedPromisesFollowTheTailsThatAreSimulated) {
  TraceRules rules;
  rules.response_median = 0.25;
  rules.response_sigma = 0.8;
  rules.jobs = 60;
  const JobTrace trace = drawn_trace(rules, weave_pools());
  SimulationOptions options;
  options.tails = TailRule::stay;
  EXPECT_GE(simulate(trace, *find_policy("weave-chance"), options).kept_fraction, 0.95);
}

TEST(PlaceByChance, SaysHowOftenAPromiseWouldBeKept) {
  Placement likely{test::pools(), {}, 0.95};
  take(likely, place(likely, with_response(job("a", 100, 1e-3, 2.01), two_lengths(), 1)));
  const PlacementAnswer answer =
      place(likely, with_response(job("b", 100, 1e-3, 2.01), two_lengths(), 1), {}, true);
  ASSERT_EQ(answer.group.members.size(), 1U);
  EXPECT_THAT(answer.candidates.back().refusal,
              HasSubstr("95.0 % and 2.01 times are promised, with tails that move"));
}

TEST(PlaceByChance, EveryPlacementIsKeptByOtherDrawsAndAboveItsBound) {
  TraceRules rules;
  rules.response_median = 0.25;
  rules.response_sigma = 0.8;
  rules.jobs = 30;
  const JobTrace trace = drawn_trace(rules, weave_pools());
  Placement certain{trace.pools, {}}, likely{trace.pools, {}, 0.9};
  DrawnIterations drawn;
  PlacementRules placing;
  placing.drawn = &drawn;
  std::vector<Job> relaxed;
  for (const Job& of : trace.jobs) {
    take(certain, place(certain, of));
    take(likely, place(likely, of, placing));
    relaxed.push_back(relaxed_for_chance(of, drawn));
  }
  EXPECT_THAT(broken_promises(likely), IsEmpty());
  EXPECT_LT(likely.usd_per_hour(), certain.usd_per_hour());
  // The relaxed jobs can share the groups that were found.
  for (const Group& group : likely.groups) {
    double limit_s = 1e300, training_s = 0;
    for (const Member& member : group.members) {
      const Job of = relaxed_for_chance(member.job, drawn);
      limit_s = std::min(limit_s, of.max_iteration_s());
      training_s += of.training_s;
    }
    EXPECT_LE(training_s, limit_s * 1.001);
  }
}

// Without a difference between rounds, rounds repeat with the period of the turns.
TEST(Rounds, RepeatWithThePeriodOfTheTurns) {
  const Group group{"g", 2, 1, {{job("long", 11, 9), {0}}, {job("short", 9, 1), {1}}}};
  Rounds rounds(group);
  double last_s = 0, period_s = 0;
  for (int i = 0; i < 20; ++i) {
    const double end_s = rounds.next(phases_of(group))[0].sync.end_s;
    period_s = end_s - last_s;
    last_s = end_s;
  }
  EXPECT_NEAR(period_s, best_turns(group, 0).period_s, 1e-9);
}

}  // namespace
}  // namespace sextant::coschedule
