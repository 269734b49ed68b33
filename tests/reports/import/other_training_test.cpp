// Frameworks train in other ways with files of the same form: none of them is read as PPO or GRPO.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "reports/import/references.h"
#include "reports/import/yaml_file.h"
#include "sextant/error.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

// The message with which the configuration is refused; empty: it is read.
std::string refusal_of(const std::string& framework, const std::string& name, const std::string& text) {
  const ConfigurationFile file(name, text);
  const Importer& importer = *find_importer(framework);
  RunSettings run = read_run_settings({file.path()}, importer.source, {});
  try {
    (void)importer.read(run);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// examples/configs/sft.yaml and dpo.yaml of NeMo RL 0.7.0 have the same policy and cluster as grpo_math_1B.yaml.
TEST(OtherTraining, SectionsOfNemoRlSayTheProgram) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const std::string policy = "policy:\n  model_name: x\n";
  EXPECT_THAT(refusal_of("nemo-rl", "run.yaml", "sft:\n  max_num_steps: 60\n" + policy),
              HasSubstr("run.yaml:2: sft.max_num_steps: the configuration trains by supervised fine-tuning; "
                        "give one of PPO or GRPO"));
  EXPECT_THAT(refusal_of("nemo-rl", "run.yaml", "dpo:\n  max_num_steps: 60\n" + policy),
              HasSubstr("trains by DPO"));
  EXPECT_THAT(refusal_of("nemo-rl", "run.yaml", "distillation:\n  topk_logits_k: 64\n" + policy),
              HasSubstr("trains by distillation"));
  EXPECT_THAT(
      refusal_of("nemo-rl", "run.yaml", "ppo:\n  num_prompts_per_step: 8\n" + policy),
      HasSubstr("run.yaml:2: ppo.num_prompts_per_step: PPO of NeMo RL, which has a value model, is not read"));
  EXPECT_EQ(refusal_of("nemo-rl", "run.yaml", "grpo:\n  num_prompts_per_step: 8\n" + policy), "");
  EXPECT_EQ(refusal_of("nemo-rl", "run.yaml", policy), "");  // what it extends is not there
}

// scripts/run-qwen3-4B-base-sft.sh of slime 0.3.1.
TEST(OtherTraining, TheLossOfSlimeSaysIt) {
  const std::string launch = "python3 train_async.py --hf-checkpoint /x/Qwen3-4B --loss-type ";
  EXPECT_THAT(refusal_of("slime", "run.sh", launch + "sft_loss"),
              HasSubstr("run.sh:1: loss-type: the configuration trains by supervised fine-tuning"));
  EXPECT_EQ(refusal_of("slime", "run.sh", launch + "policy_loss"), "");
}

TEST(OtherTraining, OtherTrainersOfMilesAreNotRead) {
  const std::string launch = "python3 train.py --hf-checkpoint /x/Qwen3-4B --train-backend ";
  EXPECT_THAT(refusal_of("miles", "run.sh", launch + "fsdp"),
              HasSubstr("run.sh:1: train-backend: expected megatron, got \"fsdp\""));
  EXPECT_EQ(refusal_of("miles", "run.sh", launch + "megatron"), "");
}

// examples/math/gsm8k_sft.yaml and alignment/hhrlhf_rw.yaml of AReaL 1.0.4 have no engines.
TEST(OtherTraining, ConfigurationsOfArealWithoutRolloutsHaveNone) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const std::string actor = "actor:\n  backend: \"fsdp:d8\"\n  path: x\n";
  EXPECT_THAT(refusal_of("areal", "run.yaml", actor), HasSubstr("it has no rollout"));
  EXPECT_EQ(refusal_of("areal", "run.yaml", actor + "rollout:\n  backend: \"sglang:d8\"\n"), "");
}

// Each dot after the first is a section up (omegaconf.readthedocs.io, variable interpolation).
TEST(References, OfOtherSectionsAreFound) {
  TrainerSettings settings;
  settings.set("policy.generation.tokens", "${..total}");
  settings.set("policy.generation.prefill", "${.limit}");
  settings.set("policy.generation.limit", 256);
  settings.set("policy.total", 8192);
  settings.set("policy.prompts", "${..batch.prompts}");
  settings.set("policy.name", "${...none}");
  settings.set("batch.prompts", 64);
  resolve_references(settings);
  EXPECT_EQ(settings.integer("policy.generation.tokens", 0), 8192);
  EXPECT_EQ(settings.integer("policy.generation.prefill", 0), 256);
  EXPECT_EQ(settings.integer("policy.prompts", 0), 64);
  EXPECT_EQ(settings.text("policy.name", ""), "${...none}");
}

}  // namespace
}  // namespace sextant::test
