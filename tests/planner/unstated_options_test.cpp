// Defaults of a framework for options that a plan's document does not state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/document.h"
#include "sextant/profile_space.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FrameworkProfile profile_with(const std::string& layout) {
  const Json json = parse_json(R"({"schema": "sextant.framework_profile/1.2", "name": "one", "family": "one",
    "version": "1", "coefficients": "*", "modes": ["synchronous"], "layout": {)" +
                               layout + R"(}, "tasks": {
      "generation": {"execution": {"continuous_batching": true, "packed": true}, "kv_memory_fraction": 0.5,
                     "decode_batch_sequences": 32},
      "inference": {"execution": {"padding": "batch"}},
      "training": {"execution": {"packed": true, "micro_batch_tokens": 16384, "zero_stage": 3},
                   "recompute": "full"}}})");
  return FrameworkProfile::parse(JsonView(json));
}

struct Asked {
  Workflow workflow = ppo_8b();
  Cluster cluster = cluster_of({{"a100", 8}});
  FrameworkProfile profile = profile_with(R"("outermost": "stages")");

  // All tasks on eight devices, two replicas of two stages; `more`: further members of each task.
  [[nodiscard]] Plan plan(const std::string& more = "") const {
    Json tasks = Json::object();
    for (const Task& task : workflow.tasks) {
      tasks[task.name] = parse_json(R"({"data_parallel": 2, "pipeline_parallel": 2, "tensor_parallel": 2,
          "devices": {"count": 8}, "layers": )" +
                                    std::to_string(workflow.model_of(task).layers) + more + "}");
    }
    const Json document = {{"name", "by hand"}, {"tasks", tasks}};
    return Plan::parse(JsonView(document));
  }
  std::vector<std::string> fill_in(Plan& asked) const {
    return fill_in_from_profile(asked, profile, workflow, cluster);
  }
};

TEST(FillInFromProfile, ExecutesATaskAsTheFrameworkDoes) {
  const Asked asked;
  Plan plan = asked.plan();
  const std::vector<std::string> assumed = asked.fill_in(plan);
  const TaskPlan& generation = plan.tasks.at(task_names::kActorGeneration);
  EXPECT_TRUE(generation.execution.continuous_batching);
  EXPECT_EQ(generation.decode_batch_sequences, 32);
  EXPECT_NEAR(generation.execution.kv_cache_bytes,
              0.5 * asked.cluster.device_types().at("a100").memory_bytes.value, 1e6);
  const TaskPlan& training = plan.tasks.at(task_names::kActorTraining);
  EXPECT_EQ(training.execution.zero_stage, 3);
  EXPECT_EQ(training.execution.micro_batch_tokens, 16384);
  EXPECT_EQ(training.recompute, Recompute::full);
  EXPECT_FALSE(training.unstated.execution);
  EXPECT_THAT(assumed,
              ::testing::Contains(HasSubstr("actor_training, whose plan does not say: zero_stage 3, packed, "
                                            "micro_batch_tokens 16384, recompute full, as one does")));
}

// vLLM's gpu_memory_utilization holds weights too: half of 80 GB, less 3 % of workspace and a quarter of 8B parameters.
TEST(FillInFromProfile, KvCacheIsWhatTheEngineLeavesOfItsShare) {
  Asked asked;
  TaskProfile& engine = asked.profile.tasks.at(TaskKind::generation);
  engine.engine_memory_fraction = 0.5;
  Plan plan = asked.plan();
  std::vector<std::string> assumed = asked.fill_in(plan);
  const double memory = asked.cluster.device_types().at("a100").memory_bytes.value;
  const Model& model = asked.workflow.model_of(asked.workflow.actor_generation());
  const double weights =
      2 * model.parameters() / 4;  // of bf16, over four devices; stages differ by embedding and head
  EXPECT_NEAR(plan.tasks.at(task_names::kActorGeneration).execution.kv_cache_bytes, 0.47 * memory - weights,
              0.2 * weights);
  EXPECT_THAT(assumed, ::testing::Not(::testing::Contains(HasSubstr("does not start"))));

  engine.engine_memory_fraction = 0.05;  // no room beside the weights
  Plan small = asked.plan();
  assumed = asked.fill_in(small);
  EXPECT_NEAR(small.tasks.at(task_names::kActorGeneration).execution.kv_cache_bytes, 0.5 * memory, 1e6);
  EXPECT_THAT(assumed, ::testing::Contains(HasSubstr("the engine of actor_generation does not start")));
}

