#include "sextant/workflow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<Task>& tasks) {
  std::vector<std::string> out;
  out.reserve(tasks.size());
  for (const Task& task : tasks) out.push_back(task.name);
  return out;
}

TEST(WorkflowTest, PpoHasItsSixTasks) {
  const auto workflow = load_fixture<Workflow>("workflow_ppo.json");
  EXPECT_EQ(workflow.tasks, ppo_tasks());
  EXPECT_THAT(names_of(workflow.tasks),
              ElementsAre("actor_generation", "reward_inference", "reference_inference", "critic_inference",
                          "actor_training", "critic_training"));
  EXPECT_EQ(workflow.task("reference_inference").model, "reference");
  EXPECT_EQ(workflow.sequences(), 64);
  EXPECT_EQ(workflow.actor_generation().name, "actor_generation");
  EXPECT_EQ(workflow.actor_training().name, "actor_training");
  EXPECT_EQ(&workflow.model_of(workflow.task("critic_training")), &workflow.models.at("critic"));
}

TEST(WorkflowTest, WarnsOfSequencesThatAModelDoesNotTake) {
  auto workflow = load_fixture<Workflow>("workflow_grpo.json");
  EXPECT_TRUE(workflow.context_warnings().empty());  // nothing is known of its models
  const double longest = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens() +
                         (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  for (auto& [role, model] : workflow.models) model.context_tokens = static_cast<int>(longest);
  EXPECT_TRUE(workflow.context_warnings().empty());
  for (auto& [role, model] : workflow.models) model.context_tokens = static_cast<int>(longest) - 1;
  const std::vector<std::string> warnings = workflow.context_warnings();
  ASSERT_EQ(warnings.size(), 1U);  // actor and reference are one model
  EXPECT_NE(warnings.front().find("make " + std::to_string(static_cast<int>(longest)) + "; "),
            std::string::npos)
      << warnings.front();
  EXPECT_NE(warnings.front().find("takes " + std::to_string(static_cast<int>(longest) - 1)), std::string::npos);
}

TEST(WorkflowTest, GrpoHasThreeTasksOrFour) {
  const auto rule = load_fixture<Workflow>("workflow_grpo.json");
  EXPECT_THAT(names_of(rule.tasks), ElementsAre("actor_generation", "reference_inference", "actor_training"));
  EXPECT_EQ(rule.task("reference_inference").model, "actor");  // no model of its own
  EXPECT_EQ(rule.sequences(), 32);
  Json json = fixture_body("workflow_grpo.json");
  json["models"]["reward"] = fixture_body("workflow_ppo.json")["models"]["reward"];
  json["rule_reward_s_per_sequence"] = 0;
  EXPECT_EQ(parse_as<Workflow>(json).tasks.size(), 4U);
  EXPECT_EQ(parse_as<Workflow>(json).task("reward_inference").model, "reward");
  json["rule_reward_s_per_sequence"] = 0.5;
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/rule_reward_s_per_sequence: expected 0 because a reward model gives the reward");
}

TEST(WorkflowTest, GenerationNeedsTokensToBeginWith) {
  for (const char* member : {"prompt_tokens", "response_tokens"}) {
    for (const double tokens : {0.0, 1e-300}) {
      Json json = fixture_body("workflow_grpo.json");
      json[member] = {{"kind", "fixed"}, {"tokens", tokens}};
      EXPECT_EQ(refusal_as<Workflow>(json),
                "/" + std::string(member) + ": expected at least one token because a task generates");
    }
  }
}

TEST(WorkflowTest, GrpoMayLeaveTheReferenceOutAndRecomputeLogProbs) {
  Json json = fixture_body("workflow_grpo.json");
  json["reference"] = false;
  EXPECT_THAT(names_of(parse_as<Workflow>(json).tasks), ElementsAre("actor_generation", "actor_training"));
  EXPECT_THAT(parse_as<Workflow>(json).task("actor_training").after, ElementsAre("actor_generation"));
  json["old_log_prob"] = true;
  const auto workflow = parse_as<Workflow>(json);
  EXPECT_THAT(names_of(workflow.tasks), ElementsAre("actor_generation", "old_log_prob", "actor_training"));
  EXPECT_EQ(workflow.task("old_log_prob").kind, TaskKind::inference);
  EXPECT_EQ(workflow.task("old_log_prob").model, "actor");
  EXPECT_THAT(workflow.task("old_log_prob").after, ElementsAre("actor_generation"));
  EXPECT_THAT(workflow.task("actor_training").after, ElementsAre("old_log_prob"));
}

TEST(WorkflowTest, PpoMayLeaveTheReferenceOutAndRecomputeLogProbs) {
  Json json = fixture_body("workflow_ppo.json");
  json.erase("tasks");
  json["old_log_prob"] = true;
  EXPECT_THAT(names_of(parse_as<Workflow>(json).tasks),
              ElementsAre("actor_generation", "reward_inference", "old_log_prob", "reference_inference",
                          "critic_inference", "actor_training", "critic_training"));
  json["reference"] = false;
  EXPECT_EQ(refusal_as<Workflow>(json), "/models/reference: no task of ppo uses a model of this name");
  json["models"].erase("reference");
  EXPECT_EQ(parse_as<Workflow>(json).tasks.size(), 6U);
}

TEST(WorkflowTest, GraphOptionsComeBackAsTheyWere) {
  Json json = fixture_body("workflow_grpo.json");
  const Json plain = parse_as<Workflow>(json).to_json();
  EXPECT_FALSE(plain.contains("reference") || plain.contains("old_log_prob"));
  json["reference"] = false;
  json["old_log_prob"] = true;
  const auto workflow = parse_as<Workflow>(json);
  const Json written = workflow.to_json();
  EXPECT_EQ(written["reference"], false);
  EXPECT_EQ(written["old_log_prob"], true);
  EXPECT_EQ(parse_as<Workflow>(written), workflow);
}

TEST(WorkflowTest, GraphOptionsAgreeWithTasksThatAreListed) {
  Json json = load_fixture<Workflow>("workflow_grpo.json").to_json();
  json["reference"] = true;
  json["old_log_prob"] = false;
  EXPECT_EQ(parse_as<Workflow>(json).tasks.size(), 3U);
  json["reference"] = false;
  EXPECT_EQ(refusal_as<Workflow>(json), "/reference: the tasks of the workflow have reference_inference");
  json["reference"] = true;
  json["old_log_prob"] = true;
  EXPECT_EQ(refusal_as<Workflow>(json), "/old_log_prob: the tasks of the workflow lack old_log_prob");
  json["algorithm"] = "custom";
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/reference: not allowed with a custom algorithm, whose tasks are listed");
}

TEST(WorkflowTest, OldLogProbIsInferenceOfTheActor) {
  Json json = fixture_body("workflow_grpo.json");
  json["old_log_prob"] = true;
  json = parse_as<Workflow>(json).to_json();
  json["models"]["other"] = json["models"]["actor"];
  json["tasks"][1]["model"] = "other";
  EXPECT_THAT(refusal_as<Workflow>(json), HasSubstr("/tasks: expected the tasks of grpo: "));
}

TEST(WorkflowTest, WritesTheTasksOut) {
  const auto workflow = load_fixture<Workflow>("workflow_grpo.json");
  const Json json = workflow.to_json();
  EXPECT_EQ(json["tasks"].size(), 3U);
  EXPECT_EQ(parse_as<Workflow>(json), workflow);
}

TEST(WorkflowTest, ALoopHasNoController) {
  Json json = fixture_body("workflow_grpo.json");
  EXPECT_TRUE(parse_as<Workflow>(json).has_controller());
  json["orchestration"] = "loop";
  const auto loop = parse_as<Workflow>(json);
  EXPECT_FALSE(loop.has_controller());
  EXPECT_EQ(parse_as<Workflow>(loop.to_json()), loop);
  json["orchestration"] = "ray";
  EXPECT_EQ(refusal_as<Workflow>(json), "/orchestration: expected one of controller, loop, got \"ray\"");
}

TEST(WorkflowTest, RefusesAModelThatNoTaskUses) {
  Json json = fixture_body("workflow_grpo.json");
  json["models"]["refrence"] = json["models"]["actor"];
  EXPECT_EQ(refusal_as<Workflow>(json), "/models/refrence: no task of grpo uses a model of this name");
}

TEST(WorkflowTest, RefusesAGraphThatIsNotTheAlgorithms) {
  Json json = load_fixture<Workflow>("workflow_grpo.json").to_json();
  json["tasks"][2]["name"] = "training";
  EXPECT_THAT(refusal_as<Workflow>(json),
              HasSubstr("/tasks: expected the tasks of grpo: actor_generation, reward_inference, "));
  json["algorithm"] = "ppo";
  EXPECT_THAT(refusal_as<Workflow>(json), HasSubstr("/tasks: expected the tasks of ppo: actor_generation, "));
  json["algorithm"] = "custom";
  EXPECT_NO_THROW((void)parse_as<Workflow>(json));
  json.erase("tasks");
  EXPECT_EQ(refusal_as<Workflow>(json), "missing member \"tasks\": a custom algorithm has no standard graph");
}

TEST(WorkflowTest, PpoWithoutARewardModelHasARule) {
  const auto listed = load_fixture<Workflow>("workflow_ppo.json");
  Json json = listed.to_json();
  json.erase("tasks");
  json["models"].erase("reward");
  json["rule_reward_s_per_sequence"] = 0.01;
  const auto ruled = parse_as<Workflow>(json);
  EXPECT_EQ(ruled.tasks, ppo_tasks({}, false));
  EXPECT_EQ(ruled.tasks.size(), listed.tasks.size() - 1);
  EXPECT_EQ(parse_as<Workflow>(ruled.to_json()), ruled);
}

TEST(WorkflowTest, TasksFollowWhatTheyNeed) {
  Json json = load_fixture<Workflow>("workflow_grpo.json").to_json();
  json["tasks"][0]["after"] = {"actor_training"};
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/tasks/0/after/0: expected the name of an earlier task, got \"actor_training\"");
  json["tasks"][0]["after"] = Json::array();
  json["tasks"][1]["after"] = {"actor_generation", "reference_inference"};
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/tasks/1/after/1: expected the name of an earlier task, got \"reference_inference\"");
}

