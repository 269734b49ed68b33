#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reports/import/toml_file.h"
#include "reports/import/yaml_file.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// `import FILE --from NAME --gpus H100 ...` with documents in a folder of its own.
class ImportedConfiguration : public ::testing::Test {
 protected:
  Printed import(const std::string& from, const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"import", data("import/" + file), "--from",
                                       from,     "--out-folder",         folder()};
    if (std::find(more.begin(), more.end(), "--gpus") == more.end())
      more.insert(more.end(), {"--gpus", "H100"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sextant(arguments);
  }
  // The plan can be predicted.
  void expect_predicted(const std::string& framework) {
    const Printed printed =
        run_sextant({"predict", "--framework", framework, "--cluster", folder() + "/cluster.json", "--workflow",
                     folder() + "/workflow.json", "--plan", folder() + "/plan.json", "--json"});
    EXPECT_TRUE(printed.exit_code == 0 || printed.exit_code == 1) << printed.err;  // 1: does not fit
    EXPECT_THAT(printed.out, HasSubstr("sextant.prediction/"));
  }
  [[nodiscard]] std::string folder() const { return folder_.file("q"); }
  [[nodiscard]] Workflow workflow() const {
    return load_document<Workflow>(folder() + "/workflow.json").content;
  }
  [[nodiscard]] Plan plan() const { return load_document<Plan>(folder() + "/plan.json").content; }

  TinyFolder folder_;
};

TEST_F(ImportedConfiguration, OfVerlHasWorkflowAndPlan) {
  const Printed printed = import("verl", "verl-grpo-7b.sh");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("verl-fsdp 0.7.0: grpo of Qwen2-7B"));
  EXPECT_THAT(printed.out, HasSubstr("  actor_rollout_ref.rollout.max_num_seqs = 1024\n"));
  EXPECT_THAT(printed.out, HasSubstr("--gpus 1x8xH100"));
  EXPECT_THAT(printed.err, Not(HasSubstr("may change time or memory")));
  EXPECT_EQ(workflow().prompts, 1024);
  EXPECT_EQ(workflow().responses_per_prompt, 5);
  EXPECT_EQ(workflow().mini_batches, 4);
  EXPECT_EQ(workflow().response_tokens.max_tokens(), 1024);
  const TaskPlan training = plan().tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 8);
  EXPECT_EQ(training.micro_batch_sequences, 40);
  EXPECT_EQ(training.execution.micro_batch_tokens, 0);
  EXPECT_TRUE(plan().tasks.at("reference_inference").execution.offload_weights);
  EXPECT_EQ(plan().tasks.at("actor_generation").data_parallel(), 4);
  expect_predicted("verl-fsdp");
}

