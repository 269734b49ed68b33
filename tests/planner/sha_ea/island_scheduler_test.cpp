#include "planner/search/island_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sextant {
namespace {

struct Step {
  std::size_t who;
  std::uint64_t left;  // before it
};

TEST(IslandScheduler, GoToThoseWithTheMostLeft) {
  std::vector<std::uint64_t> left = {10, 30, 20};
  std::vector<Step> steps;
  IslandScheduler turns(1);
  std::atomic<std::size_t> begun = 0;
  const auto work = [&](std::size_t who) {
    IslandScheduler::Slot turn(turns, left[who]);
    ++begun;
    for (; left[who] > 0; turn.pass(left[who])) steps.push_back({who, left[who]--});
  };
  {
    std::vector<std::jthread> threads;
    IslandScheduler::Slot turn(turns, 1);
    for (std::size_t who = 0; who < left.size(); ++who) threads.emplace_back(work, who);
    while (begun < left.size()) turn.pass(1);
  }
  ASSERT_EQ(steps.size(), 60U);
  // From when all have begun, nobody goes on while another has a third more left: they end together.
  std::vector<std::uint64_t> now(3, 0);
  std::size_t seen = 0;
  for (const auto& [who, before] : steps) {
    if (seen == now.size()) {
      EXPECT_LE(*std::max_element(now.begin(), now.end()), before + before / 3);
    }
    if (now[who] == 0) ++seen;
    now[who] = before - 1;
  }
  EXPECT_EQ(seen, now.size());
}

TEST(IslandScheduler, AreNoMoreThanSoManyAtOnce) {
  IslandScheduler turns(2);
  std::atomic<int> running = 0, maximum = 0;
  std::atomic<int> done = 0;
  const auto work = [&] {
    std::uint64_t left = 2000;
    IslandScheduler::Slot turn(turns, left);
    for (; left > 0; turn.pass(--left)) {
      const int now = ++running;
      for (int seen = maximum; seen < now && !maximum.compare_exchange_weak(seen, now);) {
      }
      ++done;
      --running;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 5; ++t) threads.emplace_back(work);
  }
  EXPECT_EQ(done, 10'000);
  EXPECT_LE(maximum, 2);
}

TEST(IslandScheduler, AreNotPassedByThoseAtTheEnd) {
  IslandScheduler turns(1);
  std::atomic<bool> has_begun = false;
  const auto work = [&] {
    const IslandScheduler::Slot turn(turns, 100);
    has_begun = true;
  };
  std::jthread thread;
  {
    IslandScheduler::Slot turn(turns, 1);
    thread = std::jthread(work);
    for (int k = 0; k < 1000; ++k) {
      turn.pass(0);
      std::this_thread::yield();
    }
    EXPECT_FALSE(has_begun);
  }
  thread.join();
  EXPECT_TRUE(has_begun);
}

TEST(IslandScheduler, ArePassedOnByThoseThatFail) {
  IslandScheduler turns(1);
  const auto fail = [&] {
    const IslandScheduler::Slot turn(turns, 1);
    throw std::runtime_error("no memory");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  const IslandScheduler::Slot turn(turns, 1);
  SUCCEED();
}

}  // namespace
}  // namespace sextant
