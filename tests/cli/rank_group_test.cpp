// Ranks of one question, as threads: what fails on one fails on all.
#include "cli/rank_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_codes.h"
#include "probes/comm/thread_communicator.h"

namespace sextant::cli {
namespace {

using ::testing::ElementsAre;

TEST(RankGroup, GathersTextOfAnyLengthOnAllRanks) {
  run_on_threads(3, [](Communicator& world) {
    RankGroup ranks(world);
    EXPECT_EQ(ranks.size(), 3);
    EXPECT_EQ(ranks.is_first(), ranks.rank() == 0);
    EXPECT_EQ(ranks.ranks_on_host(), 3);
    const std::string mine(static_cast<std::size_t>(ranks.rank()) * 1000, 'x');
    EXPECT_THAT(ranks.gather(mine), ElementsAre("", std::string(1000, 'x'), std::string(2000, 'x')));
  });
}

// Rank 1 fails while the others are done, or wait for what it has to say.
TEST(RankGroup, WhatFailsOnOneFailsOnAll) {
  for (const bool others_wait : {false, true}) {
    run_on_threads(3, [others_wait](Communicator& world) {
      RankGroup ranks(world);
      EXPECT_EQ(ranks.together([] { return 7; }), 7);
      const auto part = [&]() -> int {
        if (ranks.rank() == 1) throw_bad_input("no such file");
        if (others_wait) (void)ranks.gather("mine");
        return 0;
      };
      try {
        (void)ranks.together(part);
        ADD_FAILURE() << "rank " << ranks.rank() << " went on";
      } catch (const FailedOnAll& failure) {
        EXPECT_EQ(failure.rank(), 1);
        EXPECT_EQ(failure.kind(), ErrorKind::bad_input);
        EXPECT_STREQ(failure.what(), "no such file");
      }
    });
  }
}

TEST(RankGroup, TheFirstOfThoseThatFailIsHeard) {
  run_on_threads(3, [](Communicator& world) {
    RankGroup ranks(world);
    try {
      ranks.together([&]() -> int {
        if (ranks.rank() == 0) return 0;
        throw_machine_failed("rank " + std::to_string(ranks.rank()));
      });
      ADD_FAILURE() << "rank " << ranks.rank() << " went on";
    } catch (const FailedOnAll& failure) {
      EXPECT_EQ(failure.rank(), 1);
      EXPECT_EQ(failure.kind(), ErrorKind::machine);
    }
  });
}

TEST(RankGroup, AllEndAsTheFirstDoes) {
  std::atomic<int> calls = 0;
  run_on_threads(3, [&calls](Communicator& world) {
    RankGroup ranks(world);
    const auto answer_no = [&] {
      ++calls;
      return kAnswerIsNo;
    };
    EXPECT_EQ(ranks.first_alone(answer_no), kAnswerIsNo);
    EXPECT_EQ(ranks.first_alone([]() -> int { throw_machine_failed("the disk is full"); }), kMachineFailed);
  });
  EXPECT_EQ(calls, 1);
}

// Without others an Error goes its way.
TEST(RankGroup, OneAloneIsAsWithoutAGroup) {
  const std::unique_ptr<Communicator> world = make_serial_communicator();
  RankGroup ranks(*world);
  EXPECT_TRUE(ranks.is_alone());
  EXPECT_EQ(ranks.ranks_on_host(), 1);
  const auto fails = []() -> int { throw_bad_input("no such file"); };
  for (const auto& run : {std::function<int()>([&] { return ranks.together(fails); }),
                          std::function<int()>([&] { return ranks.first_alone(fails); })}) {
    try {
      (void)run();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const FailedOnAll&) {
      ADD_FAILURE() << "there are no others";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "no such file");
    }
  }
}

}  // namespace
}  // namespace sextant::cli