TEST_F(ImportedConfiguration, OfVerlWithVariablesIsMegatron) {
  const Printed printed = import("verl", "verl-megatron-30b.sh", {"--set", "NNODES=2"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("verl-megatron 0.7.0: grpo of Qwen3-30B-A3B"));
  EXPECT_THAT(printed.out, HasSubstr("--gpus 2x8xH100"));
  EXPECT_THAT(printed.err, HasSubstr("may change time or memory: actor_rollout_ref.actor.megatron."
                                     "override_transformer_config.moe_enable_deepep=true"));
  const TaskPlan training = plan().tasks.at("actor_training");
  EXPECT_EQ(training.execution.expert_parallel, 8);
  EXPECT_EQ(training.execution.micro_batch_tokens, 10240);
  EXPECT_TRUE(training.execution.offload_optimizer);
  EXPECT_FALSE(plan().tasks.at("actor_generation").execution.cuda_graphs);
  EXPECT_THAT(printed.err, Not(HasSubstr("optimizer_d2h_h2d")));
  expect_predicted("verl-megatron");
}

// Megatron offloads a fraction of the optimizer, which is 0 unless a configuration states it.
TEST_F(ImportedConfiguration, OfVerlOffloadsTheOptimizerOnlyWithAFraction) {
  const Printed none =
      import("verl", "verl-megatron-30b.sh", {"--set", "NNODES=2", "--set", "OFFLOAD_FRACTION=0"});
  ASSERT_EQ(none.exit_code, 0) << none.err;
  EXPECT_FALSE(plan().tasks.at("actor_training").execution.offload_optimizer);
  EXPECT_THAT(none.err,
              HasSubstr("optimizer_offload_fraction is 0, its default: the optimizer stays on the GPUs"));
  const Printed half =
      import("verl", "verl-megatron-30b.sh", {"--set", "NNODES=2", "--set", "OFFLOAD_FRACTION=0.5"});
  ASSERT_EQ(half.exit_code, 0) << half.err;
  EXPECT_TRUE(plan().tasks.at("actor_training").execution.offload_optimizer);
  EXPECT_THAT(half.err, HasSubstr("optimizer_offload_fraction: the plan offloads the whole optimizer"));
}

TEST_F(ImportedConfiguration, OfVerlWithACriticAndARuleBasedReward) {
  const Printed printed = import("verl", "verl-ppo-7b.sh");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_TRUE(workflow().has_task("critic_training"));
  EXPECT_FALSE(workflow().has_task("reward_inference"));
  EXPECT_EQ(plan().tasks.at("critic_training").data_parallel(), 16);
  expect_predicted("verl-fsdp");
}

TEST_F(ImportedConfiguration, OfASettingWithALongNameIsQuotedInShort) {
  const std::string name = "actor_rollout_ref.actor." + std::string(50'000, 'x');
  const Printed printed = import("verl", "verl-ppo-7b.sh", {"--set", name + "=1"});
  ASSERT_EQ(printed.exit_code, 0);
  EXPECT_THAT(printed.err, HasSubstr("actor_rollout_ref.actor.xxx"));
  EXPECT_LT(printed.err.size(), 10'000U);
}

TEST_F(ImportedConfiguration, OfALaunchAtTheTopOfALog) {
  const Printed printed = import("verl", "verl-log-0.5b.sh", {"--gpus", "GH200"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("ppo_micro_batch_size_per_gpu is not stated, which verl refuses"));
  expect_predicted("verl-fsdp");
}

TEST_F(ImportedConfiguration, OfNemoRlTakesDefaultsOfTheFileThatItExtends) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import("nemo-rl", "nemo-rl-8b.yaml");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("grpo_math_1B.yaml, which the configuration extends, is not there"));
  EXPECT_THAT(printed.err, HasSubstr("policy.dynamic_batching.enabled=true"));
  EXPECT_EQ(workflow().mini_batches, 4);  // 64 x 32 sequences, 512 in a step
  EXPECT_EQ(plan().tasks.at("actor_training").devices().size(), 8U);
  EXPECT_EQ(plan().tasks.at("actor_generation").devices().size(), 8U);
  expect_predicted("nemo-rl-dtensor");
}

TEST_F(ImportedConfiguration, OfNemoRlForMegatron) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import("nemo-rl", "nemo-rl-30b.yaml");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(plan().tasks.at("actor_training").data_parallel(), 8);
  EXPECT_EQ(plan().tasks.at("actor_training").execution.expert_parallel, 8);
  EXPECT_THAT(printed.err, HasSubstr("policy.logprob_chunk_size=2048"));
  expect_predicted("nemo-rl-megatron");
}

TEST_F(ImportedConfiguration, OfPrimeRlOnWholeNodes) {
  if (!has_toml()) GTEST_SKIP() << "this build has no toml++ (SEXTANT_TOML)";
  const Printed printed = import("prime-rl", "prime-rl-30b.toml");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("prime-rl 0.8.0: grpo of Qwen3-30B-A3B"));
  EXPECT_THAT(printed.out, HasSubstr("  trainer.model.optim_cpu_offload = true\n"));
  EXPECT_THAT(printed.out, HasSubstr("--gpus 4x8xH100"));
  EXPECT_THAT(printed.err, HasSubstr("prompts of at most 1024 tokens are assumed"));
  EXPECT_THAT(printed.err, Not(HasSubstr("may change time or memory")));
  EXPECT_EQ(workflow().mode, Mode::asynchronous);
  EXPECT_EQ(workflow().prompts, 512);
  EXPECT_EQ(plan().tasks.at("actor_generation").data_parallel(), 2);
  EXPECT_EQ(plan().tasks.at("actor_generation").decode_batch_sequences, 512);  // 2 x 512 in flight
  EXPECT_EQ(plan().tasks.at("actor_training").data_parallel(), 16);
  EXPECT_EQ(plan().tasks.at("actor_training").execution.expert_parallel, 8);
  expect_predicted("prime-rl");
}

