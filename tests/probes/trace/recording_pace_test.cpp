// When device activity is recorded, so that recording costs no more than a share of the time.
#include "probes/trace/record/recording_pace.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace sextant::trace {
namespace {

struct Outcome {
  double cost_s = 0;  // of recording and of pauses, as the pace reckons it
  double recorded_s = 0;
  std::vector<double> windows_at_s;
};

// A program that launches so many kernels a second, looked at every 50 ms; what was recorded is told in lumps.
Outcome simulate(RecordingPace& pace, double launches_per_s, double from_s, double seconds,
                 std::uint64_t lump = 1) {
  constexpr double kStep_s = 0.05;
  Outcome outcome;
  double waiting = 0;
  bool was_recording = true;
  for (double now_s = from_s; now_s < from_s + seconds; now_s += kStep_s) {
    const bool records = pace.records_at(now_s);
    if (records && !was_recording) outcome.windows_at_s.push_back(now_s);
    was_recording = records;
    const double launches = launches_per_s * kStep_s;
    outcome.cost_s += launches * (records ? tracing_cost::kLaunch_s : tracing_cost::kPausedLaunch_s);
    if (!records) continue;
    outcome.recorded_s += kStep_s;
    waiting += launches;
    const auto whole = static_cast<std::uint64_t>(waiting) / lump * lump;
    pace.add({whole, 0});
    waiting -= static_cast<double>(whole);
  }
  return outcome;
}

Settings budget(double max_slowdown) {
  Settings settings;
  settings.max_slowdown = max_slowdown;
  return settings;
}

TEST(RecordingPace, WithoutABudgetRecordsAlways) {
  RecordingPace pace(Settings{});
  EXPECT_FALSE(pace.has_pauses());
  EXPECT_DOUBLE_EQ(simulate(pace, 200'000, 0, 10).recorded_s, 10.0);
}

TEST(RecordingPace, FewLaunchesAreRecordedAlways) {
  RecordingPace pace(budget(0.03));
  const Outcome outcome = simulate(pace, 8'000, 100, 60);  // 2.4 % of the time
  EXPECT_NEAR(outcome.recorded_s, 60, 0.1);
}

TEST(RecordingPace, ManyLaunchesAreRecordedInWindowsThatCostNoMoreThanTheBudget) {
  for (const double rate : {15'000.0, 25'000.0, 40'000.0}) {
    RecordingPace pace(budget(0.03));
    const Outcome outcome = simulate(pace, rate, 5, 300, 10'000);
    EXPECT_LT(outcome.cost_s, 0.03 * 300 * 1.05) << rate;
    EXPECT_GT(outcome.cost_s, 0.03 * 300 * 0.6) << rate << ": what may be spent is spent";
    EXPECT_GT(outcome.windows_at_s.size(), 10U) << rate;
  }
}

// Then pauses alone cost more than the budget; a little is recorded all the same.
TEST(RecordingPace, WindowsComeHoweverManyLaunchesThereAre) {
  RecordingPace pace(budget(0.03));
  const Outcome outcome = simulate(pace, 250'000, 0, 300, 10'000);
  EXPECT_GT(outcome.windows_at_s.size(), 10U);
  EXPECT_LT(outcome.recorded_s, 0.05 * 300);
}

// Steps of one length must not be seen at one place only.
TEST(RecordingPace, WindowsFallOnAllPartsOfAStep) {
  constexpr double kStep_s = 4.0;
  RecordingPace pace(budget(0.03));
  std::array<int, 8> parts{};
  for (const double at_s : simulate(pace, 50'000, 0, 2'000, 10'000).windows_at_s) {
    ++parts[static_cast<std::size_t>(std::fmod(at_s, kStep_s) / kStep_s * 8)];
  }
  for (const int count : parts) EXPECT_GT(count, 10);
}

// Credit from an hour of waiting is not spent on minutes of slow launches.
TEST(RecordingPace, CreditIsBounded) {
  RecordingPace pace(budget(0.03));
  EXPECT_DOUBLE_EQ(simulate(pace, 0, 0, 3'600).cost_s, 0.0);
  EXPECT_LT(simulate(pace, 100'000, 3'600, 3).recorded_s, 1.2);
}

TEST(RecordingPace, NodesOfGraphsCostLessThanLaunches) {
  RecordingPace pace(budget(0.03));
  double recorded_s = 0;
  for (double now_s = 0; now_s < 60; now_s += 0.05) {
    if (!pace.records_at(now_s)) continue;
    recorded_s += 0.05;
    pace.add({50, 2'500});  // 1,000 launches and 50,000 nodes a second: 2.3 %
  }
  EXPECT_NEAR(recorded_s, 60, 0.1);
}

TEST(RecordingPace, WindowsThatAreAskedForAreKept) {
  Settings settings = budget(0.03);
  settings.window_s = 1;
  settings.every_s = 4;
  RecordingPace pace(settings);
  const Outcome outcome = simulate(pace, 500'000, 7, 40);
  EXPECT_NEAR(outcome.recorded_s, 10, 0.6);
}

}  // namespace
}  // namespace sextant::trace
