// Plans for servers, Megatron, Ray and Slurm.
#include "reports/export/launch/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sextant/error.h"
#include "tests/reports/export/random_trainer_plans.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kLaunchPlans = 500;  // per dialect
constexpr unsigned kLaunchSeeds = 6000;

// A plan of a random framework, or one that no framework runs.
struct RandomLaunch {
  Cluster cluster;
  Workflow workflow;
  Plan plan;
};

RandomLaunch random_launch(unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<std::string> names{"verl-fsdp", "verl-megatron", "slime", "roll", "areal"};
  const FrameworkProfile& profile = shipped_profile(names[random() % names.size()]);
  RandomLaunch out{gpu_cluster(1 << random() % 3), random_workflow(profile, random), {}};
  const TrainerProblem problem{out.workflow, out.cluster, profile};
  out.plan = random() % 2 == 0 ? random_sayable_plan(problem, random) : random_odd_plan(problem, random);
  return out;
}

// Fractions of memory have three digits.
void take_rounded_cache(TaskPlan& task, const TaskPlan& other) {
  constexpr double kRounding = 0.5e-3 * 80e9 + 1;
  double& bytes = task.execution.kv_cache_bytes;
  if (std::abs(bytes - other.execution.kv_cache_bytes) < kRounding) bytes = other.execution.kv_cache_bytes;
}

std::string shown(const TaskPlan& task) {
  return describe(task) + " " + task.execution.to_json().dump() + " micro " +
         std::to_string(task.micro_batch_sequences) + " decode " + std::to_string(task.decode_batch_sequences);
}

std::set<std::string> valid_flags(const std::string& name) {
  std::ifstream file(std::filesystem::path(SEXTANT_TEST_DATA) / "export" / (name + ".keys"));
  std::set<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') keys.insert(line);
  }
  return keys;
}

class EveryLaunch : public ::testing::TestWithParam<std::string> {
 protected:
  const LaunchDialect& dialect_ = *find_launch(GetParam());
  const FrameworkProfile& megatron_ = shipped_profile("slime");
  const std::string task_ =
      GetParam() == "megatron" ? task_names::kActorTraining : task_names::kActorGeneration;
};

class EveryReadableLaunch : public EveryLaunch {};

TEST_P(EveryReadableLaunch, ReadsBackThePlanThatItRuns) {
  int exported_plans = 0;
  for (unsigned seed = 0; exported_plans < kLaunchPlans && seed < kLaunchSeeds; ++seed) {
    const RandomLaunch one = random_launch(seed);
    const LaunchProblem problem{one.workflow, one.cluster, megatron_};
    const ExportedPlan exported = export_launch(one.plan, problem, dialect_);
    if (!exported.refusal.empty()) continue;
    ++exported_plans;
    Plan back = exported.plan;
    back.tasks.at(task_) = {};
    dialect_.read(exported.text, problem, back);
    take_rounded_cache(back.tasks.at(task_), exported.plan.tasks.at(task_));
    ASSERT_EQ(shown(back.tasks.at(task_)), shown(exported.plan.tasks.at(task_))) << "seed " << seed << "\n"
                                                                                 << exported.text;
    ASSERT_TRUE(back == exported.plan) << "seed " << seed << "\n" << exported.text;
    const ExportedPlan again = export_launch(exported.plan, problem, dialect_);
    ASSERT_THAT(again.unsaid, IsEmpty()) << "seed " << seed << "\n" << exported.text;
    ASSERT_TRUE(again.plan == exported.plan);
  }
  EXPECT_EQ(exported_plans, kLaunchPlans);
}

TEST_P(EveryLaunch, WritesFlagsOfTheProgramOnly) {
  const std::set<std::string> valid = valid_flags(GetParam());
  ASSERT_THAT(valid, Not(IsEmpty()));
  std::set<std::string> unknown;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const RandomLaunch one = random_launch(seed);
    const ExportedPlan exported = export_launch(one.plan, {one.workflow, one.cluster, megatron_}, dialect_);
    for (std::size_t at = exported.text.find("--"); at != std::string::npos;
         at = exported.text.find("--", at + 2)) {
      const std::size_t end = exported.text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at + 2);
      const std::string flag = exported.text.substr(at + 2, end - at - 2);
      if (!flag.empty() && !valid.contains(flag)) unknown.insert(flag);
    }
  }
  EXPECT_THAT(unknown, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Launches, EveryLaunch, ::testing::Values("megatron", "vllm", "sglang", "ray", "slurm"),
                         [](const auto& one) { return one.param; });

