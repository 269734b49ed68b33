// Ranks of one question, as threads: what fails on one fails on all.
#include "cli/probe/rank_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "cli/shared/exit_codes.h"
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

// Four ranks and more tell the next three in a ring; of fewer all others.
TEST(RankGroup, TellsTheNextOnTheWay) {
  for (const int size : {2, 5}) {
    run_on_threads(size, [size](Communicator& world) {
      RankGroup ranks(world);
      const std::string name = std::to_string(ranks.rank());
      for (const std::size_t length : {1U, 2040U, 2041U, 70000U})
        ranks.tell_next(name + std::string(length - 1, '.'));
      std::vector<std::string> told;
      const std::size_t tellers = size == 2 ? 1 : 3;
      while (told.size() < 4 * tellers) {
        for (std::string& message : ranks.told()) told.push_back(std::move(message));
      }
      std::map<std::string, std::vector<std::size_t>> lengths;
      for (const std::string& message : told) lengths[message.substr(0, 1)].push_back(message.size());
      EXPECT_EQ(lengths.size(), tellers);
      for (const auto& [teller, of_teller] : lengths) {
        EXPECT_THAT(of_teller, ElementsAre(1, 2040, 2041, 70000));
        EXPECT_LE((ranks.rank() + size - std::stoi(teller)) % size, 3);
      }
      EXPECT_THAT(ranks.told(), ::testing::IsEmpty());
    });
  }
}

// Nobody asked for it; what is gathered is not mistaken for it, and later messages come.
TEST(RankGroup, WhatIsNotAskedForIsLostAtTheNextGather) {
  run_on_threads(3, [](Communicator& world) {
    RankGroup ranks(world);
    ranks.tell_next(std::string(5000, 'x'));
    EXPECT_THAT(ranks.gather(std::to_string(ranks.rank())), ElementsAre("0", "1", "2"));
    EXPECT_THAT(ranks.told(), ::testing::IsEmpty());
    (void)ranks.gather("all have looked");
    if (ranks.rank() == 0) ranks.tell_next("late");
    std::vector<std::string> told;
    while (ranks.rank() != 0 && told.empty()) told = ranks.told();
    if (ranks.rank() != 0) {
      EXPECT_THAT(told, ElementsAre("late"));
    }
    EXPECT_THAT(ranks.gather(""), ElementsAre("", "", ""));
  });
}

// Messages under way when a rank fails keep no rank from ending.
TEST(RankGroup, FailsWithMessagesUnderWay) {
  run_on_threads(3, [](Communicator& world) {
    RankGroup ranks(world);
    EXPECT_THROW(ranks.together([&]() -> int {
      ranks.tell_next(std::string(100'000, 'x'));
      if (ranks.rank() == 1) throw_bad_input("no");
      return 0;
    }),
                 FailedOnAll);
    EXPECT_THAT(ranks.gather("a"), ElementsAre("a", "a", "a"));
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
