#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "probes/proxy/checks.h"
#include "probes/proxy/simplify.h"
#include "sextant/error.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant {
namespace {

using testing::HasSubstr;

// The sentence with which one rank refuses; empty when it does not.
std::string refusal(const Workflow& workflow, const Plan& plan, int devices = 2) {
  const auto world = make_serial_communicator();
  try {
    const ProxySession session(*world, test::make_cluster(devices), workflow, plan, 1);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

std::string refusal_after(const std::function<void(Workflow&)>& change) {
  Workflow workflow = test::small_ppo();
  change(workflow);
  return refusal(workflow, test::plan_all(workflow, test::uniform(1, 1, 1)));
}

TEST(Checks, AcceptWhatTheProxyRuns) {
  EXPECT_EQ(refusal_after([](Workflow&) {}), "");
}

TEST(Checks, RefuseOtherPrecisions) {
  for (const Precision precision : {Precision::bf16, Precision::fp64}) {
    EXPECT_THAT(refusal_after([&](Workflow& w) { w.precision = precision; }), HasSubstr("fp32"));
  }
}

TEST(Checks, RefuseMadeUpRewardTime) {
  EXPECT_THAT(refusal_after([](Workflow& w) { w.rule_reward_s_per_sequence = 0.1; }),
              HasSubstr("rule_reward_s_per_sequence"));
}

TEST(Checks, RefuseModelsWithoutTokensOrWithExperts) {
  EXPECT_THAT(refusal_after([](Workflow& w) { w.models.at("actor").vocabulary = 0; }), HasSubstr("vocabulary"));
  EXPECT_THAT(refusal_after([](Workflow& w) { w.models.at("critic").vocabulary = 16; }),
              HasSubstr("smaller than the actor's"));
  EXPECT_THAT(refusal_after([](Workflow& w) {
                w.models.at("actor").experts = Experts{4, 2, 24};
              }),
              HasSubstr("experts"));
  EXPECT_THAT(refusal_after([](Workflow& w) { w.models.at("actor").head_dim = 5; }), HasSubstr("even"));
}

TEST(Checks, RefuseMoreMiniBatchesThanSequences) {
  EXPECT_THAT(refusal_after([](Workflow& w) { w.mini_batches = 9; }), HasSubstr("mini-batches"));
}

TEST(Checks, RefuseDevicesBeyondTheRanks) {
  const Workflow workflow = test::small_grpo();
  EXPECT_THAT(refusal(workflow, test::plan_all(workflow, test::uniform(2, 1, 1))), HasSubstr("mpirun -n 2"));
}

TEST(Checks, RefuseAVocabularyThatDoesNotDivide) {
  Workflow workflow = test::small_grpo();
  for (auto& [name, model] : workflow.models) model.vocabulary = 33;
  EXPECT_THAT(refusal(workflow, test::plan_all(workflow, test::uniform(1, 1, 2))), HasSubstr("mpirun"));
  EXPECT_THROW(proxy::check_runnable(workflow, test::plan_all(workflow, test::uniform(1, 1, 2)), 2), Error);
}

TEST(Checks, RefuseTrainingReplicasThatDiffer) {
  const Workflow workflow = test::small_grpo();
  Plan plan = test::plan_all(workflow, test::uniform(1, 1, 1));
  plan.tasks.at(task_names::kActorTraining).replicas = {
      test::make_replica({test::make_stage(3, {0})}, 0.5),
      test::make_replica({test::make_stage(2, {1}), test::make_stage(1, {2})}, 0.5)};
  EXPECT_NO_THROW(check_plan(plan, workflow, test::make_cluster(3)));
  try {
    proxy::check_runnable(workflow, plan, 3);
    FAIL() << "was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("differ"));
  }
}

proxy::EngineLimits gpu_like() {
  proxy::EngineLimits limits;
  limits.computes = "in bf16 on GPUs";
  limits.precision = Precision::bf16;
  limits.cuda_graphs = true;
  limits.value_heads = false;
  limits.channel_multiple = 8;
  limits.head_dims = {4};
  limits.max_heads_per_kv_head = 2;
  limits.token_limit = 11;
  return limits;
}

std::string refusal_of(const std::function<void(Workflow&, Plan&, proxy::EngineLimits&)>& change) {
  Workflow workflow = test::small_grpo();
  workflow.tasks = grpo_tasks(false);
  workflow.precision = Precision::bf16;
  Plan plan = test::plan_all(workflow, test::uniform(1, 1, 1));
  proxy::EngineLimits limits = gpu_like();
  change(workflow, plan, limits);
  try {
    proxy::check_workflow(workflow, limits);
    proxy::check_runnable(workflow, plan, 4, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

TEST(Checks, AcceptWhatAnEngineCanDo) {
  EXPECT_EQ(refusal_of([](Workflow&, Plan& plan, proxy::EngineLimits&) {
              Execution& execution = plan.tasks.at(task_names::kActorGeneration).execution;
              execution.cuda_graphs = execution.packed = true;
            }),
            "");
}

TEST(Checks, RefuseWhatAnEngineCannotDo) {
  EXPECT_THAT(refusal_of([](Workflow& w, Plan&, proxy::EngineLimits&) { w.precision = Precision::fp32; }),
              HasSubstr("bf16 on GPUs"));
  EXPECT_THAT(refusal_of([](Workflow&, Plan& p, proxy::EngineLimits& limits) {
                limits.cuda_graphs = false;
                p.tasks.at(task_names::kActorGeneration).execution.cuda_graphs = true;
              }),
              HasSubstr("cuda_graphs"));
  EXPECT_THAT(refusal_of([](Workflow&, Plan& p, proxy::EngineLimits&) {
                p.tasks.at(task_names::kActorTraining).execution.cuda_graphs = true;
              }),
              HasSubstr("cuda_graphs"));
  EXPECT_THAT(refusal_of([](Workflow& w, Plan&, proxy::EngineLimits&) { w.models.at("actor").hidden = 20; }),
              HasSubstr("multiples of 8, got 20"));
  EXPECT_THAT(refusal_of([](Workflow&, Plan&, proxy::EngineLimits& l) {
                l.head_dims = {64, 128};
              }),
              HasSubstr("64 or 128"));
  EXPECT_THAT(refusal_of([](Workflow& w, Plan&, proxy::EngineLimits&) { w.models.at("actor").kv_heads = 1; }),
              HasSubstr("share a KV head"));
  EXPECT_THAT(refusal_of([](Workflow& w, Plan&, proxy::EngineLimits&) { w.prompt_tokens = fixed_length(7); }),
              HasSubstr("at most 11 tokens, got 12"));
  EXPECT_THAT(refusal_of([](Workflow&, Plan& p, proxy::EngineLimits&) {
                p.tasks.at(task_names::kActorTraining) = test::uniform(1, 1, 2);
              }),
              HasSubstr("leaves each device 12 of 24 channels or tokens"));
}

// Generation with reference inference, and training alone: a custom workflow lacks the rest.
TEST(Checks, CustomWorkflowsMayLackTrainingOrGeneration) {
  Workflow workflow = test::small_grpo();
  workflow.algorithm = Algorithm::custom;
  workflow.tasks = grpo_tasks(false);
  const Task training = workflow.tasks.back();
  workflow.tasks.pop_back();
  const auto world = make_serial_communicator();
  const Plan plan = test::plan_all(workflow, test::uniform(1, 1, 1));
  ProxySession generates(*world, test::make_cluster(1), workflow, plan, 1);
  const ProxySession::Sample sample = generates.iterate();
  EXPECT_EQ(sample.tasks_s.count(task_names::kActorGeneration), 1U);
  EXPECT_EQ(sample.tasks_s.size(), 2U) << "no weights are synced";
  workflow.tasks = {training};
  workflow.tasks.front().after.clear();
  ProxySession trains(*world, test::make_cluster(1), workflow, test::plan_all(workflow, test::uniform(1, 1, 1)),
                      1);
  EXPECT_GT(trains.iterate().tasks_s.at(task_names::kActorTraining), 0);
  workflow.algorithm = Algorithm::grpo;
  EXPECT_THAT(refusal(workflow, plan), HasSubstr("whole iterations"));
}

TEST(Checks, RefuseOverlapOnSharedDevices) {
  for (const Mode mode : {Mode::one_step_off, Mode::asynchronous}) {
    EXPECT_THAT(refusal_after([&](Workflow& w) { w.mode = mode; }),
                HasSubstr("only with tasks on other devices"));
  }
}

TEST(Simplify, LeavesOutOptionsThatDoNotChangeWhoComputesWhat) {
  Workflow workflow = test::small_grpo();  // 8 sequences of 6 + 5 tokens
  Plan plan = test::plan_all(workflow, test::uniform(2, 1, 1));
  TaskPlan& training = plan.tasks.at(task_names::kActorTraining);
  training.execution.fused_attention = training.execution.packed = true;
  training.execution.zero_stage = 3;
  training.execution.micro_batch_tokens = 23;  // two sequences of mean length
  training.recompute = Recompute::selective;
  const proxy::SimplifiedPlan simple = proxy::simplify(plan, workflow, {});
  const TaskPlan& ran = simple.plan.tasks.at(task_names::kActorTraining);
  Execution packed;
  packed.packed = true;
  EXPECT_EQ(ran.execution, packed);
  EXPECT_EQ(ran.micro_batch_sequences, 2);
  EXPECT_EQ(ran.recompute, Recompute::full);
  EXPECT_EQ(ran.replicas, training.replicas);
  EXPECT_THAT(simple.left_out,
              testing::ElementsAre("task 'actor_training' of plan '" + plan.name +
                                   "' runs without zero_stage, micro_batch_tokens, fused_attention, selective "
                                   "recomputation (whole layers are recomputed)"));
  EXPECT_NO_THROW(proxy::check_runnable(workflow, simple.plan, 2));
}

TEST(Simplify, KeepsOptionsThatChangeWhoComputesWhat) {
  Workflow workflow = test::small_grpo();
  Plan plan = test::plan_all(workflow, test::uniform(1, 1, 2));
  plan.tasks.at(task_names::kActorTraining).execution.context_parallel = 2;
  const proxy::SimplifiedPlan simple = proxy::simplify(plan, workflow, {});
  EXPECT_EQ(simple.plan, plan);
  EXPECT_THAT(simple.left_out, testing::IsEmpty());
  EXPECT_THROW(proxy::check_runnable(workflow, simple.plan, 2), Error);
}

}  // namespace
}  // namespace sextant