INSTANTIATE_TEST_SUITE_P(Launches, EveryReadableLaunch, ::testing::Values("megatron", "vllm", "sglang"),
                         [](const auto& one) { return one.param; });

// Runs a script where these programs print their GPUs and words. Returns what is printed, sorted by line.
std::string run_script(const std::string& text, const std::vector<std::string>& programs,
                       const std::string& variables, const std::string& arguments = "") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("sextant_launch_" + std::to_string(getpid()));
  fs::create_directories(folder);
  for (const std::string& program : programs) {
    std::ofstream(folder / program) << "#!/bin/sh\necho \"$CUDA_VISIBLE_DEVICES " << program << " $*\"\n";
    fs::permissions(folder / program, fs::perms::owner_all);
  }
  std::ofstream(folder / "run.sh") << text;
  const std::string command = "PATH=" + folder.string() + ":$PATH " + variables + " bash " +
                              (folder / "run.sh").string() + " " + arguments + " 2>&1 | sort > " +
                              (folder / "out").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(folder / "out");
  std::stringstream out;
  out << file.rdbuf();
  fs::remove_all(folder);
  return out.str();
}

TEST(Launch, ScriptsRun) {
  std::mt19937 random(3);
  const FrameworkProfile& profile = shipped_profile("slime");
  const Cluster cluster = gpu_cluster(1);
  Workflow workflow = random_workflow(profile, random);
  const LaunchProblem problem{workflow, cluster, profile};
  Plan plan = random_sayable_plan({workflow, cluster, profile}, random);
  for (auto& [name, task] : plan.tasks) {
    std::vector<DeviceId> devices;
    for (int i = 0; i < 8; ++i) devices.push_back(DeviceId{i});
    task.execution.context_parallel = 1;
    task.replicas = replicas_on(devices, {32}, 4, false);
  }
  const auto text = [&](const char* name) { return export_launch(plan, problem, *find_launch(name)).text; };
  const std::string vllm = run_script(text("vllm"), {"vllm"}, "NODE=node-0");
  EXPECT_THAT(vllm, HasSubstr("0,1,2,3 vllm serve Qwen/Qwen3-7B --host 0.0.0.0 --port 8000 "));
  EXPECT_THAT(vllm, HasSubstr("\n4,5,6,7 vllm serve Qwen/Qwen3-7B --host 0.0.0.0 --port 8001 "));
  EXPECT_THAT(run_script(text("vllm"), {"vllm"}, "NODE=elsewhere"),
              HasSubstr("elsewhere has no part in the plan"));
  EXPECT_THAT(run_script(text("sglang"), {"python3"}, "NODE=node-0"),
              HasSubstr("4,5,6,7 python3 -m sglang.launch_server --model-path Qwen/Qwen3-7B --host "));
  EXPECT_THAT(
      run_script(text("megatron"), {"torchrun"},
                 "NODE=node-0 MEGATRON=/m MEGATRON_PATH=/c DATA_PATH=/d TRAIN_ITERS=3"),
      HasSubstr("0,1,2,3,4,5,6,7 torchrun --nnodes 1 --nproc-per-node 8 --node-rank 0 --master-addr node-0 "
                "--master-port 29500 /m/pretrain_gpt.py --tensor-model-parallel-size 4 "));
  EXPECT_EQ(run_script(text("ray"), {"ray"}, "NODE=node-0"),
            "0,1,2,3,4,5,6,7 ray start --head --port=6379 --num-gpus=8 --resources={\"trainer\":8}\n");
  const std::string slurm =
      run_script(text("slurm"), {"scontrol", "srun", "sleep"}, "SLURM_JOB_NODELIST=nodes", "bash run.sh");
  EXPECT_THAT(slurm, HasSubstr(" srun --nodes=1 --ntasks=1 --nodelist=scontrol --overlap"));
}

