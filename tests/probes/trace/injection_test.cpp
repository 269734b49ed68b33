// The records of a traced process, and its messages when something is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "probes/trace/record/chunk_reader.h"
#include "tests/probes/trace/injection_fixture.h"

namespace sextant::trace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST_F(Injection, RecordsRangesAndKernels) {
  run("cuda steps 3");
  EXPECT_EQ(errors(), "");
  const Trace all = trace();
  ASSERT_EQ(all.processes.size(), 1U);
  EXPECT_EQ(all.processes[0].rank, 3);
  EXPECT_TRUE(all.processes[0].is_finished);
  EXPECT_THAT(all.processes[0].command, HasSubstr("cuda steps 3"));
  EXPECT_EQ(count_of(all, "gen"), 3U);
  EXPECT_EQ(all.work.size(), 90U);
  // Kernels end now and take a microsecond, so those of a step lie in its phase: the clocks agree.
  const TraceSummary summary = summary_of(all);
  EXPECT_NEAR(summary.split.tasks.at("actor_generation").gemm_s, 30e-6, 1e-7);
  EXPECT_NEAR(summary.split.tasks.at("actor_training").attention_s, 60e-6, 1e-7);
  EXPECT_EQ(summary.iteration_s.size(), 3U);
  for (const double iteration_s : summary.iteration_s) EXPECT_GE(iteration_s, 4e-3);
}

TEST_F(Injection, AProgramWithoutCudaHasItsRanges) {
  run("steps 4");
  const Trace all = trace();
  EXPECT_EQ(count_of(all, "train"), 4U);
  EXPECT_TRUE(all.work.empty());
  EXPECT_EQ(summary_of(all).tasks_s.at("actor_training").size(), 4U);
}

TEST_F(Injection, DomainsAndThreadsKeepTheirRangesApart) {
  run("domain threads");
  const Trace all = trace();
  ASSERT_EQ(all.ranges.size(), 3U);
  for (const Range& range : all.ranges) EXPECT_FALSE(range.is_cut);
  const auto length_ms = [&](const char* name) {
    for (const Range& range : all.ranges) {
      if (all.names[static_cast<std::size_t>(range.name)] == name)
        return static_cast<double>(range.time.length()) / 1e6;
    }
    return 0.0;
  };
  EXPECT_GE(length_ms("in domain"), length_ms("outer") + 1.9);
  EXPECT_GE(length_ms("across"), 1.9);
}

TEST_F(Injection, TakesRangesByAllOfNvtxsFunctions) {
  run("forms");
  const Trace all = trace();
  std::map<std::string, RangeStyle> styles;
  for (const Range& range : all.ranges) {
    EXPECT_FALSE(range.is_cut);
    styles[all.names[static_cast<std::size_t>(range.name)]] = range.style;
  }
  const std::map<std::string, RangeStyle> expected{
      {"wide, ?", RangeStyle::push_pop},         {"attributes", RangeStyle::push_pop},
      {"wide attributes", RangeStyle::push_pop}, {"(unnamed)", RangeStyle::push_pop},
      {"wide start", RangeStyle::start_end},     {"start with attributes", RangeStyle::start_end},
      {"start in domain", RangeStyle::start_end}};
  EXPECT_EQ(styles, expected);
}

// Deeper than the tracer keeps them: the inner ones are not recorded, the outer ones end as they should.
TEST_F(Injection, RangesOfAnyDepthArePoppedInOrder) {
  run("deep 300");
  const Trace all = trace();
  EXPECT_EQ(count_of(all, "deep"), 256U);
  EXPECT_EQ(count_of(all, "behind"), 1U);
  EXPECT_EQ(all.processes[0].unmatched_ends, 0U);
  std::vector<std::int64_t> ends;
  for (const Range& range : all.ranges) {
    EXPECT_FALSE(range.is_cut);
    if (all.names[static_cast<std::size_t>(range.name)] == "deep") ends.push_back(range.time.end);
  }
  EXPECT_TRUE(std::is_sorted(ends.rbegin(), ends.rend()));
}

