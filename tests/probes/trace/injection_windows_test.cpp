// When recording ends: after the steps, the time or the size asked for; and the windows of device activity in
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/trace/injection_fixture.h"

namespace sextant::trace {
namespace {

using ::testing::HasSubstr;

TEST_F(Injection, EndsAfterTheStepsAskedFor) {
  settings_.most_steps = 3;
  settings_.step_range = "step";
  run("cuda steps 10");
  const Trace all = trace();
  EXPECT_EQ(count_of(all, "step"), 3U);
  EXPECT_EQ(all.processes[0].stopped, "3 steps are recorded");
  EXPECT_LE(all.work.size(), 5U * 30U);
}

TEST_F(Injection, EndsAtTheTimeAskedFor) {
  settings_.most_seconds = 0.3;
  run("cuda wait 1");
  const Trace all = trace();
  EXPECT_EQ(all.processes[0].stopped, "the time asked for is over");
  EXPECT_LT(all.whole.length(), 900'000'000);
}

TEST_F(Injection, EndsAtTheSizeAskedFor) {
  settings_.most_bytes = 4'000'000;
  run("cuda launch 100000 wait 1 launch 2000000");
  EXPECT_EQ(trace().processes[0].stopped, "the file is as large as allowed");
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(settings_.folder)) bytes += entry.file_size();
  EXPECT_LT(bytes, 12'000'000U);  // one batch more at most
}

TEST_F(Injection, RecordsDeviceActivityInWindows) {
  settings_.window_s = 0.2;
  settings_.every_s = 0.4;
  run("cuda wait 1");
  const Trace all = trace();
  EXPECT_GE(all.processes[0].recorded.size(), 2U);
  EXPECT_LT(all.work.size(), 30U * count_of(all, "step"));
  EXPECT_GT(all.work.size(), 0U);
  EXPECT_GE(count_of(all, "step"), 90U);
}

// Between two windows no kind of activity is enabled, nobody is subscribed, and but for what was still under
// way (one flush, one reading of the clock) CUPTI is not called.
TEST_F(Injection, BetweenWindowsCuptiIsLeftAlone) {
  settings_.window_s = 0.2;
  settings_.every_s = 0.6;
  run("cuda wait 2");
  std::multiset<std::string> enabled;
  bool is_subscribed = false;
  int pauses = 0;
  int flushes = 0;
  int readings = 0;
  for (const std::string& line : asked_of_cupti()) {
    const std::string kind = line.substr(line.find(' ') + 1);
    if (line == "subscribe") {
      is_subscribed = true;
      flushes = readings = 0;
    } else if (line == "unsubscribe") {
      is_subscribed = false;
      ++pauses;
      EXPECT_TRUE(enabled.empty());
    } else if (line.starts_with("enable")) {
      EXPECT_TRUE(is_subscribed);
      enabled.insert(kind);
    } else if (line.starts_with("disable")) {
      enabled.erase(kind);
    } else if (!is_subscribed) {
      line == "flush" ? ++flushes : ++readings;
      EXPECT_LE(flushes, 2) << "one after the window, one at the end of the program";
      EXPECT_LE(readings, 10) << "five tries each";
    }
  }
  EXPECT_GE(pauses, 3);
}

TEST_F(Injection, AnotherToolBetweenTwoWindowsIsSaidOnce) {
  settings_.window_s = 0.2;
  settings_.every_s = 0.4;
  run("cuda wait 2", "later subscriber");
  EXPECT_THAT(errors(), HasSubstr("no kernels are recorded, phases are timed all the same: another tool"));
  EXPECT_EQ(lines_of_errors(), 1);
  const Trace all = trace();
  EXPECT_GT(all.work.size(), 0U);
  ASSERT_EQ(all.processes[0].recorded.size(), 1U);
  EXPECT_LT(all.processes[0].recorded[0].end, 500'000'000);
  EXPECT_GE(count_of(all, "step"), 150U);
}

}  // namespace
}  // namespace sextant::trace