// Megatron refuses scripts without these parts (megatron/training/arguments.py, core/optimizer).
TEST(Launch, MegatronFollowsTheRulesOfItsArguments) {
  const FrameworkProfile& profile = shipped_profile("slime");
  const Cluster cluster = gpu_cluster(1);
  std::mt19937 random(3);
  const Workflow workflow = random_workflow(profile, random);
  Plan plan = random_sayable_plan({workflow, cluster, profile}, random);
  TaskPlan& training = plan.tasks.at(task_names::kActorTraining);
  training.execution.offload_optimizer = true;
  training.execution.zero_stage = 0;
  const std::string text = export_launch(plan, {workflow, cluster, profile}, *find_launch("megatron")).text;
  for (const char* part :
       {"CUDA_DEVICE_MAX_CONNECTIONS=1 ", "--optimizer-cpu-offload\n", "--use-precision-aware-optimizer\n",
        "--overlap-cpu-optimizer-d2h-h2d\n", "--use-distributed-optimizer\n",
        "--train-iters \"${TRAIN_ITERS}\"", "--lr \"${LR}\"", "--hidden-dropout 0.0\n"})
    EXPECT_THAT(text, HasSubstr(part));
}

// Megatron refuses batches that are not whole (megatron/core/num_microbatches_calculator.py), tensor parallelism of
// mixtures without sequence parallelism, and virtual stages that do not divide a stage.
TEST(Launch, MegatronsBatchesAndStagesAreWhole) {
  const LaunchDialect& dialect = *find_launch("megatron");
  int mixtures = 0, chunks = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomLaunch one = random_launch(seed);
    if (seed % 3 == 0) one.workflow.prompts = 100;
    TaskPlan& planned = one.plan.tasks.at(task_names::kActorTraining);
    if (seed % 2 == 0) planned.execution.sequence_parallel = false;
    const ExportedPlan exported =
        export_launch(one.plan, {one.workflow, one.cluster, shipped_profile("slime")}, dialect);
    if (!exported.refusal.empty()) continue;
    const TaskPlan& task = exported.plan.tasks.at(task_names::kActorTraining);
    const int tensor = task.tensor_parallel(task.replicas.front().stages.front());
    const bool has_chunks = task.execution.virtual_stages > 1;
    const int parts = task.data_parallel() * task.micro_batch_sequences *
                      (has_chunks ? task.replicas.front().pipeline_parallel() : 1);
    EXPECT_EQ(one.workflow.prompts / one.workflow.mini_batches * one.workflow.responses_per_prompt % parts, 0);
    for (const Stage& stage : task.replicas.front().stages)
      EXPECT_EQ(stage.layers % task.execution.virtual_stages, 0);
    chunks += has_chunks ? 1 : 0;
    if (!one.workflow.models.at("actor").experts || tensor == 1) continue;
    EXPECT_THAT(exported.text, HasSubstr("--sequence-parallel\n"));
    ++mixtures;
  }
  EXPECT_GT(mixtures, 0);
  EXPECT_GT(chunks, 0);
}

// vLLM refuses engines with more sequences than tokens of a step (vllm/config/scheduler.py).
TEST(Launch, VllmDecodesNoMoreSequencesThanAStepHasTokens) {
  RandomLaunch one;
  ExportedPlan vllm;
  unsigned seed = 0;
  do {  // a plan whose engines have GPUs of one node
    one = random_launch(seed++);
    TaskPlan& task = one.plan.tasks.at(task_names::kActorGeneration);
    task.execution.prefill_chunk_tokens = 512;
    task.decode_batch_sequences = 1000;
    vllm = export_launch(one.plan, {one.workflow, one.cluster, shipped_profile("slime")}, *find_launch("vllm"));
  } while (!vllm.refusal.empty());
  const LaunchProblem problem{one.workflow, one.cluster, shipped_profile("slime")};
  EXPECT_THAT(vllm.text, HasSubstr("--max-num-seqs 512\n"));
  EXPECT_THAT(vllm.unsaid, ::testing::Contains(HasSubstr("no more sequences together than a step has tokens")));
  EXPECT_THAT(export_launch(one.plan, problem, *find_launch("sglang")).text,
              HasSubstr("--max-running-requests 1000\n"));
}

