#include "planner/evaluate/memory_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sextant {
namespace {

constexpr std::size_t kDevices = 12, kTasks = 3;

struct Needs {
  std::vector<double> resident, working;
};

double excess_of(const std::vector<Needs>& tasks, const std::vector<double>& rooms) {
  double largest = 0;
  for (std::size_t d = 0; d < rooms.size(); ++d) {
    double resident = 0, working = 0;
    for (const Needs& task : tasks) {
      resident += task.resident[d];
      working = std::max(working, task.working[d]);
    }
    largest = std::max(largest, resident + working - rooms[d]);
  }
  return largest;
}

std::vector<TaskBytes> views_of(const std::vector<Needs>& tasks) {
  std::vector<TaskBytes> views;
  views.reserve(tasks.size());
  for (const Needs& task : tasks) views.push_back({task.resident.data(), task.working.data()});
  return views;
}

// Small whole numbers: many devices are as full as the fullest, and often none is too small.
TEST(MemoryUse, FollowsMovesAndTakesThemBack) {
  std::mt19937 random(1);
  const std::vector<double> rooms(kDevices, 6.0);
  std::vector<Needs> tasks(kTasks, {std::vector<double>(kDevices), std::vector<double>(kDevices)});
  MemoryUse memory(rooms);
  ASSERT_EQ(memory.of_candidate(views_of(tasks)), 0.0);
  int lowered = 0;
  for (int move = 0; move < 5'000; ++move) {
    const std::vector<Needs> before = tasks;
    std::vector<std::uint16_t> changed;
    for (std::size_t c = 1 + random() % 3; c > 0; --c) {
      const std::size_t task = random() % kTasks, device = random() % kDevices;
      tasks[task].resident[device] = static_cast<double>(random() % 5);
      tasks[task].working[device] = static_cast<double>(random() % 5);
      changed.push_back(static_cast<std::uint16_t>(device));
    }
    const double expected = excess_of(tasks, rooms);
    ASSERT_EQ(memory.of_move(views_of(tasks), changed), expected) << move;
    if (expected < excess_of(before, rooms)) ++lowered;
    if (random() % 2 == 0) {
      memory.keep();
    } else {
      // A move may be costed again after more of it, with which all devices have room.
      if (random() % 2 == 0) memory.skip_move();
      memory.undo();
      tasks = before;
    }
    ASSERT_EQ(memory.of_same(), excess_of(tasks, rooms)) << move;
  }
  EXPECT_GT(lowered, 100);
}

}  // namespace
}  // namespace sextant
