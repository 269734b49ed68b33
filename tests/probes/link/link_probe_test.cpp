#include "probes/link/link_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "probes/comm/thread_communicator.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ProbeResult point(double bytes, double time_s) {
  ProbeResult result;
  result.name = "link/" + std::to_string(static_cast<int>(bytes));
  result.outcome = ProbeOutcome::measured;
  result.work = bytes;
  result.value = time_s;
  return result;
}

TEST(FitLink, FitsItsPoints) {
  const LinkMeasurement link = fit_link({0, 1}, {point(8, 1e-6 + 8e-9), point(1000000, 1e-6 + 1e-3)});
  ASSERT_TRUE(link.fit.has_value());
  EXPECT_NEAR(link.fit->latency_s, 1e-6, 1e-15);
  EXPECT_NEAR(link.fit->bytes_per_s, 1e9, 1);
  EXPECT_THAT(link.sentence, HasSubstr("1.00 GB/s"));
}

TEST(FitLink, APointThatFailedLeavesNoFitAndItsReason) {
  const LinkMeasurement link =
      fit_link({0, 1}, {point(8, 1e-6), failed_result(point(1000, 1e-3), "the message came back changed")});
  EXPECT_FALSE(link.fit.has_value());
  EXPECT_EQ(link.sentence, "link/1000: the message came back changed");
}

TEST(MeasuredPairs, AreThoseWithAFit) {
  const auto of_pair = [](int rank, int peer, ProbeResult one) {
    one.rank = rank;
    one.peer = peer;
    return one;
  };
  const ProbeResult small = point(8, 1e-6), large = point(1000, 1e-3);
  const std::vector<ProbeResult> points = {
      of_pair(0, 1, small), of_pair(0, 2, small),
      of_pair(0, 1, large), of_pair(0, 3, small),                            // one size
      of_pair(1, 2, small), of_pair(1, 2, failed_result(large, "changed")),  // one has failed
      of_pair(0, 2, large)};
  EXPECT_THAT(measured_pairs(points), ElementsAre(RankPair{0, 1}, RankPair{0, 2}));
  EXPECT_EQ(points_of_measured_pairs(points).size(), 4U);
  EXPECT_EQ(points_of_measured_pairs(points).back().peer, 2);
}

TEST(MeasureLinks, OneRankHasNoneAndSaysWhy) {
  const auto world = make_serial_communicator();
  EXPECT_THAT(measure_links(*world, {}, ProbeContext(), {}).points, IsEmpty());
  EXPECT_EQ(waived_links().outcome, ProbeOutcome::waived);
  EXPECT_THAT(waived_links().sentence, HasSubstr("only one rank"));
}

ProbeContext tiny_link_context() {
  ProbeContext context;
  context.sampling = sampling_options(2e-3, 0.5);
  context.sampling.stopping.max_samples = 8;
  return context;
}

std::set<RankPair> pairs_of(const std::vector<ProbeResult>& points) {
  std::set<RankPair> pairs;
  for (const ProbeResult& point : points) {
    if (point.has_value()) pairs.insert({point.rank, point.peer});
  }
  return pairs;
}

TEST(MeasureLinks, RankZeroHasEveryPairAndHandsItOnRoundByRound) {
  LinkOptions options;
  options.message_bytes = {1, 4096};
  std::vector<std::size_t> of_round;
  std::vector<ProbeResult> points;
  run_on_threads(4, [&](Communicator& world) {
    LinkOptions mine = options;
    mine.on_round = [&](const std::vector<ProbeResult>& found) { of_round.push_back(found.size()); };
    const LinkOutcome outcome = measure_links(world, tournament_rounds(4), tiny_link_context(), mine);
    EXPECT_THAT(outcome.lost, IsEmpty());
    EXPECT_FALSE(outcome.is_interrupted);
    if (world.rank() == 0) {
      points = outcome.points;
    } else {
      EXPECT_THAT(outcome.points, IsEmpty());
    }
  });
  EXPECT_THAT(of_round, ElementsAre(4, 4, 4));  // two pairs of two sizes
  EXPECT_EQ(points.size(), 12U);
  EXPECT_EQ(pairs_of(points).size(), 6U);
}

// It takes part in nothing, as a process that was stopped.
TEST(MeasureLinks, ASilentRankIsNamedAndTheRestGoesOn) {
  LinkOptions options;
  options.message_bytes = {1, 4096};
  options.answer_limit_s = 2;
  run_on_threads(4, [&](Communicator& world) {
    if (world.rank() == 2) {
      static_cast<void>(LinkRanks(world));
      return;
    }
    const LinkOutcome outcome = measure_links(world, {{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1, 2}}},
                                              tiny_link_context(), options);
    ASSERT_EQ(outcome.lost.size(), 1U);
    EXPECT_THAT(outcome.lost.at(2), HasSubstr("rank 2 on "));
    EXPECT_THAT(outcome.lost.at(2), HasSubstr("did not respond after a round of pairs"));
    if (world.rank() != 0) return;
    EXPECT_THAT(pairs_of(outcome.points), ElementsAre(RankPair{0, 1}, RankPair{0, 3}, RankPair{1, 3}));
    EXPECT_EQ(outcome.points[outcome.points.size() - 1].outcome, ProbeOutcome::failed);  // 2 - 3
  });
}

TEST(MeasureLinks, AFollowerThatDoesNotAnswerFailsItsPairOnly) {
  LinkOptions options;
  options.message_bytes = {1};
  options.answer_limit_s = 2;
  run_on_threads(3, [&](Communicator& world) {
    if (world.rank() == 2) {
      static_cast<void>(LinkRanks(world));
      return;
    }
    const LinkOutcome outcome = measure_links(world, {{{1, 2}}, {{0, 1}}}, tiny_link_context(), options);
    if (world.rank() != 0) return;
    ASSERT_EQ(outcome.points.size(), 2U);
    EXPECT_THAT(outcome.points[1].sentence, HasSubstr("did not answer within 2.00 s"));
    EXPECT_TRUE(outcome.points[0].has_value());
  });
}

TEST(MeasureLinks, AnyRankCanEndItWithWhatThereIs) {
  LinkOptions options;
  options.message_bytes = {1, 4096};
  std::vector<ProbeResult> points;
  run_on_threads(4, [&](Communicator& world) {
    LinkOptions mine = options;
    std::atomic<int> asked = 0;
    // Rank 3 follows in all its pairs: it is asked once a round.
    if (world.rank() == 3) mine.should_stop = [&] { return ++asked == 2; };
    const LinkOutcome outcome = measure_links(world, tournament_rounds(4), tiny_link_context(), mine);
    EXPECT_TRUE(outcome.is_interrupted);
    if (world.rank() == 0) points = outcome.points;
  });
  EXPECT_EQ(pairs_of(points).size(), 4U);  // of two rounds
}

TEST(MeasureLinks, WhoIsToldToStopLeavesItsPairOut) {
  LinkOptions options;
  options.message_bytes = {1, 4096};
  run_on_threads(2, [&](Communicator& world) {
    LinkOptions mine = options;
    int asked = 0;
    mine.should_stop = [&] { return world.rank() == 0 && ++asked > 2; };
    const LinkOutcome outcome = measure_links(world, tournament_rounds(2), tiny_link_context(), mine);
    EXPECT_TRUE(outcome.is_interrupted);
    EXPECT_THAT(outcome.points, IsEmpty());
  });
}

}  // namespace
}  // namespace sextant