TEST(WorkflowTest, RefusesTasksThatCannotBe) {
  const Json good = load_fixture<Workflow>("workflow_grpo.json").to_json();
  Json json = good;
  json["tasks"][1]["name"] = "actor_generation";
  EXPECT_EQ(refusal_as<Workflow>(json), "/tasks/1/name: another task is named \"actor_generation\" too");
  json = good;
  json["tasks"][1]["model"] = "judge";
  EXPECT_EQ(refusal_as<Workflow>(json), "/tasks/1/model: unknown model \"judge\"");
  json = good;
  json["tasks"][0]["kind"] = "inference";
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/tasks: expected exactly one generation task on the model \"actor\", got 0");
  json = good;
  json["tasks"][1]["kind"] = "training";
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/tasks: expected exactly one training task on the model \"actor\", got 2");
}

TEST(WorkflowTest, OnlyAsynchronousTrainingTakesABatchInParts) {
  Json json = fixture_body("workflow_grpo.json");
  EXPECT_EQ(parse_as<Workflow>(json).streamed_parts, 1);
  json["streamed_parts"] = 4;
  EXPECT_EQ(refusal_as<Workflow>(json), "/streamed_parts: expected 1 in mode one_step_off, got 4");
  json["mode"] = "asynchronous";
  const Workflow workflow = parse_as<Workflow>(json);
  EXPECT_EQ(workflow.streamed_parts, 4);
  EXPECT_EQ(parse_as<Workflow>(workflow.to_json()), workflow);
  json["streamed_parts"] = 0;
  EXPECT_EQ(refusal_as<Workflow>(json), "/streamed_parts: expected an integer >= 1, got 0");
}

