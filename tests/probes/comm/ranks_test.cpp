// The MPI backend on three ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tests/probes/comm/ranks.h"

namespace sextant {
namespace {

using test::world;

TEST(Ranks, AreThree) {
  EXPECT_EQ(world().size(), 3);
  EXPECT_EQ(world().hosts().size(), 3U);
  EXPECT_NE(transport_description().find("MPI"), std::string::npos);
}

TEST(Ranks, ReduceAndGather) {
  const auto mine = static_cast<float>(world().rank() + 1);
  std::vector<float> sum{mine, -mine};
  world().all_reduce_sum(std::span<float>(sum));
  EXPECT_EQ(sum, (std::vector<float>{6, -6}));
  std::vector<double> largest{mine, -mine};
  world().all_reduce_max(std::span<double>(largest));
  EXPECT_EQ(largest, (std::vector<double>{3, -1}));
  const std::vector<float> part{mine, 10 * mine};
  std::vector<float> all(6);
  world().all_gather(std::span<const float>(part), std::span<float>(all));
  EXPECT_EQ(all, (std::vector<float>{1, 10, 2, 20, 3, 30}));
}

TEST(Ranks, BroadcastFromAnyRoot) {
  for (int root = 0; root < 3; ++root) {
    int value = world().rank() == root ? 40 + root : 0;
    world().broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
    EXPECT_EQ(value, 40 + root);
  }
}

// Large enough that a blocking send would wait for its receiver, and all ranks send before they receive.
TEST(Ranks, BufferedSendsDoNotWaitForTheReceiver) {
  constexpr std::size_t kElements = std::size_t{1} << 20;
  const int to = (world().rank() + 1) % 3;
  const int from = (world().rank() + 2) % 3;
  std::vector<int> sent(kElements, world().rank());
  for (int tag = 0; tag < 3; ++tag) {
    sent.front() = tag;
    world().send_buffered(std::as_bytes(std::span(sent)), to, tag);
    std::fill(sent.begin(), sent.end(), world().rank());  // the buffer may be reused at once
  }
  std::vector<int> received(kElements);
  for (int tag = 2; tag >= 0; --tag) {
    world().receive(std::as_writable_bytes(std::span(received)), from, tag);
    EXPECT_EQ(received.front(), tag);
    EXPECT_EQ(received.back(), from);
  }
  world().finish_sends();
}

TEST(Ranks, ScatterSumsAndExchangeParts) {
  const auto mine = static_cast<float>(world().rank() + 1);
  const std::vector<float> all{mine, 10 * mine, 100 * mine};
  std::vector<float> part(1);
  world().reduce_scatter_sum(all, part);
  EXPECT_EQ(part[0], 6 * std::pow(10.0F, world().rank()));
  std::vector<float> received(3);
  world().all_to_all(all, received);
  const float power = std::pow(10.0F, static_cast<float>(world().rank()));
  EXPECT_EQ(received, (std::vector<float>{power, 2 * power, 3 * power}));
}

TEST(Ranks, WaitNoLongerThanTheLimit) {
  static std::vector<std::byte> message(1 << 20, std::byte{5});  // must outlive what was given up
  constexpr int kTag = 900;
  if (world().rank() == 0) {
    EXPECT_FALSE(world().has_message(1, kTag));
    EXPECT_FALSE(world().receive_within(message, 1, kTag, 0.01));   // nobody sends
    EXPECT_FALSE(world().send_within(message, 1, kTag + 1, 0.01));  // nobody receives
    EXPECT_TRUE(world().receive_within(message, 2, kTag + 2, 60));
    EXPECT_EQ(message.back(), std::byte{5});
  }
  if (world().rank() == 2) {
    EXPECT_TRUE(world().send_within(message, 0, kTag + 2, 60));
  }
  world().wait_quietly();
}

TEST(Ranks, SendBlockingAlongAChain) {
  int token = 7;
  const auto bytes = std::as_writable_bytes(std::span(&token, 1));
  if (world().rank() > 0) world().receive(bytes, world().rank() - 1, 1);
  ++token;
  if (world().rank() < 2) world().send(bytes, world().rank() + 1, 1);
  EXPECT_EQ(token, 8 + world().rank());
}

TEST(Ranks, SplitByColourAndOrderByKey) {
  // Ranks 0 and 2 in reverse order; rank 1 takes part and gets nothing.
  const auto part = world().split(world().rank() == 1 ? -1 : 4, -world().rank());
  if (world().rank() == 1) {
    EXPECT_EQ(part, nullptr);
    return;
  }
  EXPECT_EQ(part->size(), 2);
  EXPECT_EQ(part->rank(), world().rank() == 2 ? 0 : 1);
  part->wait_quietly();
  part->barrier();
}

// Ranks of one host share the monotonic clock.
TEST(Ranks, NobodyLeavesAQuietWaitBeforeAllHaveCome) {
  const auto now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  for (int late = 0; late < 3; ++late) {
    double busy = 1;
    if (world().rank() == late) {
      for (int i = 0; i < 2000000; ++i) busy = std::sqrt(busy + i);
    }
    EXPECT_GT(busy, 0);
    std::vector<double> times{now_s(), 0};
    world().wait_quietly();
    times[1] = -now_s();
    world().all_reduce_max(std::span<double>(times));
    EXPECT_LE(times[0], -times[1]);
  }
}

}  // namespace
}  // namespace sextant
