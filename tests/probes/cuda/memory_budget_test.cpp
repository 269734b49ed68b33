#include "probes/gpu/proxy/memory_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant::gpu {
namespace {

constexpr double kGigabyte = 1e9;

Model eight_billion() {
  Model model;
  model.name = "8B";
  model.layers = 32;
  model.hidden = 4096;
  model.intermediate = 14336;
  model.heads = 32;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 128256;
  return model;
}

struct Case {
  Case() {
    workflow.name = "case";
    workflow.tasks = grpo_tasks(false);
    for (const Task& task : workflow.tasks) {
      workflow.models[task.model] = eight_billion();
      plan.tasks[task.name].replicas = expand_layout({1, 1, 1, DeviceId{0}}, 32);
      plan.tasks[task.name].micro_batch_sequences = 1;
    }
    workflow.prompts = 4;
    workflow.responses_per_prompt = 2;
    workflow.prompt_tokens = fixed_length(448);
    workflow.response_tokens = fixed_length(64);
  }
  [[nodiscard]] TaskBytes of(const std::string& task, int device = 0) const {
    for (const TaskBytes& bytes : task_bytes(workflow, plan, proxy::make_workload(workflow, 1), device)) {
      if (bytes.task == task) return bytes;
    }
    return {};
  }
  Workflow workflow;
  Plan plan;
};

// 8.03e9 parameters: 2 bytes each, and 16 where they are trained.
TEST(MemoryBudget, StatesAreTheParameters) {
  const Case all;
  EXPECT_NEAR(all.of(task_names::kActorGeneration).state_bytes, 16.06 * kGigabyte, 0.01 * kGigabyte);
  EXPECT_NEAR(all.of(task_names::kActorTraining).state_bytes, 128.5 * kGigabyte, 0.1 * kGigabyte);
}

// 9 slots, one of them free, of 512 tokens: 131,072 bytes a token.
TEST(MemoryBudget, TheCacheHoldsEverySequenceOfAWave) {
  Case all;
  const double one_wave = all.of(task_names::kActorGeneration).working_bytes;
  all.plan.tasks.at(task_names::kActorGeneration).decode_batch_sequences = 4;
  const double two_waves = all.of(task_names::kActorGeneration).working_bytes;
  const double cache = 4 * 512 * 131072.0;
  EXPECT_GT(one_wave - two_waves, cache);
  EXPECT_LT(one_wave - two_waves, cache + 4 * 128256 * 4.5 + 1e6);
}

TEST(MemoryBudget, RecomputationKeepsOneLayersActivations) {
  Case all;
  const double kept = all.of(task_names::kActorTraining).working_bytes;
  all.plan.tasks.at(task_names::kActorTraining).recompute = Recompute::full;
  const double recomputed = all.of(task_names::kActorTraining).working_bytes;
  EXPECT_LT(recomputed, kept / 5);
  all.plan.tasks.at(task_names::kActorTraining).micro_batch_sequences = 4;
  EXPECT_GT(all.of(task_names::kActorTraining).working_bytes, 2 * recomputed);
}

// 2 x 128256 x 4096 parameters of embedding and head lie at the ends, the layers' 6.98e9 are halved.
TEST(MemoryBudget, StagesAndShardsHoldTheirPart) {
  Case all;
  TaskPlan& training = all.plan.tasks.at(task_names::kActorTraining);
  training.replicas = expand_layout({1, 1, 2, DeviceId{0}}, 32);
  EXPECT_NEAR(all.of(task_names::kActorTraining, 1).state_bytes, 64.2 * kGigabyte, 0.1 * kGigabyte);
  training.replicas = expand_layout({1, 4, 1, DeviceId{0}}, 32);
  const double end = 16 * (6.98 / 4 + 0.525) * kGigabyte;
  EXPECT_NEAR(all.of(task_names::kActorTraining, 0).state_bytes, end, 0.1 * kGigabyte);
  EXPECT_NEAR(all.of(task_names::kActorTraining, 1).state_bytes, 16 * 6.98 / 4 * kGigabyte, 0.1 * kGigabyte);
}

// With a wider MLP a token of one layer has more numbers of 2 bytes: gate, up and product that are kept, gradients of gate
// and up in the scratch, and one more of the product's gradient.
TEST(MemoryBudget, AWiderMlpNeedsSixNumbersOfAToken) {
  Case all;
  all.plan.tasks.at(task_names::kActorTraining).recompute = Recompute::full;
  const double narrow = all.of(task_names::kActorTraining).working_bytes;
  constexpr int kWider = 1000, kTokens = 512;
  for (auto& [name, model] : all.workflow.models) model.intermediate += kWider;
  EXPECT_NEAR(all.of(task_names::kActorTraining).working_bytes - narrow, 2.0 * 6 * kWider * kTokens, 1);
}

// 8 micro-batches on 4 stages: the first keeps four of them, the third two.
TEST(MemoryBudget, EarlierStagesKeepMoreMicroBatches) {
  Case all;
  all.plan.tasks.at(task_names::kActorTraining).replicas = expand_layout({1, 4, 1, DeviceId{0}}, 32);
  const double first = all.of(task_names::kActorTraining, 0).working_bytes;
  const double third = all.of(task_names::kActorTraining, 2).working_bytes;
  EXPECT_GT(first, 1.8 * third);
  EXPECT_LT(first, 2 * third);
}

// The embedding's 128256 x 4096 numbers where a device has less than the whole of it, and all parts gathered.
TEST(MemoryBudget, WeightSyncHoldsABlock) {
  Case all;
  EXPECT_EQ(all.of("weight_sync").working_bytes, 0);
  const double block = 2.0 * 128256 * 4096;
  all.plan.tasks.at(task_names::kActorTraining).replicas = expand_layout({1, 1, 2, DeviceId{0}}, 32);
  EXPECT_EQ(all.of("weight_sync", 1).working_bytes, 2 * block);
  all.plan.tasks.at(task_names::kActorGeneration).replicas = expand_layout({1, 1, 1, DeviceId{2}}, 32);
  EXPECT_EQ(all.of("weight_sync", 2).working_bytes, block);
}

TEST(MemoryBudget, OtherDevicesNeedNothing) {
  const Case all;
  EXPECT_TRUE(task_bytes(all.workflow, all.plan, proxy::make_workload(all.workflow, 1), 1).empty());
}

TEST(MemoryBudget, RefusesNamingTheTasks) {
  const std::vector<TaskBytes> tasks{{"actor_training", 100 * kGigabyte, 20 * kGigabyte},
                                     {"actor_generation", 10 * kGigabyte, 5 * kGigabyte}};
  EXPECT_NO_THROW(check_memory(tasks, 140 * kGigabyte));
  try {
    check_memory(tasks, 130 * kGigabyte);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("actor_training"));
    EXPECT_THAT(error.what(), testing::HasSubstr("recompute"));
  }
}

}  // namespace
}  // namespace sextant::gpu
