#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "tests/core/expect_error.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Importer& verl() { return *find_importer("verl"); }

struct ReadRun {
  RunSettings run;
  RunFacts facts;
};

ReadRun read_words(const std::string& words, const std::string& module = "verl.trainer.main_ppo") {
  const ConfigurationFile file("run.sh", "python3 -m " + module + " " + words);
  RunSettings run = read_run_settings({file.path()}, verl().source, {});
  RunFacts facts = verl().read(run);
  return {std::move(run), std::move(facts)};
}

TEST(VerlImport, TakesDefaultsOfTheVersion) {
  const ReadRun read = read_words(
      "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 "
      "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4 "
      "critic.ppo_micro_batch_size_per_gpu=4");
  const RunFacts& facts = read.facts;
  EXPECT_EQ(facts.profile, "verl-fsdp");
  EXPECT_EQ(facts.nodes, 1);
  EXPECT_EQ(facts.gpus_per_node, 8);
  EXPECT_TRUE(facts.has_critic);  // adv_estimator gae
  EXPECT_FALSE(facts.has_reference);
  EXPECT_TRUE(facts.has_old_log_prob);
  EXPECT_FALSE(facts.has_reward_model);
  EXPECT_EQ(facts.prompts, 1024);
  EXPECT_EQ(facts.mini_batches, 4);
  EXPECT_EQ(facts.responses_per_prompt, 1);
  EXPECT_EQ(facts.max_prompt_tokens, 512);
  EXPECT_THAT(facts.notes, IsEmpty());
  EXPECT_THAT(read.run.notes, IsEmpty());
  const RunGraph graph = graph_of(facts);  // a rule gives the reward
  EXPECT_EQ(graph.algorithm, Algorithm::ppo);
  EXPECT_EQ(graph.tasks, ppo_tasks({false, true}, false));
}

TEST(VerlImport, RefusesEasyR1) {
  const std::string refusal = sextant::refusal_of([] {
    (void)read_words("algorithm.adv_estimator=grpo worker.actor.model.model_path=Qwen/Qwen3-8B",
                     "verl.trainer.main_ppo");
  });
  EXPECT_THAT(refusal, HasSubstr("run.sh:1: worker.actor.model.model_path: this is a setting of EasyR1"));
}

TEST(VerlImport, TakesThePrecisionOfTheActor) {
  const std::string batches =
      " algorithm.adv_estimator=grpo actor_rollout_ref.actor.use_dynamic_bsz=True "
      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=5000";
  EXPECT_EQ(read_words(batches).facts.precision, Precision::bf16);
  const ReadRun half = read_words(
      "actor_rollout_ref.actor.fsdp_config.dtype=float16 actor_rollout_ref.rollout.dtype=float16" + batches);
  EXPECT_EQ(half.facts.precision, Precision::fp16);
  EXPECT_THAT(unused_settings(half.run.settings, verl(), half.facts), IsEmpty());
}

// A pass takes the actor's micro-batches, and the reference its layout.
TEST(VerlImport, DerivesDefaultsFromTheActor) {
  const ReadRun read = read_words(
      "algorithm.adv_estimator=grpo actor_rollout_ref.actor.use_kl_loss=True "
      "actor_rollout_ref.actor.use_dynamic_bsz=True "
      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=5000 "
      "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2");
  const TrainerSettings& settings = read.run.settings;
  EXPECT_TRUE(settings.flag("actor_rollout_ref.ref.log_prob_use_dynamic_bsz", false));
  EXPECT_EQ(settings.integer("actor_rollout_ref.ref.log_prob_max_token_len_per_gpu", 0), 5000);
  EXPECT_EQ(settings.integer("actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", 0), 5000);
  EXPECT_EQ(settings.integer("actor_rollout_ref.ref.ulysses_sequence_parallel_size", 0), 2);
}

// 128 sequences over 8 GPUs with groups of 2.
TEST(VerlImport, DividesAMicroBatchOfAllGpus) {
  const ReadRun read = read_words(
      "algorithm.adv_estimator=grpo actor_rollout_ref.actor.ppo_micro_batch_size=128 "
      "actor_rollout_ref.rollout.log_prob_micro_batch_size=64 "
      "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2");
  EXPECT_EQ(read.run.settings.integer("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", 0), 32);
  EXPECT_EQ(read.run.settings.integer("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", 0), 16);
}

