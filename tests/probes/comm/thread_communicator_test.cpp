#include "probes/comm/thread_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "sextant/error.h"

namespace sextant {
namespace {

TEST(ThreadCommunicator, ReducesGathersAndBroadcasts) {
  run_on_threads(3, [](Communicator& world) {
    EXPECT_EQ(world.size(), 3);
    EXPECT_EQ(world.hosts().size(), 3U);
    for (int round = 0; round < 50; ++round) {  // nobody may still read what another writes for the next
      const auto mine = static_cast<float>(world.rank() + 1 + round);
      std::array<float, 2> sum{mine, -mine};
      world.all_reduce_sum(std::span<float>(sum));
      const auto total = static_cast<float>(6 + 3 * round);
      EXPECT_EQ(sum, (std::array<float, 2>{total, -total}));
      std::array<double, 1> largest{mine};
      world.all_reduce_max(std::span<double>(largest));
      EXPECT_EQ(largest[0], 3 + round);
      const std::array<double, 2> part{mine, 10.0 * mine};
      std::array<double, 6> all{};
      world.all_gather(std::span<const double>(part), std::span<double>(all));
      EXPECT_EQ(all[5], 10.0 * (3 + round));
      int value = world.rank() == 1 ? 40 + round : 0;
      world.broadcast(std::as_writable_bytes(std::span(&value, 1)), 1);
      EXPECT_EQ(value, 40 + round);
    }
  });
}

TEST(ThreadCommunicator, LettersKeepTheirOrderByTag) {
  run_on_threads(2, [](Communicator& world) {
    const int other = 1 - world.rank();
    for (int tag = 0; tag < 2; ++tag) {
      for (int letter = 0; letter < 3; ++letter) {
        const int value = 10 * tag + letter;
        world.send_buffered(std::as_bytes(std::span(&value, 1)), other, tag);
      }
    }
    for (int tag = 1; tag >= 0; --tag) {
      for (int letter = 0; letter < 3; ++letter) {
        int value = -1;
        world.receive(std::as_writable_bytes(std::span(&value, 1)), other, tag);
        EXPECT_EQ(value, 10 * tag + letter);
      }
    }
    world.finish_sends();
    world.barrier();
    world.wait_quietly();
  });
}

TEST(ThreadCommunicator, ScattersSumsAndExchangesParts) {
  run_on_threads(2, [](Communicator& world) {
    const auto mine = static_cast<float>(world.rank() + 1);
    const std::array<float, 2> all{mine, 10 * mine};
    std::array<float, 1> part{};
    world.reduce_scatter_sum(all, part);
    EXPECT_EQ(part[0], world.rank() == 0 ? 3 : 30);
    std::array<float, 2> received{};
    world.all_to_all(all, received);
    EXPECT_EQ(received, world.rank() == 0 ? (std::array<float, 2>{1, 2}) : (std::array<float, 2>{10, 20}));
  });
}

TEST(ThreadCommunicator, WaitsNoLongerThanTheLimit) {
  run_on_threads(2, [](Communicator& world) {
    int value = world.rank();
    const auto bytes = std::as_writable_bytes(std::span(&value, 1));
    if (world.rank() == 1) {
      EXPECT_TRUE(world.send_within(bytes, 0, 1, 60));
      return;
    }
    EXPECT_TRUE(world.receive_within(bytes, 1, 1, 60));
    EXPECT_EQ(value, 1);
    EXPECT_FALSE(world.has_message(1, 2));
    EXPECT_FALSE(world.receive_within(bytes, 1, 2, 0.001));
  });
}

TEST(ThreadCommunicator, SplitsByColourAndOrdersByKey) {
  run_on_threads(4, [](Communicator& world) {
    const auto part = world.split(world.rank() == 1 ? -1 : 7, -world.rank());
    if (world.rank() == 1) {
      EXPECT_EQ(part, nullptr);
      return;
    }
    ASSERT_EQ(part->size(), 3);
    EXPECT_EQ(part->rank(), world.rank() == 3 ? 0 : world.rank() == 2 ? 1 : 2);
    std::array<double, 1> sum{static_cast<double>(world.rank())};
    part->all_reduce_sum(std::span<double>(sum));
    EXPECT_EQ(sum[0], 5);
  });
}

TEST(ThreadCommunicator, WhoWaitsForAFailedRankFailsToo) {
  std::atomic<int> told = 0;
  const auto fail = [&](Communicator& world) {
    if (world.rank() == 1) throw_bad_input("rank 1 is out of memory");
    const auto part = world.rank() == 0 ? nullptr : &world;
    try {
      if (part == nullptr) {
        int value = 0;
        world.receive(std::as_writable_bytes(std::span(&value, 1)), 1, 5);
      } else {
        world.barrier();
      }
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("another rank"));
      ++told;
    }
  };
  try {
    run_on_threads(3, fail);
    FAIL() << "no failure";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "rank 1 is out of memory");
  }
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace sextant
