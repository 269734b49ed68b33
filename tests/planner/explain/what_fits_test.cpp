// Changes that would make a plan fit.
#include "planner/explain/what_fits.h"

#include <gtest/gtest.h>

#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// PPO of 8B models on eight cards of 80 GB, all trained states sharded over them. A token has 128,256 logits of
// 16 bytes, so 32,768 tokens take 67 GB of logits alone, and the states of actor and critic 16 GB each on a
// card: more than there is, also where the critic has half of the cards. 4,096 tokens take 8.4 GB.
PlanRequest with_budget(const Cluster& cluster, const Workflow& workflow, const Coefficients& coefficients,
                        int micro_batch_tokens) {
  PlanRequest request{cluster, workflow, coefficients};
  for (const Task& task : workflow.tasks) {
    Execution execution;
    execution.packed = execution.fused_attention = true;
    execution.continuous_batching = task.kind == TaskKind::generation;
    execution.zero_stage = task.kind == TaskKind::generation ? 0 : 3;
    execution.micro_batch_tokens = task.kind == TaskKind::generation ? 0 : micro_batch_tokens;
    request.choices.push_back(one_choice(execution));
    if (task.kind == TaskKind::training) request.choices.back().recompute = {Recompute::full};
  }
  return request;
}

Cluster with_memory(const Cluster& cluster, double bytes) {
  auto types = cluster.device_types();
  for (auto& [name, type] : types) type.memory_bytes = assumed(bytes);
  return Cluster(cluster.name(), types, cluster.nodes(), cluster.levels(), cluster.exceptions());
}

TEST(WhatFits, NamesFewerTokensOfAMicroBatch) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const std::string large = what_would_fit(with_budget(cluster, workflow, coefficients, 65536), nullptr).change;
  EXPECT_EQ(large.find("with micro-batches of at most "), 0U) << large;
  // Budgets that hold one sequence and no more cannot shrink.
  const std::string small = what_would_fit(with_budget(cluster, workflow, coefficients, 2048), nullptr).change;
  EXPECT_EQ(small.find("micro-batches"), std::string::npos) << small;
}

// A search that looks at smaller micro-batches may find a plan with those that were asked for.
TEST(WhatFits, NamesNoRestrictionThatThePlanKeepsTo) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request = with_budget(cluster, workflow, coefficients, 2048);
  for (std::size_t t = 0; t < request.choices.size(); ++t) {
    if (workflow.tasks[t].name != task_names::kActorTraining) continue;  // a critic has no logits
    std::vector<Execution>& executions = request.choices[t].executions;
    executions.push_back(executions.front());
    executions.back().micro_batch_tokens = 1 << 20;
  }
  const Fitting fitting = what_would_fit(request, nullptr);
  EXPECT_EQ(fitting.change.find("a larger --budget finds one"), 0U) << fitting.change;
  EXPECT_TRUE(fitting.plan.has_value());
}

// Two 8B models that train on eight cards of 30 GB: 16 bytes a weight are 32 GB a card; with adapters weights need 2.
TEST(WhatFits, PlansLoraWhereTheFrameworkHasIt) {
  const Cluster cluster = with_memory(cluster_of({{"a100", 1}}), 30e9);
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanRequest request = with_budget(cluster, workflow, coefficients, 2048);
  FrameworkProfile profile;
  profile.name = "of the test";
  profile.option_names["training.lora_rank"] = "lora.rank";
  const Fitting fitting = what_would_fit(request, &profile);
  EXPECT_EQ(fitting.change.find("with LoRA (--lora-rank 32) one does"), 0U) << fitting.change;
  EXPECT_FALSE(fitting.plan.has_value());
}

}  // namespace
}  // namespace sextant::test
