#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "tests/core/expect_error.h"
#include "tests/reports/export/random_trainer_plans.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The options of examples/train/gsm8k/run_gsm8k.sh, in their old form.
const std::string kSkyGsm8k =
    "NUM_GPUS=4\nuv run --isolated --extra vllm -m skyrl_train.entrypoints.main_base \\\n"
    "  data.train_data=\"['/d/train.parquet']\" trainer.algorithm.advantage_estimator=grpo \\\n"
    "  trainer.policy.model.path=Qwen/Qwen2.5-1.5B-Instruct trainer.placement.colocate_all=true \\\n"
    "  trainer.strategy=fsdp2 trainer.placement.policy_num_gpus_per_node=$NUM_GPUS \\\n"
    "  trainer.placement.ref_num_gpus_per_node=$NUM_GPUS generator.num_inference_engines=$NUM_GPUS \\\n"
    "  generator.inference_engine_tensor_parallel_size=1 trainer.epochs=20 trainer.eval_batch_size=1024 \\\n"
    "  trainer.update_epochs_per_batch=1 trainer.train_batch_size=1024 trainer.policy_mini_batch_size=256 \\\n"
    "  trainer.micro_forward_batch_size_per_gpu=64 trainer.micro_train_batch_size_per_gpu=32 \\\n"
    "  trainer.max_prompt_length=512 generator.sampling_params.max_generate_length=1024 \\\n"
    "  trainer.policy.optimizer_config.lr=1.0e-6 trainer.algorithm.use_kl_loss=true generator.backend=vllm \\\n"
    "  generator.run_engines_locally=true generator.weight_sync_backend=nccl environment.env_class=gsm8k \\\n"
    "  generator.n_samples_per_prompt=5 generator.gpu_memory_utilization=0.8 trainer.logger=wandb\n";

struct ImportedSky {
  RunSettings run;
  RunFacts facts;
};

ImportedSky import_sky(const std::string& text) {
  const ConfigurationFile file("run.sh", text);
  const Importer& importer = *find_importer("skyrl");
  ImportedSky imported{read_run_settings({file.path()}, importer.source, {}), {}};
  imported.facts = importer.read(imported.run);
  return imported;
}

Plan sky_plan(const ImportedSky& imported, int nodes) {
  const FrameworkProfile& profile = shipped_profile(imported.facts.profile);
  std::mt19937 random(1);
  Workflow workflow = random_workflow(profile, random);
  workflow.tasks = graph_of(imported.facts).tasks;
  workflow.mode = imported.facts.mode;
  for (const Task& task : workflow.tasks) workflow.models.emplace(task.model, workflow.models.at("actor"));
  return plan_of_settings(imported.run.settings, "plan", {workflow, gpu_cluster(nodes), profile},
                          *find_plan_reader(imported.facts.profile));
}

TEST(SkyRlImport, ReadsBatchesAndTasksOfAScript) {
  const ImportedSky imported = import_sky(kSkyGsm8k);
  const RunFacts& facts = imported.facts;
  EXPECT_EQ(facts.profile, "skyrl");
  EXPECT_EQ(facts.mode, Mode::synchronous);
  EXPECT_EQ(facts.gpus_per_node, 4);
  EXPECT_EQ(facts.prompts, 1024);
  EXPECT_EQ(facts.responses_per_prompt, 5);
  EXPECT_EQ(facts.mini_batches, 4);
  EXPECT_EQ(facts.max_response_tokens, 1024);
  EXPECT_TRUE(facts.has_reference);
  EXPECT_FALSE(facts.has_critic);
  EXPECT_EQ(facts.actor, "Qwen/Qwen2.5-1.5B-Instruct");
  EXPECT_THAT(facts.notes, IsEmpty());
  (void)sky_plan(imported, 1);
  EXPECT_THAT(unused_settings(imported.run.settings, *find_importer("skyrl"), facts), IsEmpty());
}

TEST(SkyRlImport, PlansSharedGpusWithEnginesThatSleep) {
  const Plan plan = sky_plan(import_sky(kSkyGsm8k), 1);
  const TaskPlan& engine = plan.tasks.at("actor_generation");
  EXPECT_EQ(engine.data_parallel(), 4);
  EXPECT_TRUE(engine.execution.offload_weights);
  EXPECT_FALSE(engine.execution.cuda_graphs);  // enforce_eager was the default under the old names
  const TaskPlan& training = plan.tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 4);
  EXPECT_EQ(training.micro_batch_sequences, 32);
  EXPECT_EQ(training.recompute, Recompute::full);
  EXPECT_EQ(plan.tasks.at("old_log_prob").micro_batch_sequences, 64);
  EXPECT_EQ(plan.tasks.at("reference_inference").micro_batch_sequences, 64);
}

