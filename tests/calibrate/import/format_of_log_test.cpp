#include "calibrate/import/format_of_log.h"

#include <gtest/gtest.h>

#include "calibrate/import/import.h"
#include "sextant/document.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

std::string format_of(const std::string& text, const std::string& name = "run.log") {
  const TemporaryFolder folder;
  write_text_file(folder.path() / name, text);
  return format_of_log(folder.path() / name);
}

TEST(FormatOfLog, MetricsTellTheFramework) {
  EXPECT_EQ(format_of("\x1b[36m(TaskRunner pid=7)\x1b[0m step:1 - timing_s/gen:16.2 - timing_s/step:48.7\n"),
            "verl");
  EXPECT_EQ(format_of("{\"_step\": 1, \"timing_s/gen\": 80.1}\n", "history.jsonl"), "verl");
  EXPECT_EQ(format_of("(RolloutManager pid=1) perf 0: {'perf/rollout_time': 33.1, 'perf/step_time': 80.2}\n"),
            "slime");
  EXPECT_EQ(format_of("=== Step 2/100 ===\n  \xe2\x80\xa2 policy_training: 41.0s\n"), "nemo-rl");
  EXPECT_EQ(format_of("Global step 3: {'timing/generation': 9.5, 'timing/step_total': 20}\n"), "openrlhf");
  EXPECT_EQ(format_of("step 3: {\"time/step_generate\": 9.5, \"time/step_total\": 20}\n"), "roll");
  EXPECT_EQ(format_of("{'timing/generate': 9.5, 'timing/step': 20, 'step': 3}\n"), "skyrl");
  EXPECT_EQ(
      format_of("Train step 3/1160 done\n\xe2\x94\x82 timeperf/rollout \xe2\x94\x82 3.5e1 \xe2\x94\x82\n"),
      "areal");
  EXPECT_EQ(format_of("{'step_time': 3.5, 'completions/mean_length': 211.5}\n"), "trl");
  EXPECT_EQ(format_of("Step,run - train/perf/rollout_time\n1,3.5\n", "panel.csv"), "slime");
}

TEST(FormatOfLog, LinesOfStepsWithoutNamesTellPrimeRl) {
  EXPECT_EQ(format_of("{\"step\": 1, \"time/wait_for_batch\": 3, \"time/step\": 9.5}\n", "metrics.jsonl"),
            "prime-rl");
  EXPECT_EQ(format_of("10:00:00 SUCCESS Step 3 |    5.2s | Loss 0.1 | Entropy 0.3\n"), "prime-rl");
  EXPECT_EQ(
      format_of("10:00:00 SUCCESS Step 3 | Time: 5.23s | Reward: 0.35 | Seq. Length: 142.7 tokens/sample\n"),
      "prime-rl");
}

TEST(FormatOfLog, WordsOfAnyLogTellNothing) {
  for (const char* text : {"", "generation took 3 s, step_time: 4\n", "my_timing_s/gen: 3, timing_s/gen_x: 4\n",
                           "timing_s/gen perf/rollout_time\n"})
    EXPECT_EQ(format_of(text), "") << text;
}

TEST(FormatOfLog, ALateFirstStepIsFound) {
  EXPECT_EQ(format_of(std::string(3'000'000, '.') + "\nstep:1 - timing_s/gen:16.2\n"), "verl");
}

TEST(FormatOfLog, ACollectionSaysIt) {
  EXPECT_EQ(format_of(R"({"framework": {"name": "NeMo-RL"}, "runs": []})", "a.json"), "nemo-rl");
  EXPECT_EQ(format_of(R"({"framework": "OpenRLHF"})", "a.json"), "openrlhf");
  EXPECT_EQ(format_of(R"({"framework": "verl, with its own rollout loop"})", "a.json"), "verl");
  EXPECT_EQ(format_of("{\"framework\": {\"name\": \"rllm (verl fork)\"}}", "a.json"), "verl");
  EXPECT_EQ(format_of(R"({"schema": "sextant.runs/1.0", "runs": []})", "a.json"), "");
}

TEST(FormatOfLog, EveryFormatIsToldByItsOwnNames) {
  for (const ImportFormat& format : import_formats()) {
    if (format.name == "verl") continue;
    EXPECT_EQ(format_of("{\"framework\": \"" + std::string(format.name) + "\"}", "a.json"), format.name);
  }
  EXPECT_NE(refusal_of([&] { (void)format_of_log("/no/such/file"); }), "");
}

}  // namespace
}  // namespace sextant