// 256 sequences: eight at a time in a pass, and in training at most the 32 of a replica's part of one of 4 steps.
TEST(FillInFromProfile, TakesMicroBatchesOfTheFramework) {
  Asked asked;
  TaskProfile& passes = asked.profile.tasks.at(TaskKind::inference);
  TaskProfile& training = asked.profile.tasks.at(TaskKind::training);
  passes.micro_batch_sequences = {8};
  training.micro_batch_sequences = {64};
  for (Execution& execution : training.executions) execution.micro_batch_tokens = 0;
  Plan plan = asked.plan();
  const std::vector<std::string> assumed = asked.fill_in(plan);
  EXPECT_EQ(plan.tasks.at(task_names::kReferenceInference).micro_batch_sequences, 8);
  EXPECT_EQ(plan.tasks.at(task_names::kActorTraining).micro_batch_sequences, 32);
  EXPECT_FALSE(plan.tasks.at(task_names::kActorTraining).unstated.micro_batch);
  EXPECT_THAT(assumed, ::testing::Contains(HasSubstr("micro_batch_sequences 8, as one does")));
  Plan stated = asked.plan(R"(, "micro_batch_sequences": 2)");
  (void)asked.fill_in(stated);
  EXPECT_EQ(stated.tasks.at(task_names::kReferenceInference).micro_batch_sequences, 2);
}

TEST(FillInFromProfile, LeavesWhatThePlanStates) {
  const Asked asked;
  Plan plan = asked.plan(R"(, "execution": {}, "recompute": "none")");
  (void)asked.fill_in(plan);
  EXPECT_EQ(plan.tasks.at(task_names::kActorTraining).execution, Execution{});
  Plan other = asked.plan(R"(, "recompute": "none", "micro_batch_sequences": 2, "decode_batch_sequences": 8)");
  (void)asked.fill_in(other);
  const TaskPlan& training = other.tasks.at(task_names::kActorTraining);
  EXPECT_TRUE(training.execution.packed);
  EXPECT_EQ(training.execution.micro_batch_tokens, 0);  // two sequences, as stated
  EXPECT_EQ(training.recompute, Recompute::none);
  EXPECT_EQ(other.tasks.at(task_names::kActorGeneration).decode_batch_sequences, 8);
}

// Megatron's ranks: the first stage of both replicas on devices 0 to 3. An engine keeps its replicas together.
TEST(FillInFromProfile, NumbersRanksAsTheFrameworkDoes) {
  const Asked asked;
  const auto first_replica = [&](const FrameworkProfile& profile, const char* task, const char* more) {
    Plan plan = asked.plan(more);
    (void)fill_in_from_profile(plan, profile, asked.workflow, asked.cluster);
    std::vector<int> numbers;
    for (const DeviceId device : plan.tasks.at(task).replicas.front().devices())
      numbers.push_back(device.value);
    return numbers;
  };
  EXPECT_THAT(first_replica(asked.profile, task_names::kActorTraining, ""), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(first_replica(asked.profile, task_names::kActorGeneration, ""), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first_replica(asked.profile, task_names::kActorTraining, R"(, "outermost": "replicas")"),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(first_replica(profile_with(""), task_names::kActorTraining, ""), ElementsAre(0, 1, 2, 3));
}

TEST(FillInFromProfile, PadsAsTheFrameworkDoes) {
  const Asked asked;
  Plan plan = asked.plan(R"(, "execution": {})");
  const std::vector<std::string> assumed = asked.fill_in(plan);
  EXPECT_EQ(plan.tasks.at(task_names::kReferenceInference).execution.padding, Padding::batch);
  EXPECT_FALSE(plan.tasks.at(task_names::kActorTraining).execution.padding);
  EXPECT_THAT(assumed, ::testing::Contains(HasSubstr("padded to the longest of the replica's batch")));
}

}  // namespace
}  // namespace sextant::test
