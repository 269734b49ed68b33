// Configurations that train low-rank adapters: the plan has their rank, and a script of the plan says it again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/import/yaml_file.h"
#include "tests/reports/import/imported_plan.h"

namespace sextant::test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

int rank_of(const Plan& plan) { return plan.tasks.at("actor_training").execution.lora_rank; }

// The rank that the plan has; it is the same after an export.
int imported_rank(const std::string& framework, const std::string& name, const std::string& text) {
  ReadConfiguration read = read_configuration(framework, name, text);
  const Plan plan = plan_of(read);
  EXPECT_THAT(read.unused, IsEmpty());
  EXPECT_EQ(rank_of(exported_and_read(plan, read)), rank_of(plan));
  return rank_of(plan);
}

constexpr const char* kVerl =
    "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer.yaml algorithm.adv_estimator=grpo "
    "data.train_batch_size=64 actor_rollout_ref.rollout.n=8 "
    "actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.use_dynamic_bsz=True "
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8192 ";

TEST(AdaptersImport, VerlsMegatronHasAGroupOfKeys) {
  EXPECT_EQ(imported_rank("verl", "run.sh", kVerl), 0);
  EXPECT_EQ(imported_rank("verl", "run.sh",
                          kVerl + std::string("actor_rollout_ref.model.lora.rank=32 "
                                              "actor_rollout_ref.model.lora.alpha=64 "
                                              "actor_rollout_ref.model.lora.lora_A_init_method=kaiming")),
            32);
}

// Adapters that are merged send all weights to the engines.
TEST(AdaptersImport, VerlsMergedAdaptersAreReported) {
  ReadConfiguration read = read_configuration(
      "verl", "run.sh",
      kVerl + std::string("actor_rollout_ref.model.lora.rank=32 actor_rollout_ref.model.lora.merge=True"));
  EXPECT_EQ(rank_of(plan_of(read)), 32);
  EXPECT_THAT(read.unused, Contains("actor_rollout_ref.model.lora.merge=true"));
}

TEST(AdaptersImport, MilesHasThemForTheActorAlone) {
  const std::string launch =
      "python3 train.py --hf-checkpoint /x/Qwen3-4B --colocate --actor-num-gpus-per-node 8 "
      "--rollout-batch-size 32 --n-samples-per-prompt 8 --rollout-max-response-len 1024 "
      "--rollout-num-gpus-per-engine 2 ";
  EXPECT_EQ(imported_rank("miles", "run.sh", launch), 0);
  const std::string adapters =
      "--lora-rank 32 --lora-alpha 32 --lora-dropout 0.0 --target-modules all-linear "
      "--megatron-to-hf-mode bridge ";
  EXPECT_EQ(imported_rank("miles", "run.sh", launch + adapters), 32);
  ReadConfiguration ppo =
      read_configuration("miles", "run.sh", launch + adapters + "--advantage-estimator ppo");
  const Plan plan = plan_of(ppo);
  EXPECT_EQ(rank_of(plan), 32);
  EXPECT_EQ(plan.tasks.at("critic_training").execution.lora_rank, 0);
}

// slime 0.3.1 has no adapters: the flag is reported.
TEST(AdaptersImport, SlimeHasNone) {
  ReadConfiguration read =
      read_configuration("slime", "run.sh",
                         "python3 train.py --hf-checkpoint /x/Qwen3-4B --colocate --rollout-batch-size 32 "
                         "--n-samples-per-prompt 8 --rollout-max-response-len 1024 --lora-rank 32");
  EXPECT_EQ(rank_of(plan_of(read)), 0);
  EXPECT_THAT(read.unused, Contains("lora-rank=32"));
}

TEST(AdaptersImport, TrlHasThemIfPeftIsOn) {
  const std::string launch =
      "accelerate launch --num_processes 8 grpo.py --model_name_or_path x --use_vllm true "
      "--per_device_train_batch_size 8 --lora_r 32 --lora_alpha 64 ";
  EXPECT_EQ(imported_rank("trl", "run.sh", launch), 0);
  EXPECT_EQ(imported_rank("trl", "run.sh", launch + "--use_peft"), 32);
  EXPECT_EQ(imported_rank("trl", "run.sh", "trl grpo --model_name_or_path x --use_vllm true --use_peft true"),
            16);
}

TEST(AdaptersImport, RollHasThemIfModulesAreNamed) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const auto rank_with = [](const std::string& adapters) {
    return imported_rank("roll", "run.yaml",
                         "pretrain: x\nrollout_batch_size: 64\nnum_return_sequences_in_group: 8\n"
                         "adv_estimator: grpo\nactor_train:\n  model_args:\n    dtype: bf16\n" +
                             adapters +
                             "  training_args:\n    per_device_train_batch_size: 4\n"
                             "    gradient_accumulation_steps: 16\n"
                             "  strategy_args:\n    strategy_name: megatron_train\n"
                             "  device_mapping: list(range(0,8))\n"
                             "actor_infer:\n  device_mapping: list(range(0,8))\n"
                             "reference:\n  device_mapping: list(range(0,8))\n");
  };
  EXPECT_EQ(rank_with(""), 0);
  EXPECT_EQ(rank_with("    lora_rank: 64\n"), 0);
  EXPECT_EQ(rank_with("    lora_rank: 64\n    lora_target: all-linear\n"), 64);
  EXPECT_EQ(rank_with("    lora_target: all-linear\n"), 8);
}

}  // namespace
}  // namespace sextant::test