TEST_F(ImportedConfiguration, OfPrimeRlOnPartsOfANode) {
  if (!has_toml()) GTEST_SKIP() << "this build has no toml++ (SEXTANT_TOML)";
  const Printed printed = import("prime-rl", "prime-rl-1.5b.toml", {"--response-tokens", "mean=3000"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, Not(HasSubstr("may change time or memory")));
  EXPECT_EQ(workflow().prompts, 64);
  EXPECT_EQ(workflow().responses_per_prompt, 8);
  EXPECT_EQ(plan().tasks.at("actor_generation").data_parallel(), 4);
  EXPECT_EQ(plan().tasks.at("actor_training").execution.micro_batch_tokens, 16384);
  expect_predicted("prime-rl");
}

TEST_F(ImportedConfiguration, OfOpenRlhfWithNamesOfTwoVersions) {
  const Printed now = import("openrlhf", "openrlhf-8b.sh");
  ASSERT_EQ(now.exit_code, 0) << now.err;
  EXPECT_EQ(workflow().mini_batches, 8);
  EXPECT_TRUE(workflow().has_task("reward_inference"));
  EXPECT_EQ(plan().tasks.at("actor_training").execution.zero_stage, 3);
  EXPECT_EQ(plan().tasks.at("actor_training").execution.micro_batch_tokens, 16384);
  expect_predicted("openrlhf");
  const Printed old = import("openrlhf", "openrlhf-8b-old.sh");
  ASSERT_EQ(old.exit_code, 0) << old.err;
  EXPECT_THAT(old.out, HasSubstr("--gpus 1x8xH100"));  // 2 + 2 + 4
  EXPECT_EQ(plan().tasks.at("actor_training").micro_batch_sequences, 16);
  EXPECT_EQ(plan().tasks.at("actor_generation").devices().size(), 4U);
  expect_predicted("openrlhf");
}

TEST_F(ImportedConfiguration, OfSlimeHasTheLayoutOfItsFlags) {
  const Printed printed = import("slime", "slime-4b.sh");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("grpo of Qwen3-4B, synchronous, 32 prompts x 8 responses, 1 optimizer steps"));
  EXPECT_THAT(printed.out, HasSubstr("--gpus 1x8xH100"));
  EXPECT_THAT(printed.err, Not(HasSubstr("may change time or memory")));
  const TaskPlan training = plan().tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 4);
  EXPECT_EQ(training.execution.micro_batch_tokens, 9216);
  EXPECT_EQ(training.recompute, Recompute::full);
  EXPECT_EQ(plan().tasks.at("actor_generation").data_parallel(), 4);
  EXPECT_FALSE(workflow().has_task("old_log_prob"));
  expect_predicted("slime");
}

TEST_F(ImportedConfiguration, OfArealHasABackendForEachModel) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import("areal", "areal-1.5b.yaml", {"--model", "Qwen/Qwen3-1.7B"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, Not(HasSubstr("may change time or memory")));
  EXPECT_EQ(workflow().mode, Mode::asynchronous);
  EXPECT_EQ(workflow().staleness, 2);
  EXPECT_TRUE(workflow().has_task("critic_training"));
  EXPECT_FALSE(workflow().has_task("reference_inference"));
  EXPECT_EQ(plan().tasks.at("critic_training").devices(), plan().tasks.at("actor_training").devices());
  EXPECT_EQ(plan().tasks.at("actor_generation").devices().size(), 4U);
  EXPECT_EQ(plan().tasks.at("actor_training").execution.micro_batch_tokens, 10240);
  expect_predicted("areal");
}