TEST_F(Injection, MillionsOfRecordsAreKeptWithoutLoss) {
  // Ten times a second's worth of the fastest launching there is.
  std::string words = "cuda";
  for (int i = 0; i < 10; ++i) words += " launch 200000 nap 300";
  run(words);
  const Trace all = trace();
  EXPECT_EQ(all.work.size(), 2'000'000U + 20'000U);
  EXPECT_EQ(all.processes[0].dropped_records, 0U);
  EXPECT_TRUE(all.processes[0].is_finished);
}

TEST_F(Injection, AKilledProcessLosesOnlyItsLastMoments) {
  const pid_t child = start("cuda wait 20");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(wait_for(child)));
  const Trace all = trace();
  ASSERT_EQ(all.processes.size(), 1U);
  EXPECT_FALSE(all.processes[0].is_finished);
  EXPECT_EQ(all.processes[0].lost_chunks, 0U);
  // A step takes 10 ms and more; all but the last 0.05 s and a slow machine's share are there.
  EXPECT_GE(count_of(all, "step"), 30U);
  EXPECT_GE(all.work.size(), 30U * count_of(all, "gen") - 600U);
  EXPECT_THAT(summary_of(all).remarks(), Contains(HasSubstr("did not end by itself")));
}

// The device is never idle: of the buffer that is being filled nothing is handed over, the full ones are.
TEST_F(Injection, AKilledBusyProcessLosesItsLastBuffer) {
  const pid_t child = start("cuda launch 100000 wait 20", "busy");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  kill(child, SIGKILL);
  wait_for(child);
  const std::size_t kept = trace().work.size();
  EXPECT_LT(kept, 101'000U + 3'000U);
  EXPECT_GE(kept, 101'000U - 12'000U);  // a buffer of 2 MiB holds fewer
}

TEST_F(Injection, ASecondSubscriberIsSaidInOneLine) {
  run("cuda steps 2", "second subscriber");
  EXPECT_THAT(errors(),
              HasSubstr("sextant trace: no kernels are recorded, phases are timed all the same: another tool"));
  EXPECT_EQ(lines_of_errors(), 1);
  const Trace all = trace();
  EXPECT_EQ(count_of(all, "gen"), 2U);
  EXPECT_TRUE(all.work.empty());
  EXPECT_EQ(summary_of(all).iteration_s.size(), 2U);
  EXPECT_THAT(all.processes[0].device_trouble, HasSubstr("another tool"));
}

TEST_F(Injection, AMissingCuptiIsSaidInOneLine) {
  settings_.cupti = "/nowhere/libcupti.so";
  run("cuda steps 2");
  EXPECT_THAT(errors(), HasSubstr("no libcupti was found"));
  EXPECT_EQ(lines_of_errors(), 1);
  EXPECT_EQ(count_of(trace(), "gen"), 2U);
}

TEST_F(Injection, ACuptiThatRefusesIsQuotedWithItsReason) {
  run("cuda steps 1", "no kernels");
  EXPECT_THAT(errors(), HasSubstr("CUPTI does not record kernels: FAKE_ERROR (1)"));
  EXPECT_EQ(count_of(trace(), "gen"), 1U);
}

TEST_F(Injection, ALibraryThatIsNoCuptiIsNamed) {
  settings_.cupti = test::built_file("sextant_trace");
  run("cuda steps 1");
  EXPECT_THAT(errors(), HasSubstr("is of no use: it lacks cuptiSubscribe"));
}

TEST_F(Injection, WhatCuptiDroppedIsCounted) {
  run("cuda steps 1", "drops");
  EXPECT_GE(trace().processes[0].dropped_records, 3U);
}

