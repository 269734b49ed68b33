#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "reports/import/toml_file.h"
#include "tests/core/expect_error.h"
#include "tests/reports/export/random_trainer_plans.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Values = std::map<std::string, std::string>;

// Two nodes train and two generate.
const std::string kPrimeNodes =
    "seq_len = 8192\n[model]\nname = 'Qwen/Qwen3-8B'\n[deployment]\ntype = 'multi_node'\nnum_train_nodes = 2\n"
    "num_infer_nodes = 1\nnum_infer_replicas = 2\n[trainer.model]\ncp = 2\n[orchestrator]\nbatch_size = 256\n"
    "group_size = 16\n[orchestrator.train.sampling]\nmax_completion_tokens = 7168\n[inference.parallel]\ntp = "
    "2\n";

struct ImportedPrime {
  RunSettings run;
  RunFacts facts;
};

ImportedPrime import_files(const std::vector<std::filesystem::path>& files, const Values& given = {}) {
  const Importer& importer = *find_importer("prime-rl");
  ImportedPrime imported{read_run_settings(files, importer.source, given), {}};
  imported.facts = importer.read(imported.run);
  return imported;
}

ImportedPrime import_prime(const std::string& text, const Values& given = {}) {
  const ConfigurationFile file("rl.toml", text);
  return import_files({file.path()}, given);
}

std::string refusal(const std::string& text) {
  return sextant::refusal_of([&] { (void)import_prime(text); });
}

Plan prime_plan(const ImportedPrime& imported) {
  const FrameworkProfile& profile = shipped_profile("prime-rl");
  std::mt19937 random(1);
  Workflow workflow = random_workflow(profile, random);
  workflow.tasks = graph_of(imported.facts).tasks;
  workflow.mode = imported.facts.mode;
  workflow.prompts = imported.facts.prompts;
  workflow.responses_per_prompt = imported.facts.responses_per_prompt;
  for (const Task& task : workflow.tasks) workflow.models.emplace(task.model, workflow.models.at("actor"));
  return plan_of_settings(imported.run.settings, "plan", {workflow, gpu_cluster(imported.facts.nodes), profile},
                          *find_plan_reader("prime-rl"));
}

class PrimeRlImport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_toml()) GTEST_SKIP() << "this build has no toml++ (SEXTANT_TOML)";
  }
};

TEST_F(PrimeRlImport, ReadsNodesBatchesAndLengths) {
  const ImportedPrime imported = import_prime(kPrimeNodes);
  const RunFacts& facts = imported.facts;
  EXPECT_EQ(facts.profile, "prime-rl");
  EXPECT_EQ(facts.mode, Mode::asynchronous);
  EXPECT_EQ(facts.staleness, 1);
  EXPECT_TRUE(facts.is_interrupted);
  EXPECT_EQ(facts.nodes, 4);
  EXPECT_EQ(facts.gpus_per_node, 8);
  EXPECT_EQ(facts.prompts, 16);
  EXPECT_EQ(facts.responses_per_prompt, 16);
  EXPECT_EQ(facts.mini_batches, 1);
  EXPECT_EQ(facts.max_prompt_tokens, 1024);
  EXPECT_EQ(facts.max_response_tokens, 7168);
  EXPECT_FALSE(facts.has_reference);
  EXPECT_FALSE(facts.has_old_log_prob);
  EXPECT_EQ(facts.actor, "Qwen/Qwen3-8B");
  (void)prime_plan(imported);
  EXPECT_THAT(unused_settings(imported.run.settings, *find_importer("prime-rl"), facts), IsEmpty());
}

TEST_F(PrimeRlImport, TrainerHasTheDefaultsOfItsVersion) {
  const Plan plan = prime_plan(import_prime(kPrimeNodes));
  const TaskPlan& training = plan.tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 8);
  EXPECT_EQ(training.execution.context_parallel, 2);
  EXPECT_EQ(training.execution.micro_batch_tokens, 4096);  // of 8192, which two GPUs share
  EXPECT_EQ(training.execution.zero_stage, 3);
  EXPECT_EQ(training.execution.sharded_over, 0);
  EXPECT_EQ(training.recompute, Recompute::full);
  EXPECT_TRUE(training.execution.offload_activations);
  EXPECT_TRUE(training.execution.offload_optimizer);
  EXPECT_EQ(training.execution.logit_chunk_tokens, 1024);
  EXPECT_EQ(training.execution.gradient_precision, Precision::fp32);
  EXPECT_EQ(training.execution.lora_rank, 0);
}