// Replicas that hold their experts together are one server with data-parallel attention, and are read back so.
TEST(Launch, ServersShareExpertsBetweenReplicas) {
  std::mt19937 random(3);
  const FrameworkProfile& profile = shipped_profile("slime");
  const Cluster cluster = gpu_cluster(2);
  Workflow workflow = random_workflow(profile, random);
  workflow.models.at("actor").experts = Experts{.count = 64, .active_per_token = 4, .intermediate = 256};
  const LaunchProblem problem{workflow, cluster, profile};
  Plan plan = random_sayable_plan({workflow, cluster, profile}, random);
  TaskPlan& task = plan.tasks.at(task_names::kActorGeneration);
  const int layers = workflow.models.at("actor").layers;
  task.replicas.clear();
  for (int r = 0; r < 8; ++r)
    task.replicas.push_back({0.125, {Stage{layers, {DeviceId{2 * r}, DeviceId{2 * r + 1}}}}});
  task.execution.expert_parallel = 8;
  task.execution.expert_tensor_parallel = 1;
  task.execution.prefill_chunk_tokens = 8192;
  task.decode_batch_sequences = 64;
  for (const char* name : {"vllm", "sglang"}) {
    const bool is_vllm = std::string(name) == "vllm";
    const ExportedPlan exported = export_launch(plan, problem, *find_launch(name));
    ASSERT_EQ(exported.refusal, "") << name;
    const std::string degrees =
        is_vllm ? "--tensor-parallel-size 2 --pipeline-parallel-size 1 --data-parallel-size 4"
                : "--tp-size 8 --pp-size 1 --dp-size 4";
    EXPECT_THAT(exported.text, HasSubstr("serve 0,1,2,3,4,5,6,7 8000")) << name;
    EXPECT_THAT(exported.text, HasSubstr(degrees)) << name;
    EXPECT_THAT(exported.text, HasSubstr(is_vllm ? "--enable-expert-parallel\n" : "--enable-dp-attention\n"));
    EXPECT_THAT(exported.text, HasSubstr(is_vllm ? "--max-num-seqs 64\n" : "--max-running-requests 256\n"));
    Plan read = plan;
    find_launch(name)->read(exported.text, problem, read);
    const TaskPlan& again = read.tasks.at(task_names::kActorGeneration);
    EXPECT_EQ(again.data_parallel(), 8) << name;
    EXPECT_EQ(again.execution.expert_parallel, 8) << name;
    EXPECT_EQ(again.replicas.back().devices(), task.replicas.back().devices()) << name;
    EXPECT_EQ(again.decode_batch_sequences, 64) << name;
    EXPECT_EQ(again.execution.prefill_chunk_tokens, 8192) << name;
  }
}