TEST(WorkflowTest, StalenessFollowsTheMode) {
  Json json = fixture_body("workflow_grpo.json");
  json["staleness"] = 2;
  EXPECT_EQ(refusal_as<Workflow>(json), "/staleness: expected 1.0 in mode one_step_off, got 2.0");
  json["mode"] = "synchronous";
  EXPECT_EQ(refusal_as<Workflow>(json), "/staleness: expected 0.0 in mode synchronous, got 2.0");
  json["mode"] = "asynchronous";
  EXPECT_EQ(parse_as<Workflow>(json).staleness, 2);
  json["staleness"] = 0.5;
  EXPECT_EQ(parse_as<Workflow>(json).staleness, 0.5);
  json["staleness"] = -1;
  EXPECT_EQ(refusal_as<Workflow>(json), "/staleness: expected a number >= 0, got -1");
  json.erase("staleness");
  EXPECT_EQ(refusal_as<Workflow>(json),
            "missing member \"staleness\": an asynchronous workflow needs its bound");
  json["mode"] = "one_step_off";
  EXPECT_EQ(parse_as<Workflow>(json).staleness, 1);
  json["mode"] = "synchronous";
  EXPECT_EQ(parse_as<Workflow>(json).staleness, 0);
}

TEST(WorkflowTest, RefusesRolloutsThatCannotBe) {
  const auto refusal = [](const char* member, const Json& value, const char* other, const Json& of_other) {
    Json json = fixture_body("workflow_rollout.json");
    json["rollout"][member] = value;
    json[other] = of_other;
    return refusal_as<Workflow>(json);
  };
  // 0.6 of 20 are 12, of 16 that are needed; 0.6 of 27 are enough.
  Json json = fixture_body("workflow_rollout.json");
  json["rollout"]["started_prompts"] = 20;
  json["rollout"]["unfinished"] = "discarded";
  EXPECT_THAT(refusal_as<Workflow>(json), HasSubstr("/rollout/started_prompts: "));
  json["rollout"]["started_prompts"] = 27;
  EXPECT_NO_THROW((void)parse_as<Workflow>(json));
  json["mode"] = "synchronous";
  json["staleness"] = 0;
  EXPECT_THAT(refusal_as<Workflow>(json), HasSubstr("/rollout/interrupted: "));
  EXPECT_THAT(refusal("environments", 4, "turns", 1), HasSubstr("/rollout/environments: needs turns > 1"));
  EXPECT_THAT(refusal("rewards_beside_generation", true, "rule_reward_s_per_sequence", 0),
              HasSubstr("/rollout/rewards_beside_generation: "));
  json = fixture_body("workflow_rollout.json");
  json["rollout"].erase("rewards_beside_generation");
  json["rollout"]["reward_workers"] = 8;
  EXPECT_EQ(parse_as<Workflow>(json).rollout.reward_workers, 8);
  json["rule_reward_s_per_sequence"] = 0;
  EXPECT_THAT(refusal_as<Workflow>(json), HasSubstr("/rollout/reward_workers: needs"));
}