TEST_F(PrimeRlImport, EnginesHaveTheFirstGpusAndTheBatchInFlight) {
  const Plan plan = prime_plan(import_prime(kPrimeNodes));
  const TaskPlan& engine = plan.tasks.at("actor_generation");
  EXPECT_EQ(engine.data_parallel(), 8);
  EXPECT_EQ(engine.devices().size(), 16U);
  EXPECT_EQ(engine.devices().begin()->index(), 0U);
  EXPECT_EQ(engine.decode_batch_sequences, 32);  // 256 responses, 8 engines
  EXPECT_TRUE(engine.execution.cuda_graphs);
  EXPECT_TRUE(engine.execution.shared_prompts);
  EXPECT_FALSE(engine.execution.offload_weights);
}

TEST_F(PrimeRlImport, PartsOfTheConfigurationAreTurnedOffByName) {
  const std::string off =
      "ac = 'None'\nac_offloading = 'None'\noptim_cpu_offload = false\nfused_lm_head_token_chunk_size = "
      "'disabled'\ndp_replicate = 2\noptimization_dtype = 'bfloat16'\nreshard_after_forward = false\n"
      "[trainer.model.lora]\n[orchestrator]\n";
  std::string text = kPrimeNodes;
  text.replace(text.find("[orchestrator]\n"), 15, off);
  const ImportedPrime imported = import_prime(text);
  EXPECT_THAT(imported.facts.notes, IsEmpty());
  const TaskPlan training = prime_plan(imported).tasks.at("actor_training");
  EXPECT_EQ(training.recompute, Recompute::none);
  EXPECT_FALSE(training.execution.offload_activations);
  EXPECT_FALSE(training.execution.offload_optimizer);
  EXPECT_EQ(training.execution.logit_chunk_tokens, 0);
  EXPECT_EQ(training.execution.sharded_over, 8);
  EXPECT_EQ(training.execution.zero_stage, 2);
  EXPECT_EQ(training.execution.lora_rank, 16);
  EXPECT_FALSE(training.execution.master_weights);
}

TEST_F(PrimeRlImport, NamesOfOtherVersionsMeanTheSame) {
  const ImportedPrime old = import_prime(
      "inference_gpu_ids = [0, 1]\ntrainer_gpu_ids = [2, 3, 4, 5]\nmax_async_level = 2\n[orchestrator]\n"
      "rollouts_per_example = 8\n[orchestrator.sampling]\nmax_tokens = 1024\n[trainer]\n[inference]\n");
  EXPECT_EQ(old.facts.gpus_per_node, 6);
  EXPECT_EQ(old.facts.responses_per_prompt, 8);
  EXPECT_EQ(old.facts.staleness, 2);
  EXPECT_EQ(old.facts.max_response_tokens, 1024);
  const ImportedPrime main = import_prime(
      "[deployment]\nnum_infer_gpus = 4\n[inference.vllm]\ntensor_parallel_size = 2\nmax_num_seqs = 7\n");
  const TaskPlan engine = prime_plan(main).tasks.at("actor_generation");
  EXPECT_EQ(engine.data_parallel(), 2);
  EXPECT_EQ(engine.decode_batch_sequences, 7);
}

TEST_F(PrimeRlImport, LaunchesNameFilesPartsAndFlags) {
  const ConfigurationFile base("base.toml", "seq_len = 4096\n[orchestrator]\nbatch_size = 64\n[inference]\n");
  const std::filesystem::path folder = base.path().parent_path();
  std::ofstream(folder / "own.toml") << "[model]\ncp = 2\n";
  std::ofstream(folder / "run.sh") << "uv sync\nuv run rl @ base.toml --trainer @ own.toml \\\n"
                                      "  --orchestrator.batch-size 32 --deployment.num-train-gpus 4 "
                                      "--no-trainer.model.ac-offloading --inference.parallel.tp=1 --clean\n";
  const ImportedPrime imported = import_files({folder / "run.sh"});
  EXPECT_EQ(imported.facts.prompts, 32);
  EXPECT_EQ(imported.facts.gpus_per_node, 5);
  const TaskPlan training = prime_plan(imported).tasks.at("actor_training");
  EXPECT_EQ(training.execution.context_parallel, 2);
  EXPECT_FALSE(training.execution.offload_activations);
  EXPECT_EQ(training.recompute, Recompute::full);
  std::ofstream(folder / "lost.sh") << "uv run rl @ base.toml @ lost.toml\n";
  EXPECT_THAT(import_files({folder / "lost.sh"}).run.notes, Contains(HasSubstr("lost.toml is not there")));
}