// The names since the configuration is a dataclass; engines with GPUs of their own.
TEST(SkyRlImport, FullyAsynchronousEnginesHaveGpusOfTheirOwn) {
  const ImportedSky imported = import_sky(
      "uv run -m examples.train.fully_async.main_fully_async trainer.placement.colocate_all=false \\\n"
      "  trainer.placement.policy_num_gpus_per_node=4 generator.inference_engine.num_engines=2 \\\n"
      "  generator.inference_engine.tensor_parallel_size=2 trainer.remove_microbatch_padding=false \\\n"
      "  trainer.fully_async.max_staleness_steps=2 trainer.algorithm.use_kl_loss=false\n");
  EXPECT_EQ(imported.facts.mode, Mode::asynchronous);
  EXPECT_EQ(imported.facts.staleness, 2);
  EXPECT_EQ(imported.facts.gpus_per_node, 8);
  EXPECT_FALSE(imported.facts.has_reference);
  const Plan plan = sky_plan(imported, 1);
  EXPECT_EQ(plan.tasks.at("actor_generation").data_parallel(), 2);
  EXPECT_TRUE(plan.tasks.at("actor_generation").execution.cuda_graphs);  // the default under the new names
  EXPECT_FALSE(plan.tasks.at("actor_training").execution.packed);
  EXPECT_FALSE(plan.tasks.at("actor_training").execution.offload_weights);
}

// The degrees of examples/train/megatron/run_megatron_qwen3-30b-a3b.sh, and an optimizer on the host.
TEST(SkyRlImport, ReadsTheMegatronTrainer) {
  const std::string policy = "trainer.policy.megatron_config.", reference = "trainer.ref.megatron_config.";
  const ImportedSky imported = import_sky(
      "uv run -m skyrl.train.entrypoints.main_base trainer.strategy=megatron trainer.policy.model.path=Qwen/X "
      "\\\n"
      "  trainer.placement.policy_num_nodes=2 trainer.placement.policy_num_gpus_per_node=8 \\\n"
      "  generator.inference_engine.num_engines=1 generator.inference_engine.tensor_parallel_size=4 \\\n"
      "  generator.inference_engine.data_parallel_size=4 generator.inference_engine.expert_parallel_size=16 "
      "\\\n  " +
      policy + "tensor_model_parallel_size=4 " + policy + "pipeline_model_parallel_size=2 " + policy +
      "expert_model_parallel_size=4 " + policy + "expert_tensor_parallel_size=1 " + policy +
      "optimizer_config_kwargs.optimizer_cpu_offload=true " + policy +
      "optimizer_config_kwargs.optimizer_offload_fraction=1.0 " + reference + "tensor_model_parallel_size=8 " +
      reference + "moe_grouped_gemm=true trainer.micro_train_batch_size_per_gpu=4\n");
  EXPECT_EQ(imported.facts.profile, "skyrl-megatron");
  const Plan plan = sky_plan(imported, 2);
  const TaskPlan& training = plan.tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 2);
  EXPECT_EQ(training.replicas.front().pipeline_parallel(), 2);
  EXPECT_EQ(training.execution.expert_parallel, 4);
  EXPECT_EQ(training.execution.expert_tensor_parallel, 1);
  EXPECT_EQ(training.execution.zero_stage, 1);
  EXPECT_TRUE(training.execution.offload_optimizer);
  EXPECT_TRUE(training.execution.offload_weights);
  EXPECT_EQ(training.recompute, Recompute::full);
  EXPECT_EQ(training.micro_batch_sequences, 4);
  EXPECT_EQ(plan.tasks.at("reference_inference").data_parallel(), 2);
  EXPECT_EQ(plan.tasks.at("reference_inference").execution.expert_tensor_parallel, 0);  // as the rest
  const TaskPlan& engine = plan.tasks.at("actor_generation");
  EXPECT_EQ(engine.data_parallel(), 4);
  EXPECT_EQ(engine.execution.expert_parallel, 16);
  EXPECT_THAT(unused_settings(imported.run.settings, *find_importer("skyrl"), imported.facts), IsEmpty());
}

TEST(SkyRlImport, RecomputationOfMegatronNeedsGradientCheckpointing) {
  const auto recompute_of = [](const std::string& settings) {
    return sky_plan(import_sky("uv run -m skyrl.train.entrypoints.main_base trainer.strategy=megatron " +
                               settings + "\n"),
                    1)
        .tasks.at("actor_training")
        .recompute;
  };
  const std::string granularity =
      "trainer.policy.megatron_config.transformer_config_kwargs.recompute_granularity=";
  EXPECT_EQ(recompute_of(granularity + "selective"), Recompute::selective);
  EXPECT_EQ(recompute_of(granularity + "selective trainer.gradient_checkpointing=false"), Recompute::none);
  EXPECT_EQ(recompute_of("trainer.gradient_checkpointing=true"), Recompute::full);
}

TEST(SkyRlImport, OtherTrainersAreRefused) {
  EXPECT_THAT(sextant::refusal_of([] {
                (void)import_sky("python -m skyrl_train.entrypoints.main_base trainer.strategy=jax\n");
              }),
              HasSubstr("expected fsdp, fsdp2 or megatron, got jax"));
}

}  // namespace
}  // namespace sextant::test