TEST_F(ImportedConfiguration, OfArealHasOneAllocationInOlderVersions) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import("areal", "areal-megatron-old.yaml", {"--model", "Qwen/Qwen3-1.7B"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("critic and reference have the actor's GPUs"));
  const TaskPlan training = plan().tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 2);
  EXPECT_EQ(training.replicas.front().pipeline_parallel(), 2);
  EXPECT_EQ(plan().tasks.at("reference_inference").devices(), training.devices());
  expect_predicted("areal-megatron");
}

TEST_F(ImportedConfiguration, OfRollHasRolesThatShareSomeGpus) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import("roll", "roll-7b.yaml");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("--gpus 2x8xH100"));
  EXPECT_THAT(printed.err, HasSubstr("adv_estimator=reinforce: the tasks are those of GRPO"));
  EXPECT_THAT(printed.err, HasSubstr("in the plan and may change time or memory: "
                                     "rewards.llm_judge.device_mapping=list(range(12,16))\n"));
  EXPECT_EQ(workflow().mini_batches, 1);  // 16 replicas x 32 x 1 of 64 x 8 sequences
  EXPECT_EQ(plan().tasks.at("actor_training").devices().size(), 16U);
  EXPECT_EQ(plan().tasks.at("actor_generation").devices().size(), 12U);
  EXPECT_EQ(plan().tasks.at("reference_inference").micro_batch_sequences, 8);
  expect_predicted("roll");
}

TEST_F(ImportedConfiguration, OfTrlHasServerAndTrainer) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import("trl", "trl-server.sh");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("--gpus 1x8xH100"));  // 4 and 4
  EXPECT_THAT(printed.err, Not(HasSubstr("may change time or memory")));
  EXPECT_EQ(workflow().prompts, 16);
  EXPECT_EQ(workflow().mini_batches, 2);  // 256 sequences, 4 x 4 x 8 in a step
  const TaskPlan training = plan().tasks.at("actor_training");
  EXPECT_EQ(training.data_parallel(), 4);
  EXPECT_EQ(training.execution.zero_stage, 3);  // of the file that the launch names
  EXPECT_EQ(training.recompute, Recompute::none);
  const TaskPlan engine = plan().tasks.at("actor_generation");
  EXPECT_EQ(engine.data_parallel(), 2);
  EXPECT_EQ(engine.replicas.front().stages.front().width(), 2);
  expect_predicted("trl");
}

