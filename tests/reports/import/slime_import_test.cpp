#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunFacts facts_of(const std::string& program, const std::string& flags) {
  const ConfigurationFile file(
      "run.sh", "ray job submit -- python3 " + program + " --hf-checkpoint /x/Qwen3-4B " + flags);
  const Importer& importer = *find_importer("slime");
  RunSettings run = read_run_settings({file.path()}, importer.source, {});
  return importer.read(run);
}

TEST(SlimeImport, ColocatedRunsAreSynchronous) {
  const RunFacts facts = facts_of("train.py",
                                  "--colocate --actor-num-nodes 2 --use-kl-loss --rollout-batch-size 16 "
                                  "--n-samples-per-prompt 8 --num-steps-per-rollout 4 "
                                  "--rollout-max-response-len 8192 --rollout-max-context-len 9216");
  EXPECT_EQ(facts.profile, "slime");
  EXPECT_EQ(facts.mode, Mode::synchronous);
  EXPECT_EQ(facts.nodes, 2);
  EXPECT_EQ(facts.gpus_per_node, 8);
  EXPECT_TRUE(facts.has_reference);
  EXPECT_TRUE(facts.has_old_log_prob);  // of several optimizer steps
  EXPECT_FALSE(facts.has_critic);
  EXPECT_EQ(facts.mini_batches, 4);
  EXPECT_EQ(facts.max_prompt_tokens, 1024);
  EXPECT_EQ(facts.max_response_tokens, 8192);
  EXPECT_THAT(facts.notes, IsEmpty());
}

TEST(SlimeImport, SaysThatMoreIsGeneratedThanTrained) {
  const RunFacts facts = facts_of("train.py",
                                  "--colocate --rollout-batch-size 16 --rollout-max-response-len 512 "
                                  "--over-sampling-batch-size 40 --dynamic-sampling-filter-path x.y");
  EXPECT_THAT(facts.notes, Contains(HasSubstr("over-sampling-batch-size: generation makes up to 2.50 times")));
  EXPECT_THAT(facts.notes,
              Contains(HasSubstr("dynamic-sampling-filter-path: responses that the filter drops")));
}

TEST(SlimeImport, TheProgramAndTheRolloutSayTheMode) {
  const std::string flags = "--rollout-num-gpus 8 --rollout-max-response-len 512 ";
  const RunFacts one_off = facts_of("train_async.py", flags);
  EXPECT_EQ(one_off.mode, Mode::one_step_off);
  EXPECT_EQ(one_off.nodes, 2);  // 8 for training, 8 for generation
  EXPECT_EQ(one_off.mini_batches, 1);
  EXPECT_FALSE(one_off.has_old_log_prob);
  const RunFacts full = facts_of(
      "train_async.py",
      flags + "--partial-rollout --rollout-function-path fully_async_rollout.generate_rollout_fully_async");
  EXPECT_EQ(full.mode, Mode::asynchronous);
  EXPECT_TRUE(full.is_interrupted);
}

TEST(SlimeImport, PpoHasACriticAndAnotherPass) {
  const RunFacts facts =
      facts_of("train.py", "--colocate --advantage-estimator ppo --rollout-max-response-len 512");
  EXPECT_TRUE(facts.has_critic);
  EXPECT_TRUE(facts.has_old_log_prob);
  EXPECT_THAT(facts_of("train.py", "--colocate --advantage-estimator gspo").notes,
              Contains(HasSubstr("advantage-estimator=gspo: the tasks are those of GRPO")));
}

}  // namespace
}  // namespace sextant::test
