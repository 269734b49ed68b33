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

TEST(WhatFits, NamesFewerTokensOfAMicroBatch) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const std::string large = what_would_fit(with_budget(cluster, workflow, coefficients, 65536), nullptr);
  EXPECT_EQ(large.find("with micro-batches of at most "), 0U) << large;
  // Budgets that hold one sequence and no more cannot shrink.
  const std::string small = what_would_fit(with_budget(cluster, workflow, coefficients, 2048), nullptr);
  EXPECT_EQ(small.find("micro-batches"), std::string::npos) << small;
}

}  // namespace
}  // namespace sextant::test