TEST_F(ImportedConfiguration, TakesModelAndLengthsOfTheUser) {
  const Printed printed = import("verl", "verl-grpo-7b.sh",
                                 {"--model", "Qwen/Qwen3-14B", "--response-tokens", "mean=300",
                                  "--prompt-tokens", "200", "--set", "data.train_batch_size=512"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_EQ(workflow().models.at("actor").name, "Qwen3-14B");
  EXPECT_EQ(workflow().response_tokens.max_tokens(), 1024);
  EXPECT_NEAR(workflow().response_tokens.mean_tokens(), 300, 1);
  EXPECT_EQ(workflow().prompt_tokens.max_tokens(), 200);
  EXPECT_EQ(workflow().prompts, 512);
}

// A changed number may contradict the others in many ways, found at many places; each message names the file.
TEST_F(ImportedConfiguration, ContradictionsNameTheFile) {
  if (!has_yaml()) GTEST_SKIP() << "built without yaml-cpp";
  const auto expect_named = [&](const std::string& from, const std::string& source, const std::string& setting,
                                const std::string& changed, const std::string& reason) {
    const std::string file = folder_.file(source);
    std::string text = read_text_file(data("import/" + source));
    ASSERT_NE(text.find(setting), std::string::npos) << setting;
    text.replace(text.find(setting), setting.size(), changed);
    write_text_file(file, text);
    const Printed printed =
        run_sextant({"import", file, "--from", from, "--gpus", "H100", "--out-folder", folder()});
    EXPECT_EQ(printed.exit_code, 2) << printed.out;
    EXPECT_THAT(printed.err, StartsWith("sextant: " + file + ": "));
    EXPECT_THAT(printed.err, HasSubstr(reason));
  };
  expect_named("nemo-rl", "nemo-rl-8b.yaml", "gpus_per_node: 8\n        num_nodes: 1",
               "gpus_per_node: 8\n        num_nodes: 2", "pool ");
  expect_named("nemo-rl", "nemo-rl-30b.yaml", "gpus_per_node: 8\n  num_nodes: 4",
               "gpus_per_node: 1\n  num_nodes: 1", "GPUs are not a multiple of");
  expect_named("verl", "verl-megatron-30b.sh", "NNODES=", "NNODES=16384 #", "replicas, and the batch has");
}

// An option is at fault, not the file.
TEST_F(ImportedConfiguration, RefusalsOfOptionsNameTheOption) {
  const auto refusal = [&](const std::vector<std::string>& more) {
    return import("verl", "verl-grpo-7b.sh", more).err;
  };
  EXPECT_THAT(refusal({"--model", "no-such-model"}), StartsWith("sextant: --model: "));
  EXPECT_THAT(refusal({"--gpus", "8xNoSuchGpu"}), StartsWith("sextant: --gpus: "));
  EXPECT_THAT(refusal({"--set", "x"}), StartsWith("sextant: --set x: "));
}

TEST_F(ImportedConfiguration, RefusalsNameFileLineAndWhatToAdd) {
  const auto refusal = [&](const std::string& text, std::vector<std::string> more = {}) {
    const std::string file = folder_.file("run.sh");
    std::ofstream(file) << text;
    std::vector<std::string> arguments{"import", file, "--from", "verl", "--out-folder", folder()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Printed printed = run_sextant(arguments);
    EXPECT_EQ(printed.exit_code, 2);
    return printed.err;
  };
  const std::string launch = "python3 -m verl.trainer.main_ppo \\\n algorithm.adv_estimator=grpo ";
  EXPECT_THAT(refusal(launch), HasSubstr("add --gpus"));
  EXPECT_THAT(refusal(launch, {"--gpus", "H100"}), HasSubstr("does not name the model: add --model"));
  EXPECT_THAT(refusal(launch + "actor_rollout_ref.model.path=/x/no-such-model", {"--gpus", "H100"}),
              HasSubstr("name the model with --model"));
  EXPECT_THAT(refusal(launch + "trainer.nnodes=$NODES", {"--gpus", "H100"}),
              HasSubstr("run.sh:2: trainer.nnodes: expected an integer from 1 to 100000, got \"$NODES\""));
  EXPECT_THAT(refusal(launch + "a.b='", {"--gpus", "H100"}), HasSubstr("run.sh:2: the quote"));
  EXPECT_THAT(refusal(launch, {"--gpus", "H100", "--set", "x"}), HasSubstr("expected NAME=VALUE"));
  EXPECT_THAT(
      refusal(launch + "actor_rollout_ref.model.path=Qwen/Qwen3-14B trainer.nnodes=4", {"--gpus", "1x8xH100"}),
      HasSubstr("run.sh: pool trainer needs 4 x 8 GPUs, the cluster has 8 left"));
  const std::string model = "actor_rollout_ref.model.path=Qwen/Qwen3-14B ";
  const auto refused = [&](const std::string& setting) {
    return refusal(launch + model + setting, {"--gpus", "H100"});
  };
  EXPECT_THAT(refused("data.train_batch_size=-5"),
              HasSubstr("run.sh:2: data.train_batch_size: expected an integer from 1 to 100000000, got -5"));
  EXPECT_THAT(refused("trainer.nnodes=999999999"),
              HasSubstr("run.sh:2: trainer.nnodes: expected an integer from 1 to 100000, got 999999999"));
  EXPECT_THAT(
      refused("trainer.nnodes=100000 trainer.n_gpus_per_node=1000"),
      HasSubstr("run.sh: the configuration has 100000 nodes of 1000 GPUs: a cluster has at most 1000000"));
  EXPECT_THAT(
      refused("actor_rollout_ref.rollout.n=many"),
      HasSubstr(
          "run.sh:2: actor_rollout_ref.rollout.n: expected an integer from 1 to 100000000, got \"many\""));
  EXPECT_THAT(refused("actor_rollout_ref.rollout.tensor_model_parallel_size=0.5"),
              HasSubstr("tensor_model_parallel_size: expected an integer from 1 to 100000000, got 0.5"));
  EXPECT_THAT(refused("data.train_batch_size=100000000 actor_rollout_ref.rollout.n=1000000"),
              HasSubstr("more than 100 million sequences"));
  EXPECT_THAT(refusal("my.own=1 another.key=2\n", {"--gpus", "H100", "--model", "Qwen/Qwen3-14B"}),
              HasSubstr("no setting of verl was found"));
  EXPECT_THAT(refusal("my.own=1 another.key=2\n", {"--gpus", "H100"}),
              HasSubstr("no setting of verl was found"));
  EXPECT_THAT(refused("actor_rollout_ref.actor.use_dynamic_bsz=True data.max_response_length=32768 "
                      "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=8192"),
              HasSubstr("that was assumed; --response-tokens mean=M,max=32768 states another"));
  const Printed no_files = run_sextant({"import", "verl"});
  EXPECT_EQ(no_files.exit_code, 2);
  EXPECT_THAT(no_files.err, HasSubstr("configurations --from"));
}

// A plan whose trainer has the GPUs behind those of the engine, on instances whose network is not the usual one.
class ExportedConfiguration : public ImportedConfiguration {
 protected:
  void export_plan(const std::string& framework, const std::string& to,
                   const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"predict",
                                   "--gpus",
                                   "2xa3-highgpu-8g",
                                   "--model",
                                   "Qwen3-8B",
                                   "--framework",
                                   framework,
                                   "--mode",
                                   "one_step_off",
                                   "--train",
                                   "fsdp=8,gpus=8-15",
                                   "--rollout",
                                   "dp=8,gpus=0-7",
                                   "--inference",
                                   "fsdp=8,gpus=8-15",
                                   "--plan-out",
                                   folder() + "/plan.json",
                                   "--save-inputs",
                                   folder()};
    words.insert(words.end(), more.begin(), more.end());
    const Printed predicted = run_sextant(words);
    ASSERT_LE(predicted.exit_code, 1) << predicted.err;
    const Printed exported =
        run_sextant({"export", folder() + "/plan.json", "--to", to, "--cluster", folder() + "/cluster.json",
                     "--workflow", folder() + "/workflow.json", "--out", script()});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
  }
  Printed import_script(const std::string& from, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"import", script(), "--from", from, "--out-folder", back()};
    words.insert(words.end(), more.begin(), more.end());
    return run_sextant(words);
  }
  [[nodiscard]] Plan plan_back() const { return load_document<Plan>(back() + "/plan.json").content; }
  [[nodiscard]] Cluster cluster_back() const {
    return load_document<Cluster>(back() + "/cluster.json").content;
  }
  [[nodiscard]] Cluster cluster() const { return load_document<Cluster>(folder() + "/cluster.json").content; }
  [[nodiscard]] std::string script() const { return folder_.file("run.sh"); }
  [[nodiscard]] std::string back() const { return folder_.file("r"); }
};

TEST_F(ExportedConfiguration, KeepsGpusClusterAndModel) {
  for (const auto& [framework, family] : {std::pair("verl-fsdp", "verl"), std::pair("openrlhf", "openrlhf"),
                                          std::pair("nemo-rl-dtensor", "nemo-rl")}) {
    if (family == std::string("nemo-rl") && !has_yaml()) continue;
    export_plan(framework, family);
    const Printed printed = import_script(family);
    ASSERT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_THAT(printed.out, HasSubstr("--gpus 2xa3-highgpu-8g, the cluster that the script's comments name"));
    EXPECT_EQ(cluster_back(), cluster()) << family;
    EXPECT_THAT(printed.out, HasSubstr("--model Qwen3-8B: the script's comments name it for MODEL_PATH"));
    for (const char* task : {"actor_training", "actor_generation"})
      EXPECT_EQ(plan_back().tasks.at(task).replicas, plan().tasks.at(task).replicas) << family << " " << task;
  }
}

TEST_F(ExportedConfiguration, CompletesATypeOfGpuOrInstance) {
  export_plan("verl-fsdp", "verl");
  ASSERT_EQ(import_script("verl", {"--gpus", "H100"}).exit_code, 0);
  EXPECT_EQ(cluster_back(), cluster());
  ASSERT_EQ(import_script("verl", {"--cluster", folder() + "/cluster.json"}).exit_code, 0);
  EXPECT_EQ(cluster_back(), cluster());
  // Other instances or GPUs than those of the script.
  ASSERT_EQ(import_script("verl", {"--gpus", "p5.48xlarge"}).exit_code, 0);
  EXPECT_EQ(cluster_back().name(), "2 x p5.48xlarge");
  EXPECT_EQ(cluster_back().nodes().front().network_bytes_per_s, 3200e9 / 8);
  ASSERT_EQ(import_script("verl", {"--gpus", "A100"}).exit_code, 0);
  EXPECT_EQ(cluster_back().name(), "2 x 8 A100-SXM-80GB");
}

TEST_F(ExportedConfiguration, TakesFreeGpusIfItsSizesWereChanged) {
  export_plan("verl-fsdp", "verl");
  const Printed printed = import_script("verl", {"--set", "rollout.n_gpus_per_node=4"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err,
              HasSubstr("first free GPUs, not those of the script's comments: pool rollout has 8"));
  EXPECT_EQ(plan_back().tasks.at("actor_generation").devices().size(), 4U);
}

TEST_F(ExportedConfiguration, HasTheActorsShapeForARewardModelThatNothingNames) {
  export_plan("openrlhf", "openrlhf", {"--reward-model", "Qwen3-4B"});
  const Printed named = import_script("openrlhf");
  ASSERT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.out,
              HasSubstr("--reward-model Qwen3-4B: the script's comments name it for REWARD_MODEL_PATH"));
  std::string text = read_text_file(script());
  text.erase(0, text.find("arguments=("));
  std::ofstream(script()) << text;
  const Printed printed = import_script("openrlhf", {"--gpus", "H100", "--model", "Qwen3-8B"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out,
              HasSubstr("  --reward-model: the shape of the model, because the configuration names none"));
  const auto workflow = load_document<Workflow>(back() + "/workflow.json").content;
  EXPECT_EQ(workflow.models.at("reward").layers, workflow.models.at("actor").layers);
}

// The printed words are the same plan for predict.
TEST_F(ExportedConfiguration, SaysThePlanInWords) {
  export_plan("nemo-rl-dtensor", "nemo-rl");
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Printed printed = import_script("nemo-rl");
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const auto after = [&](const std::string& option) {
    const std::size_t at = printed.out.find(option + " ");
    EXPECT_NE(at, std::string::npos) << printed.out;
    const std::size_t first = at + option.size() + 1;
    return printed.out.substr(first, printed.out.find_first_of(" \n", first) - first);
  };
  const Printed again = run_sextant(
      {"predict", "--framework", "nemo-rl-dtensor", "--cluster", back() + "/cluster.json", "--workflow",
       back() + "/workflow.json", "--train", after("--train"), "--rollout", after("--rollout"), "--inference",
       after("--inference"), "--plan-out", back() + "/words.json"});
  ASSERT_LE(again.exit_code, 1) << again.err;
  const Plan words = load_document<Plan>(back() + "/words.json").content;
  for (const auto& [name, task] : plan_back().tasks) {
    EXPECT_EQ(words.tasks.at(name).replicas, task.replicas) << name;
    EXPECT_EQ(words.tasks.at(name).recompute, task.recompute) << name;
    EXPECT_EQ(words.tasks.at(name).execution.micro_batch_tokens, task.execution.micro_batch_tokens) << name;
    EXPECT_EQ(words.tasks.at(name).execution.offload_weights, task.execution.offload_weights) << name;
  }
}

}  // namespace
}  // namespace sextant::test