TEST(VerlImport, SaysThatAMicroBatchIsMissing) {
  const ReadRun read = read_words("algorithm.adv_estimator=grpo");
  EXPECT_TRUE(read.run.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", false));
  EXPECT_THAT(read.run.notes, Contains(HasSubstr("ppo_micro_batch_size_per_gpu is not stated")));
}

TEST(VerlImport, KnowsMegatronByConfigurationNameStrategyOrKeys) {
  EXPECT_EQ(read_words("--config-name=ppo_megatron_trainer.yaml data.train_batch_size=8").facts.profile,
            "verl-megatron");
  EXPECT_EQ(read_words("actor_rollout_ref.actor.strategy=megatron").facts.profile, "verl-megatron");
  EXPECT_EQ(read_words("actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2").facts.profile,
            "verl-megatron");
}

TEST(VerlImport, TellsModesByTheProgram) {
  const ReadRun async = read_words(
      "async_training.staleness_threshold=0.5 trainer.n_gpus_per_node=6 "
      "rollout.n_gpus_per_node=2 actor_rollout_ref.actor.ppo_mini_batch_size=32",
      "recipe.fully_async_policy.fully_async_main");
  EXPECT_EQ(async.facts.mode, Mode::asynchronous);
  EXPECT_EQ(async.facts.staleness, 0.5);
  EXPECT_EQ(async.facts.prompts, 128);  // 4 steps until weights are sent
  EXPECT_EQ(async.facts.nodes, 1);
  EXPECT_EQ(async.facts.gpus_per_node, 8);
  EXPECT_FALSE(async.facts.has_old_log_prob);
  const ReadRun off = read_words("trainer.nnodes=2 rollout.nnodes=1", "recipe.one_step_off_policy.main_ppo");
  EXPECT_EQ(off.facts.mode, Mode::one_step_off);
  EXPECT_EQ(off.facts.nodes, 3);
}

// The V1 trainer has one program; generation apart has its GPUs beside those of the trainer.
TEST(VerlImport, TellsModesOfTheV1TrainerByASetting) {
  const ReadRun apart = read_words(
      "trainer.v1.trainer_mode=separate_async trainer.v1.separate_async.num_warmup_batches=2 trainer.nnodes=2 "
      "actor_rollout_ref.rollout.nnodes=1 actor_rollout_ref.rollout.n_gpus_per_node=8 data.train_batch_size=64 "
      "actor_rollout_ref.actor.ppo_mini_batch_size=16 trainer.v1.separate_async.parameter_sync_step=4");
  EXPECT_EQ(apart.facts.mode, Mode::asynchronous);
  EXPECT_EQ(apart.facts.staleness, 2);
  EXPECT_EQ(apart.facts.nodes, 3);
  EXPECT_EQ(apart.facts.prompts, 64);
  EXPECT_EQ(apart.facts.mini_batches, 4);
  EXPECT_TRUE(apart.facts.is_interrupted);
  EXPECT_TRUE(apart.facts.has_old_log_prob);
  const ReadRun together = read_words("trainer.v1.trainer_mode=colocate_async");
  EXPECT_EQ(together.facts.mode, Mode::synchronous);
  EXPECT_THAT(together.facts.notes, Contains(HasSubstr("colocate_async: the plan is synchronous")));
  EXPECT_EQ(read_words("trainer.use_v1=False trainer.v1.trainer_mode=separate_async").facts.mode,
            Mode::synchronous);
  EXPECT_THAT(sextant::refusal_of([] { (void)read_words("trainer.v1.trainer_mode=separate"); }),
              HasSubstr("expected sync, colocate_async or separate_async"));
}

TEST(VerlImport, WarnsOfSettingsThatThePlanDoesNotHave) {
  const ReadRun read = read_words(
      "algorithm.adv_estimator=rloo actor_rollout_ref.actor.ppo_epochs=2 "
      "actor_rollout_ref.actor.optim.lr=1e-6 actor_rollout_ref.rollout.new_option=3 "
      "actor_rollout_ref.actor.fsdp_config.param_offload=True");
  EXPECT_THAT(unused_settings(read.run.settings, verl(), read.facts),
              ElementsAre("actor_rollout_ref.actor.ppo_epochs=2", "actor_rollout_ref.rollout.new_option=3"));
  EXPECT_THAT(read.facts.notes, Contains(HasSubstr("adv_estimator=rloo")));
  EXPECT_THAT(read.facts.notes, Contains(HasSubstr("param_offload decides")));
}

}  // namespace
}  // namespace sextant::test
