// The library inside a real process: a program that uses NVTX and a "CUDA" whose CUPTI is a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "core/table_file.h"
#include "probes/trace/analysis/summary.h"
#include "probes/trace/injection/activity.h"
#include "probes/trace/traced_command.h"
#include "tests/core/temporary_folder.h"

namespace sextant::trace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// ---- records one by one ----

TEST(Activity, IncompleteRecordsAreToldApart) {
  cupti::Kernel kernel{};
  kernel.kind = cupti::kConcurrentKernel;
  kernel.start = 10;
  kernel.name = "k";
  EXPECT_TRUE(convert(reinterpret_cast<const cupti::Activity&>(kernel)).lacks_times);
  kernel.end = 9;
  EXPECT_FALSE(convert(reinterpret_cast<const cupti::Activity&>(kernel)).is_wanted);
  kernel.end = 12;
  kernel.device_id = 5;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(kernel));
  EXPECT_TRUE(converted.is_wanted);
  EXPECT_EQ(converted.record.device, 5);
  EXPECT_EQ(converted.name, "k");
}

TEST(Activity, KindsThatNobodyAskedForArePassedOver) {
  alignas(8) cupti::Activity strange[8]{};
  strange[0].kind = 999;
  const ConvertedActivity converted = convert(strange[0]);
  EXPECT_FALSE(converted.is_wanted);
  EXPECT_FALSE(converted.lacks_times);
}

TEST(Activity, CopiesBetweenDevicesHaveTheirOwnRecord) {
  cupti::PeerMemcpy copy{};
  copy.kind = cupti::kPeerMemcpy;
  copy.copy_kind = 10;
  copy.bytes = 77;
  copy.start = 1;
  copy.end = 2;
  copy.correlation_id = 3;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(copy));
  EXPECT_EQ(converted.record.kind, RecordKind::copy);
  EXPECT_EQ(converted.record.detail, static_cast<std::uint8_t>(CopyKind::between_devices));
  EXPECT_EQ(converted.record.value, 77U);
  EXPECT_EQ(converted.record.correlation, 3U);
}

// ---- processes ----

class Injection : public ::testing::Test {
 protected:
  Injection() {
    settings_.folder = (folder_.path() / "records").string();
    settings_.cupti = SEXTANT_FAKE_CUPTI;
    settings_.flush_s = 0.05;
    std::filesystem::create_directories(settings_.folder);
  }

  // Starts the program with its stderr in a file.
  pid_t start(const std::string& words, const std::string& mode = "") {
    const pid_t child = fork();
    if (child != 0) return child;
    for (const auto& [name, value] : tracing_environment(settings_, SEXTANT_TRACE_LIBRARY)) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    setenv("FAKE_CUPTI", mode.c_str(), 1);
    setenv("FAKE_CUPTI_LOG", log_file().c_str(), 1);
    setenv("RANK", "3", 1);
    if (freopen(error_file().c_str(), "w", stderr) == nullptr || freopen("/dev/null", "w", stdout) == nullptr) {
      _exit(99);
    }
    execl("/bin/sh", "sh", "-c", ("exec " + std::string(SEXTANT_TRACED_PROGRAM) + " " + words).c_str(),
          nullptr);
    _exit(99);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  void run(const std::string& words, const std::string& mode = "") {
    const int status = wait_for(start(words, mode));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << errors();
  }
  [[nodiscard]] std::string error_file() const { return (folder_.path() / "stderr").string(); }
  [[nodiscard]] std::string log_file() const { return (folder_.path() / "cupti").string(); }
  // What was asked of CUPTI; nothing when it was not even opened.
  [[nodiscard]] std::vector<std::string> asked_of_cupti() const {
    std::ifstream file(log_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  [[nodiscard]] std::string errors() const { return read_text_file(error_file()); }
  [[nodiscard]] std::ptrdiff_t lines_of_errors() const {
    const std::string text = errors();
    return std::count(text.begin(), text.end(), '\n');
  }
  [[nodiscard]] Trace trace() const { return load_traces(settings_.folder); }
  [[nodiscard]] static TraceSummary summary_of(const Trace& trace, int skip = 0) {
    TaskRanges tasks;
    tasks.tasks = {{"actor_generation", {"gen"}, ""}, {"actor_training", {"train"}, ""}};
    tasks.iterations = {"step"};
    return summarise(trace, tasks,
                     load_table<KernelNames>(std::string(SEXTANT_SOURCE_DIR) + "/data/trace/kernel_names.json"),
                     skip);
  }
  static std::size_t count_of(const Trace& trace, const std::string& name) {
    std::size_t count = 0;
    for (const Range& range : trace.ranges) {
      if (range.name >= 0 && trace.names[static_cast<std::size_t>(range.name)] == name) ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
  Settings settings_;
};

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
  settings_.cupti = SEXTANT_TRACE_LIBRARY;
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

// What costs nothing per kernel: CUPTI is not even opened, phases are timed.
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
