// When recording ends: after the steps, the time or the size asked for; and the windows of device activity in
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/trace/injection/cupti_abi.h"
#include "tests/probes/trace/injection_fixture.h"

namespace sextant::trace {
namespace {

using ::testing::HasSubstr;

TEST_F(Injection, EndsAfterTheStepsAskedFor) {
  settings_.max_steps = 3;
  settings_.step_range = "step";
  run("cuda steps 10");
  const Trace all = trace();
  EXPECT_EQ(count_of(all, "step"), 3U);
  EXPECT_EQ(all.processes[0].stopped, "3 steps are recorded");
  EXPECT_LE(all.work.size(), 5U * 30U);
}

// Whatever is begun inside a range that was started is no step, on any thread.
TEST_F(Injection, StepsAreTheOutermostStartedRanges) {
  settings_.max_steps = 3;
  run("started 10");
  const Trace all = trace();
  EXPECT_EQ(all.processes[0].stopped, "3 steps are recorded");
  EXPECT_EQ(count_of(all, "step"), 3U);
  EXPECT_EQ(count_of(all, "gen"), 6U);
  EXPECT_EQ(count_of(all, "inner"), 12U);
}

TEST_F(Injection, StepsAreTheOutermostPushedRanges) {
  settings_.max_steps = 3;
  run("steps 10");
  const Trace all = trace();
  EXPECT_EQ(count_of(all, "step"), 3U);
  EXPECT_EQ(count_of(all, "train"), 3U);
}

TEST_F(Injection, EndsAtTheTimeAskedFor) {
  settings_.max_seconds = 0.3;
  run("cuda wait 1");
  const Trace all = trace();
  EXPECT_EQ(all.processes[0].stopped, "the time asked for is over");
  EXPECT_LT(all.whole.length(), 900'000'000);
}

TEST_F(Injection, EndsAtTheSizeAskedFor) {
  settings_.max_bytes = 4'000'000;
  run("cuda launch 100000 wait 1 launch 2000000");
  EXPECT_EQ(trace().processes[0].stopped, "the file is as large as allowed");
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(settings_.folder)) bytes += entry.file_size();
  EXPECT_LT(bytes, 12'000'000U);  // one batch more at most
}

// All at once, so that the bound is met in the midst of writing.
TEST_F(Injection, ABurstEndsAtTheSizeAskedFor) {
  settings_.max_bytes = 4'000'000;
  run("cuda launch 1000000 wait 1");
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(settings_.folder)) bytes += entry.file_size();
  EXPECT_LT(bytes, 14'000'000U);  // one batch more at most
  const Process process = trace().processes[0];
  EXPECT_EQ(process.stopped, "the file is as large as allowed");
  EXPECT_GT(process.dropped_records, 0U);
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

// A graph that was captured while whole graphs are not recorded must not be replayed while they are: that kind
// is on before any other and stays on to the end.
TEST_F(Injection, WholeGraphsAreRecordedFromTheFirstToTheLast) {
  settings_.window_s = 0.2;
  settings_.every_s = 0.4;
  run("cuda wait 2");
  const std::string graphs = std::to_string(static_cast<int>(cupti::kGraphTrace));
  const std::string kernels = std::to_string(static_cast<int>(cupti::kConcurrentKernel));
  const std::vector<std::string> asked = asked_of_cupti();
  ASSERT_GT(asked.size(), 2U);
  EXPECT_EQ(asked[0], "subscribe");
  EXPECT_EQ(asked[1], "enable " + graphs);
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "enable " + graphs), 1);
  EXPECT_EQ(std::count(asked.begin(), asked.end(), "disable " + graphs), 0);
  EXPECT_GE(std::count(asked.begin(), asked.end(), "disable " + kernels), 3);
  EXPECT_GE(std::count(asked.begin(), asked.end(), "enable " + kernels), 4);
}

TEST_F(Injection, WithGraphNodesNoWholeGraphIsRecorded) {
  settings_.graph_nodes = true;
  settings_.max_slowdown = 0.03;
  run("cuda steps 3");
  const std::string graphs = std::to_string(static_cast<int>(cupti::kGraphTrace));
  for (const std::string& line : asked_of_cupti()) EXPECT_NE(line, "enable " + graphs);
}

// The end of a recording releases the subscription: another tool can take it.
TEST_F(Injection, AnEndedRecordingFreesCupti) {
  settings_.max_seconds = 0.3;
  run("cuda wait 1");
  const std::vector<std::string> asked = asked_of_cupti();
  const auto end = std::find(asked.begin(), asked.end(), "unsubscribe");
  ASSERT_NE(end, asked.end());
  EXPECT_EQ(*(end - 1), "disable " + std::to_string(static_cast<int>(cupti::kGraphTrace)));
}

TEST_F(Injection, AProgramOfManyLaunchesIsRecordedInWindows) {
  settings_.max_slowdown = 0.1;
  run("cuda crowd 3");
  const Trace all = trace();
  EXPECT_GE(all.processes[0].recorded.size(), 2U);
  const TraceSummary summary = summary_of(all);
  EXPECT_LT(summary.recorded_fraction, 0.7);
  EXPECT_GT(summary.recorded_fraction, 0.02);
  EXPECT_THAT(summary.remarks(), testing::Contains(HasSubstr("--every-kernel records all")));
  EXPECT_TRUE(all.processes[0].device_trouble.empty()) << all.processes[0].device_trouble;
}

TEST_F(Injection, AProgramOfFewLaunchesIsRecordedWhole) {
  settings_.max_slowdown = 0.03;
  run("cuda wait 1");
  const Trace all = trace();
  EXPECT_EQ(all.processes[0].recorded.size(), 1U);
  EXPECT_EQ(all.work.size(), 30U * count_of(all, "step"));
  EXPECT_THAT(summary_of(all).remarks(), testing::IsEmpty());
}

TEST_F(Injection, KernelsThatCannotBeRecordedAgainAreSaidOnce) {
  settings_.window_s = 0.2;
  settings_.every_s = 0.4;
  run("cuda wait 2", "kernels once");
  EXPECT_THAT(errors(),
              HasSubstr("no kernels are recorded, phases are timed all the same: CUPTI does not record"));
  EXPECT_EQ(lines_of_errors(), 1);
  const Trace all = trace();
  EXPECT_GT(all.work.size(), 0U);
  ASSERT_EQ(all.processes[0].recorded.size(), 1U);
  EXPECT_LT(all.processes[0].recorded[0].end, 500'000'000);
  EXPECT_GE(count_of(all, "step"), 150U);
  EXPECT_THAT(asked_of_cupti(), testing::Contains("unsubscribe"));
}

}  // namespace
}  // namespace sextant::trace
