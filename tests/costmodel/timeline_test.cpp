#include "costmodel/timeline.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

std::vector<TimedSpan<double>> simulated(const std::vector<TimedTask<double>>& tasks) {
  return simulate_timeline(tasks);
}

const std::set<DeviceId> kFirst{DeviceId{0}}, kSecond{DeviceId{1}}, kBoth{DeviceId{0}, DeviceId{1}};

TEST(Timeline, IndependentTasksOnDifferentDevicesRunTogether) {
  const auto spans = simulated({{5, &kFirst, {}}, {3, &kSecond, {}}});
  EXPECT_EQ(spans[0].start_s, 0);
  EXPECT_EQ(spans[1].start_s, 0);
  EXPECT_EQ(makespan_s(spans), 5);
}

TEST(Timeline, SharedDevicesRunOneAfterAnother) {
  const auto spans = simulated({{5, &kFirst, {}}, {3, &kBoth, {}}, {2, &kSecond, {}}});
  EXPECT_EQ(spans[1].start_s, 5);
  EXPECT_EQ(spans[2].start_s, 8);  // waits for its device, not for a parent
  EXPECT_EQ(spans[2].ready_s, 0);
}

TEST(Timeline, ChildrenWaitForEveryParent) {
  // Generation on both, two inference tasks side by side, training on both.
  const auto spans = simulated({{10, &kBoth, {}}, {2, &kFirst, {0}}, {4, &kSecond, {0}}, {20, &kBoth, {1, 2}}});
  EXPECT_EQ(spans[1].start_s, 10);
  EXPECT_EQ(spans[2].start_s, 10);
  EXPECT_EQ(spans[3].start_s, 14);
  EXPECT_EQ(makespan_s(spans), 34);
}

TEST(Timeline, ReadyTasksGoInTheOrderOfTheirReadyTime) {
  // Task 2 is ready at 1, task 3 at 6: on the device that both want, 2 goes first although listed after 3's
  // parent.
  const auto spans = simulated({{6, &kFirst, {}}, {1, &kSecond, {}}, {9, &kSecond, {1}}, {1, &kSecond, {0}}});
  EXPECT_EQ(spans[2].start_s, 1);
  EXPECT_EQ(spans[3].start_s, 10);
}

TEST(Timeline, NothingTakesNoTime) { EXPECT_EQ(makespan_s(simulated({})), 0); }

}  // namespace
}  // namespace sextant