// The kernels of the first moments came, then another tool had the buffers: what follows is not told as idle.
TEST_F(Injection, ATakeoverIsSaidAndEndsTheTimeOfRecording) {
  run("cuda steps 1 nap 200 wait 1", "taken over");
  const Trace all = trace();
  EXPECT_THAT(all.processes[0].device_trouble, HasSubstr("another tool has taken CUPTI over"));
  ASSERT_EQ(all.processes[0].recorded.size(), 1U);
  EXPECT_LT(all.processes[0].recorded[0].end, 500'000'000);
  EXPECT_GT(all.whole.length(), 1'000'000'000);
  EXPECT_EQ(all.work.size(), 30U);
}

TEST_F(Injection, AForkedChildHasItsOwnFile) {
  run("cuda steps 2 fork steps 1");
  const Trace all = trace();
  ASSERT_EQ(all.processes.size(), 2U);
  EXPECT_EQ(count_of(all, "step"), 4U);
  std::array<std::size_t, 2> of_process{};
  for (const Range& range : all.ranges) {
    if (all.names[static_cast<std::size_t>(range.name)] == "step")
      ++of_process.at(static_cast<std::size_t>(range.process));
  }
  EXPECT_EQ(of_process[0] + of_process[1], 4U);
  EXPECT_EQ(std::min(of_process[0], of_process[1]), 1U);
}

// Without kernels CUPTI is not even opened, and phases are timed.
TEST_F(Injection, WithoutDeviceCuptiIsNotOpened) {
  settings_.device = false;
  run("cuda steps 3");
  EXPECT_TRUE(asked_of_cupti().empty());
  EXPECT_EQ(errors(), "");
  const Trace all = trace();
  EXPECT_TRUE(all.work.empty());
  EXPECT_EQ(summary_of(all).tasks_s.at("actor_training").size(), 3U);
}

TEST_F(Injection, AFolderThatCannotBeWrittenIsSaidAndHarmsNothing) {
  settings_.folder = "/nowhere/at/all";
  run("cuda steps 2");
  EXPECT_THAT(errors(), HasSubstr("/nowhere/at/all"));
  EXPECT_EQ(lines_of_errors(), 1);
  EXPECT_THAT(asked_of_cupti(), Contains("unsubscribe"));
}

// The disk is full, the program goes on: CUPTI costs it nothing any more.
TEST_F(Injection, AFileThatGrowsNoFurtherIsSaidAndFreesCupti) {
  before_ = "ulimit -f 256; ";  // blocks of 512 bytes
  run("cuda launch 20000 wait 1");
  EXPECT_THAT(errors(), HasSubstr("stopped: "));
  EXPECT_THAT(errors(), HasSubstr("File too large"));
  EXPECT_EQ(lines_of_errors(), 1);
  const std::vector<std::string> asked = asked_of_cupti();
  EXPECT_THAT(asked, Contains("unsubscribe"));
  EXPECT_LT(trace().work.size(), 20'000U);
}

TEST_F(Injection, CudaThatComesAfterTheEndIsLeftAlone) {
  settings_.max_seconds = 0.05;
  run("steps 5 nap 300 cuda steps 5");
  EXPECT_TRUE(asked_of_cupti().empty());
}

// The disk does not keep up with 18 events in 60 seconds.
TEST_F(Injection, RangesThatHaveNoRoomAreCounted) {
  settings_.flush_s = 60;
  settings_.max_range_bytes = 400;
  run("steps 3");
  const auto file = std::filesystem::directory_iterator(settings_.folder)->path();
  const std::string text = read_text_file(file);
  std::uint64_t kept = 0;
  for (const NamedRecord& named : read_chunks(text).records) {
    const RecordKind kind = named.record.kind;
    if (kind == RecordKind::range_begin || kind == RecordKind::range_end) ++kept;
  }
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, 18U);
  EXPECT_EQ(trace().processes[0].dropped_ranges, 18U - kept);
}

TEST_F(Injection, WithoutItsFolderTheLibraryDoesNothing) {
  settings_.folder.clear();
  run("cuda steps 2");
  EXPECT_EQ(errors(), "");
}

TEST_F(Injection, AFileThatWasCutReadsUpToThere) {
  run("cuda steps 5 open");
  const auto file = std::filesystem::directory_iterator(settings_.folder)->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 30);
  const Trace all = trace();
  EXPECT_GT(all.processes[0].damaged_bytes, 0U);
  EXPECT_EQ(count_of(all, "step"), 5U);
}

}  // namespace
}  // namespace sextant::trace