// Two replicas on a node and one on two nodes, of unequal shares.
TEST(Launch, ServersHaveTheGpusOfTheirReplicas) {
  std::mt19937 random(3);
  const FrameworkProfile& profile = shipped_profile("slime");
  const Cluster cluster = gpu_cluster(2);
  Workflow workflow = random_workflow(profile, random);
  const LaunchProblem problem{workflow, cluster, profile};
  Plan plan = random_sayable_plan({workflow, cluster, profile}, random);
  TaskPlan& task = plan.tasks.at(task_names::kActorGeneration);
  const auto replica = [](double share, std::vector<int> devices, int stages) {
    Replica out{share, {}};
    const std::size_t width = devices.size() / static_cast<std::size_t>(stages);
    for (int stage = 0; stage < stages; ++stage) {
      Stage& added = out.stages.emplace_back(Stage{32 / stages, {}});
      for (std::size_t i = 0; i < width; ++i)
        added.devices.push_back(DeviceId{devices[static_cast<std::size_t>(stage) * width + i]});
    }
    return out;
  };
  task.replicas = {replica(0.5, {4, 5, 6, 7, 8, 9, 10, 11}, 2), replica(0.25, {0, 1}, 1),
                   replica(0.25, {3, 2}, 1)};
  const ExportedPlan sglang = export_launch(plan, problem, *find_launch("sglang"));
  EXPECT_THAT(sglang.text, HasSubstr("  node-0)\n    serve 4,5,6,7 8000 --tp-size 4 --pp-size 2 "));
  EXPECT_THAT(sglang.text, HasSubstr(" --nnodes 2 --node-rank 1 --dist-init-addr node-0:20000\n"));
  EXPECT_THAT(sglang.text, HasSubstr("    serve 3,2 8002 --tp-size 2 --pp-size 1 "));
  EXPECT_THAT(sglang.unsaid.front(), HasSubstr("equal parts are assumed"));
  EXPECT_THAT(export_launch(plan, problem, *find_launch("vllm")).refusal,
              HasSubstr("Replica 0 of actor_generation has GPUs of several nodes"));
  const std::vector<int> three_each{5, 6, 7, 8, 9, 10};
  task.replicas = {replica(1, three_each, 3)};  // srt/entrypoints/engine.py deals whole stages to nodes
  EXPECT_THAT(export_launch(plan, problem, *find_launch("sglang")).refusal,
              HasSubstr("has 3 stages on 2 nodes"));
  task.replicas = {replica(0.5, {0, 1, 2, 3}, 2), replica(0.5, {4, 5, 6, 7}, 2)};
  task.replicas.front().stages.front().layers = 14;
  task.replicas.front().stages.back().layers = 18;
  const ExportedPlan vllm = export_launch(plan, problem, *find_launch("vllm"));
  EXPECT_THAT(vllm.text,
              HasSubstr("    VLLM_PP_LAYER_PARTITION=14,18 serve 0,1,2,3 8000 --tensor-parallel-size 2 "));
  EXPECT_THAT(vllm.text,
              HasSubstr("    serve 4,5,6,7 8001 --tensor-parallel-size 2 --pipeline-parallel-size 2 "));
}

TEST(Launch, RaysResourcesAreThePools) {
  std::mt19937 random(3);
  const FrameworkProfile& profile = shipped_profile("slime");
  const Cluster cluster = gpu_cluster(2);
  Workflow workflow = random_workflow(profile, random);
  while (workflow.mode == Mode::synchronous) workflow = random_workflow(profile, random);
  const Plan plan = random_sayable_plan({workflow, cluster, profile}, random);
  const LaunchProblem problem{workflow, cluster, profile};
  const std::string ray = export_launch(plan, problem, *find_launch("ray")).text;
  EXPECT_THAT(ray,
              HasSubstr("    CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 ray start --head --port=6379 --num-gpus=8 "
                        "--resources='{\"trainer\":8}'\n"));
  EXPECT_THAT(ray, HasSubstr(" --num-gpus=8 --resources='{\"rollout\":8}'\n"));
  const std::string slurm = export_launch(plan, problem, *find_launch("slurm")).text;
  EXPECT_THAT(slurm, HasSubstr("#!/usr/bin/env bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"));
  EXPECT_THAT(slurm, HasSubstr("resources=( '{\"trainer\":8}' '{\"rollout\":8}' )\n"));
  EXPECT_THAT(slurm, Not(HasSubstr("hetjob")));
}

TEST(Launch, ScriptsOfOtherClustersAreRefused) {
  const RandomLaunch one = random_launch(0);
  const LaunchProblem problem{one.workflow, one.cluster, shipped_profile("slime")};
  const auto refusal = [&](const std::string& script) -> std::string {
    Plan plan = one.plan;
    try {
      find_launch("vllm")->read(script, problem, plan);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("echo\n"), HasSubstr("no part for each node"));
  EXPECT_THAT(refusal("case \"$NODE\" in\n  other)\n"), HasSubstr("no node \"  other)\""));
  EXPECT_THAT(refusal("case \"$NODE\" in\n  node-0)\n    serve 0,8 8000\nesac\n"), HasSubstr("no GPU \"8\""));
  EXPECT_THAT(refusal("case \"$NODE\" in\n  node-0)\n    run 0,8 8000\nesac\n"), HasSubstr("expected \"serve"));
  EXPECT_THAT(refusal("case \"$NODE\" in\nesac\n"), HasSubstr("no server"));
}

}  // namespace
}  // namespace sextant::test