TEST(WorkflowTest, CriticsAndRewardsHaveAValueHead) {
  for (const std::string role : {"critic", "reward"}) {
    Json json = fixture_body("workflow_ppo.json");
    json["models"][role]["value_head"] = false;
    EXPECT_EQ(refusal_as<Workflow>(json), "/models/" + role + "/value_head: expected true, a " + role +
                                              " model returns one number per token");
  }
}

TEST(WorkflowTest, RefusesBatchesThatCannotBe) {
  Json json = fixture_body("workflow_grpo.json");
  json["mini_batches"] = 33;
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/mini_batches: expected at most the 32 sequences of a global batch, got 33");
  json["mini_batches"] = 32;
  EXPECT_NO_THROW((void)parse_as<Workflow>(json));
  json["prompts"] = 2000000000;
  EXPECT_EQ(refusal_as<Workflow>(json),
            "/responses_per_prompt: more sequences in a global batch than can be counted");
}

TEST(WorkflowTest, NamesAreThoseOfDocuments) {
  EXPECT_EQ(name_of(Algorithm::grpo), "grpo");
  EXPECT_EQ(name_of(Mode::one_step_off), "one_step_off");
  EXPECT_EQ(name_of(TaskKind::training), "training");
}

TEST(WorkflowDeathTest, AskingForATaskThatIsNotThereIsABug) {
  const auto workflow = load_fixture<Workflow>("workflow_grpo.json");
  EXPECT_FALSE(workflow.has_task("critic_training"));
  EXPECT_DEATH((void)workflow.task("critic_training"), "does not hold");
}

}  // namespace
}  // namespace sextant
