// The records of a real PyTorch loop (tests/data/grpo_torch), compared with the loop's own times.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <vector>

#include "core/table_file.h"
#include "probes/trace/analysis/summary.h"
#include "sextant/document.h"

namespace sextant::trace {
namespace {

const std::string kSource = SEXTANT_SOURCE_DIR;
const std::string kRecorded = kSource + "/tests/data/grpo_torch/";

// Seconds by the loop's name of the phase, a step after another.
std::map<std::string, std::vector<double>> timed_by_the_loop() {
  std::map<std::string, std::vector<double>> seconds;
  const std::string log = read_text_file(kRecorded + "metrics.log");
  const std::regex pattern(R"(timing_s/(\w+):([0-9.e+-]+))");
  for (std::sregex_iterator match(log.begin(), log.end(), pattern), end; match != end; ++match) {
    seconds[(*match)[1]].push_back(std::stod((*match)[2]));
  }
  return seconds;
}

TEST(RecordedLoop, TakesAsLongAsItSays) {
  // The loop reads its clock outside its ranges, on a machine that others used.
  constexpr double kBetweenClocks_s = 2e-3;
  constexpr int kWarmUp = 1;
  const Trace trace = merge_traces({{"loop", read_text_file(kRecorded + "loop.sxtrace")}});
  const TraceSummary summary =
      summarise(trace, load_table<TaskRanges>(kSource + "/data/trace/task_ranges.json"),
                load_table<KernelNames>(kSource + "/data/trace/kernel_names.json"), kWarmUp);
  const auto timed = timed_by_the_loop();
  const auto expect_as_timed = [&](const std::vector<double>& traced_s, const std::string& phase) {
    const std::vector<double>& timed_s = timed.at(phase);
    ASSERT_EQ(traced_s.size() + kWarmUp, timed_s.size()) << phase;
    for (std::size_t i = 0; i < traced_s.size(); ++i) {
      EXPECT_LE(traced_s[i], timed_s[i + kWarmUp]) << phase;
      EXPECT_NEAR(traced_s[i], timed_s[i + kWarmUp], kBetweenClocks_s) << phase;
    }
  };
  expect_as_timed(summary.iteration_s, "step");
  expect_as_timed(summary.tasks_s.at("actor_generation"), "gen");
  expect_as_timed(summary.tasks_s.at("reference_inference"), "ref");
  expect_as_timed(summary.tasks_s.at("actor_training"), "update_actor");
  EXPECT_TRUE(trace.work.empty());
  EXPECT_TRUE(trace.processes.at(0).is_finished);
  EXPECT_TRUE(summary.remarks().empty());
}

}  // namespace
}  // namespace sextant::trace
