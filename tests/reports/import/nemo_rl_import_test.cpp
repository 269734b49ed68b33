#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "reports/import/yaml_file.h"
#include "tests/reports/export/random_trainer_plans.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

// 64 experts, whose layers 8 GPUs of an engine split and two engines share.
Plan plan_of_yaml(const std::string& profile_name, int nodes, const std::string& generation,
                  const std::string& cluster_text) {
  const ConfigurationFile file(
      "run.yaml",
      "policy:\n  model_name: x\n  max_total_sequence_length: 8192\n  megatron_cfg:\n    enabled: true\n"
      "  generation:\n" +
          generation + "cluster:\n" + cluster_text);
  const Importer& importer = *find_importer("nemo-rl");
  RunSettings run = read_run_settings({file.path()}, importer.source, {});
  const RunFacts facts = importer.read(run);
  const FrameworkProfile& profile = shipped_profile(profile_name);
  EXPECT_EQ(facts.profile, profile_name);
  std::mt19937 random(1);
  Workflow workflow = random_workflow(profile, random);
  while (!workflow.models.at("actor").experts) workflow = random_workflow(profile, random);
  workflow.tasks = graph_of(facts).tasks;
  workflow.mode = facts.mode;
  const Cluster cluster = gpu_cluster(nodes);
  Plan plan = plan_of_settings(run.settings, "plan", {workflow, cluster, profile}, *find_dialect(profile_name));
  check_plan(plan, workflow, cluster);
  return plan;
}

// The recipes grpo-glm5.1-64n8g-megatron and grpo-qwen3.5-397ba17b-32n8g-megatron.v2 have it on more GPUs.
TEST(NemoRlImport, EnginesWithExpertParallelismKeepExpertsWhole) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Plan plan = plan_of_yaml(
      "nemo-rl-megatron", 2, "    vllm_cfg:\n      tensor_parallel_size: 8\n      expert_parallel_size: 16\n",
      "  num_nodes: 2\n  gpus_per_node: 8\n");
  const Execution& engine = plan.tasks.at("actor_generation").execution;
  EXPECT_EQ(engine.expert_parallel, 16);
  EXPECT_EQ(engine.expert_tensor_parallel, 1);
  EXPECT_EQ(plan.tasks.at("actor_training").execution.expert_tensor_parallel,
            1);  // of the file that all extend
}

// The recipe grpo-qwen2.5-math-1.5b-instruct-1n8g-megatron-single-controller-sync has it.
TEST(NemoRlImport, ASingleNodeIsDividedAlsoIfTheEnginesNodesAreStated) {
  if (!has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp (SEXTANT_YAML)";
  const Plan plan =
      plan_of_yaml("nemo-rl-megatron", 1,
                   "    colocated:\n      enabled: false\n      resources:\n        num_nodes: 1\n"
                   "        gpus_per_node: 2\n",
                   "  num_nodes: 1\n  gpus_per_node: 8\n");
  EXPECT_EQ(plan.tasks.at("actor_training").devices().size(), 6U);
  EXPECT_EQ(plan.tasks.at("actor_generation").devices().size(), 2U);
}

}  // namespace
}  // namespace sextant::test