// rl writes the parts beside each other.
TEST_F(PrimeRlImport, AFileWithTheNameOfAPartHoldsThatPart) {
  const ConfigurationFile trainer("trainer.toml", "[model]\ncp = 2\nseq_len = 4096\n");
  const ConfigurationFile orchestrator("orch.toml", "batch_size = 64\ngroup_size = 4\n");
  const ImportedPrime imported =
      import_files({trainer.path(), orchestrator.path()},
                   {{"deployment.num_infer_gpus", "2"}, {"deployment.num_train_gpus", "2"}});
  EXPECT_EQ(imported.facts.prompts, 16);
  EXPECT_EQ(prime_plan(imported).tasks.at("actor_training").execution.context_parallel, 2);
}

TEST_F(PrimeRlImport, ExpertsAreSpreadAsTheVersionDoes) {
  const ImportedPrime imported = import_prime(
      "[deployment]\nnum_train_gpus = 4\nnum_infer_gpus = 4\n[inference]\nenable_expert_parallel = true\n"
      "[inference.parallel]\ntp = 2\n");
  const FrameworkProfile& profile = shipped_profile("prime-rl");
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Workflow workflow = random_workflow(profile, random);
    if (!workflow.models.at("actor").experts || workflow.sequences() < 8) continue;
    workflow.tasks = graph_of(imported.facts).tasks;
    const Plan plan = plan_of_settings(imported.run.settings, "plan", {workflow, gpu_cluster(1), profile},
                                       *find_plan_reader("prime-rl"));
    EXPECT_EQ(plan.tasks.at("actor_training").execution.expert_parallel, 4);
    EXPECT_EQ(plan.tasks.at("actor_generation").execution.expert_parallel, 4);
    return;
  }
  GTEST_SKIP() << "no random workflow has a mixture";
}

TEST_F(PrimeRlImport, WhatAPlanDoesNotHaveIsNoted) {
  const ImportedPrime imported = import_prime(
      "[orchestrator]\n[orchestrator.algo]\ntype = 'opd'\n[[orchestrator.train.source]]\ngroup_size = 4\n"
      "[orchestrator.train.source.env.agent.harness]\nid = 'bash'\n[inference]\nquantization = 'fp8'\n"
      "[trainer.model.ac]\nmode = 'selective'\n[trainer.optim]\ntype = 'muon'\n");
  EXPECT_THAT(imported.facts.notes,
              AllOf(Contains(HasSubstr("agents call the engine several times")),
                    Contains(HasSubstr("a group size, sampling or algorithm of their own")),
                    Contains(HasSubstr("the teacher runs on servers of its own")),
                    Contains(HasSubstr("ac.mode=selective")), Contains(HasSubstr("optim_cpu_offload")),
                    Contains(HasSubstr("prompts of at most 512 tokens are assumed"))));
  (void)prime_plan(imported);
  EXPECT_THAT(unused_settings(imported.run.settings, *find_importer("prime-rl"), imported.facts),
              ::testing::UnorderedElementsAre("inference.quantization=fp8", "trainer.optim.type=muon"));
}

TEST_F(PrimeRlImport, RefusalsNameFileKeyAndWayOut) {
  EXPECT_THAT(refusal("[trainer]\n"), HasSubstr("--set deployment.num_infer_gpus=N"));
  EXPECT_THAT(refusal("[inference]\n[orchestrator]\ntoken_batch_size = 100000\n"),
              AllOf(HasSubstr("rl.toml:3: orchestrator.token_batch_size"),
                    HasSubstr("--set orchestrator.batch_size=N")));
  EXPECT_THAT(refusal("[inference]\n[orchestrator]\nbatch_size = 10\ngroup_size = 4\n"),
              HasSubstr("10 responses are not a multiple of the 4"));
  EXPECT_THAT(refusal("[inference]\n[orchestrator]\nseq_len = 4096\n"),
              AllOf(HasSubstr("rl.toml:3: orchestrator.seq_len"), HasSubstr("set seq_len for both")));
  EXPECT_THAT(refusal("[inference]\n[deployment]\nnum_train_gpus = 8\n"),
              HasSubstr("raise deployment.gpus_per_node"));
  EXPECT_THAT(refusal("[inference]\n[deployment]\ntype = 'multi_node'\n"), HasSubstr("num_train_nodes"));
  EXPECT_THAT(refusal("[inference]\n[deployment]\ntype = 'cloud'\n"),
              HasSubstr("expected single_node or multi_node, got cloud"));
  EXPECT_THAT(refusal("[deployment]\nnum_infer_gpus = 3\n[inference.parallel]\ntp = 2\n"),
              HasSubstr("3 GPUs for inference are not a multiple of 2"));
  EXPECT_THAT(refusal("[inference]\n[trainer.model]\ntp = 2\n"), HasSubstr("leave it out, or use cp"));
  EXPECT_THAT(refusal("[inference]\n[orchestrator]\nbatch_size = 'many'\n"),
              HasSubstr("rl.toml:3: orchestrator.batch_size: expected an integer"));
}

}  // namespace
}  // namespace sextant::test
