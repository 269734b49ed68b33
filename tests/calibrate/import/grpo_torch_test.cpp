// The log of a real run of examples/grpo_torch (tests/data/grpo_torch), which prints verl's metrics.
#include <gtest/gtest.h>

#include <string>

#include "calibrate/import/verl/verl.h"
#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

const std::filesystem::path kRecorded = SEXTANT_SOURCE_DIR "/tests/data/grpo_torch";

// `gpu`: in place of what the side file says; empty: as it is.
Imported read_loop(const std::string& gpu) {
  const TemporaryFolder folder;
  const std::filesystem::path log = folder.path() / "metrics.log";
  write_text_file(log, read_text_file(kRecorded / "metrics.log"));
  Json setup = parse_json(read_text_file(kRecorded / "metrics.log.setup.json"));
  if (!gpu.empty()) setup["gpu"] = gpu;
  write_text_file(log.string() + ".setup.json", format_json(setup));
  const std::filesystem::path source = SEXTANT_SOURCE_DIR;
  return read_verl({log}, Facts::load(source / "data/gpus.json", kRecorded / "models.json"));
}

double time_in_log(int step, const std::string& phase) {
  const std::string log = read_text_file(kRecorded / "metrics.log");
  const std::size_t line = log.find("step:" + std::to_string(step) + " ");
  const std::string key = "timing_s/" + phase + ":";
  return std::stod(log.substr(log.find(key, line) + key.size()));
}

TEST(GrpoTorch, LogIsReadAsVerls) {
  const Imported imported = read_loop("H100");
  ASSERT_EQ(imported.runs.runs.size(), 1U);
  const sextant::Run& run = imported.runs.runs.front();
  EXPECT_EQ(run.iteration.samples_s.size(), 6U);  // of seven, the first of the process warms up
  // If verl has no timer for them, gen holds these; this loop has neither of the other two.
  const auto& generation = run.tasks.at("actor_generation+old_log_prob+weight_sync").samples_s;
  ASSERT_EQ(generation.size(), 6U);
  EXPECT_DOUBLE_EQ(generation.front(), time_in_log(1, "gen"));
  EXPECT_DOUBLE_EQ(run.tasks.at("reference_inference").samples_s.front(), time_in_log(1, "ref"));
  EXPECT_DOUBLE_EQ(run.tasks.at("actor_training").samples_s.back(), time_in_log(6, "update_actor"));
}

// The setup of the log agrees with the loop's own documents.
TEST(GrpoTorch, SideFileAndDocumentsAgree) {
  const Imported imported = read_loop("H100");
  ASSERT_EQ(imported.runs.runs.size(), 1U);
  const sextant::Run& run = imported.runs.runs.front();
  const auto workflow = load_document<Workflow>(kRecorded / "workflow.json").content;
  const Workflow& read = imported.runs.workflow_of(run);
  EXPECT_EQ(read.prompts, workflow.prompts);
  EXPECT_EQ(read.responses_per_prompt, workflow.responses_per_prompt);
  EXPECT_EQ(read.mini_batches, workflow.mini_batches);
  EXPECT_EQ(read.models.at("actor").parameters(), workflow.models.at("actor").parameters());
  const auto plan = load_document<Plan>(kRecorded / "plan.json").content;
  EXPECT_EQ(imported.runs.plan_of(run).tasks.at("actor_training").micro_batch_sequences,
            plan.tasks.at("actor_training").micro_batch_sequences);
}

TEST(GrpoTorch, OnACpuTheSideFileNeedsAGpu) {
  const Imported imported = read_loop("");
  EXPECT_TRUE(imported.runs.runs.empty());
  ASSERT_EQ(imported.left_out.size(), 1U);
  EXPECT_EQ(imported.left_out.front().reason, "no facts about GPU \"CPU\"");
}

}  // namespace
}  // namespace sextant
