#include "sextant/profile_space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/json_value.h"
#include "sextant/planners.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

FrameworkProfile profile_of(const std::string& tasks, const std::string& others = "") {
  const Json json = parse_json(R"({"schema": "sextant.framework_profile/1.1", "name": "one", "family": "one",
    "version": "1", "coefficients": "*", "modes": ["synchronous", "one_step_off"], "tasks": )" +
                               tasks + others + "}");
  return FrameworkProfile::parse(JsonView(json));
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FrameworkProfile, CombinesWhatVariesWithTheDefaultFirst) {
  const FrameworkProfile profile = profile_of(R"({"training": {"execution": {"zero_stage": 3, "packed": true},
      "recompute": "full", "vary": {"zero_stage": [1, 3], "micro_batch_tokens": [8192], "recompute": ["none"]}}})");
  const TaskProfile& training = profile.tasks.at(TaskKind::training);
  // ZeRO 3 and 1, each with and without a budget of tokens: 3 is not there twice.
  ASSERT_EQ(training.executions.size(), 4U);
  EXPECT_EQ(training.executions.front().zero_stage, 3);
  EXPECT_EQ(training.executions.front().micro_batch_tokens, 0);
  EXPECT_EQ(training.executions.back().zero_stage, 1);
  EXPECT_EQ(training.executions.back().micro_batch_tokens, 8192);
  EXPECT_EQ(training.recompute, (std::vector{Recompute::full, Recompute::none}));
}

TEST(FrameworkProfile, NamesThePathOfWhatIsWrong) {
  const auto fault = [](const std::string& tasks) { return message_of([&] { (void)profile_of(tasks); }); };
  EXPECT_NE(fault(R"({"training": {"vary": {"zero_stage": [7]}}})").find("/tasks/training"), std::string::npos);
  EXPECT_NE(fault(R"({"training": {"vary": {"no_such": [1]}}})").find("no_such"), std::string::npos);
  EXPECT_NE(fault(R"({"dreaming": {}})").find("dreaming"), std::string::npos);
}

// 80 GB cards: 0.25 and 0.5 of 8e10; the type with 2.4e10 gets 6e9 and 1.2e10.
TEST(SpaceOf, GivesTheCacheItsPartsOfTheMemoryOfEveryDeviceType) {
  const FrameworkProfile profile = profile_of(
      R"({"generation": {"execution": {"continuous_batching": true}, "kv_memory_fraction": 0.25,
          "vary": {"kv_memory_fraction": [0.5]}}})");
  const Cluster cluster = cluster_of({{"a100", 1}, {"l4", 1}});
  const ProfiledSpace space = space_of(profile, ppo_8b(), cluster);
  const auto memory = [&](const char* type) { return cluster.device_types().at(type).memory_bytes.value; };
  std::set<double> sizes, expected;
  for (const Execution& execution : space.choices.front().executions) sizes.insert(execution.kv_cache_bytes);
  for (const char* type : {"a100", "l4"}) {
    for (const double part : {0.25, 0.5}) expected.insert(std::floor(part * memory(type) / 1e6) * 1e6);
  }
  EXPECT_EQ(sizes, expected);
}

TEST(SpaceOf, LeavesOutWhatTheModelOrTheClusterCannotDo) {
  const FrameworkProfile profile = profile_of(R"({"training": {"execution": {"zero_stage": 1},
      "vary": {"expert_parallel": [2, 4, 8], "offload_weights": [true]}}})");
  Cluster cluster = cluster_of({{"a100", 1}});
  const auto executions = [&] { return space_of(profile, ppo_8b(), cluster).choices.back().executions; };
  const bool has_host_link = cluster.type_of(DeviceId{0}).host_bytes_per_s.has_value();
  // A dense model: one way to deal experts; offloading only where the cluster says how fast the host is.
  EXPECT_EQ(executions().size(), has_host_link ? 2U : 1U);
}

// An engine has all its devices in its groups of experts: those of one replica, or of several that share them.
TEST(SpaceOf, EnginesOfMixturesMayShareTheirExpertsAmongReplicas) {
  const FrameworkProfile profile = profile_of(R"({"generation": {"vary": {"expert_parallel": [8]}}})",
                                              R"(, "engine_shares_experts": {"one_step_off": false})");
  const Cluster cluster = cluster_of({{"a100", 4}});
  Workflow workflow = ppo_8b();
  const auto choices = [&] { return space_of(profile, workflow, cluster).choices.front().executions; };
  EXPECT_EQ(choices().size(), 1U);  // a dense model
  for (auto& [role, model] : workflow.models) model.experts = Experts{64, 8, 1024, 0, 0};
  ASSERT_EQ(choices().size(), 2U);
  const Execution shared = choices().back();
  EXPECT_EQ(shared.expert_parallel, 8);
  EXPECT_EQ(shared.expert_tensor_parallel, 1);
  const Task& generation = workflow.tasks.front();
  EXPECT_TRUE(can_execute(shared, generation, workflow, 8, 1, 1));    // 8 replicas of one device
  EXPECT_TRUE(can_execute(shared, generation, workflow, 8, 1, 4));    // groups of 2 replicas
  EXPECT_TRUE(can_execute(shared, generation, workflow, 1, 1, 8));    // one replica
  EXPECT_FALSE(can_execute(shared, generation, workflow, 2, 1, 16));  // half an engine
  EXPECT_FALSE(can_execute(shared, generation, workflow, 4, 1, 1));   // too few for all experts
  Workflow ahead = ppo_8b(Mode::one_step_off);
  ahead.models = workflow.models;
  EXPECT_EQ(space_of(profile, ahead, cluster).choices.front().executions.size(), 1U);
}

TEST(SpaceOf, NamesThePrecisionThatADeviceLacks) {
  const FrameworkProfile profile = profile_of(R"({"training": {}})");
  const Cluster whole = cluster_of({{"a100", 1}});
  auto types = whole.device_types();
  for (auto& [name, type] : types) type.flop_per_s.erase(Precision::bf16);
  const Cluster cluster("old", types, whole.nodes(), whole.levels());
  const std::string message = message_of([&] { (void)space_of(profile, ppo_8b(), cluster); });
  EXPECT_NE(message.find("a100 has no bf16 (it has "), std::string::npos) << message;
}

TEST(SpaceOf, ContextsDivideTheHeadsOfShardedModels) {
  const FrameworkProfile profile = profile_of(
      R"({"training": {"execution": {"zero_stage": 3}, "vary": {"context_parallel": [2, 3], "sharded_over": [2, 64]}}})");
  const Cluster cluster = cluster_of({{"a100", 2}});
  for (const Execution& execution : space_of(profile, ppo_8b(), cluster).choices.back().executions)
    EXPECT_NE(execution.sharded_over, 64);  // more than there are
  const Workflow workflow = ppo_8b();
  const Task& training = workflow.actor_training();
  Execution execution;
  execution.zero_stage = 3;
  execution.context_parallel = 3;
  EXPECT_FALSE(can_execute(execution, training, workflow, 2, 1, 3));  // 32 heads
  execution.context_parallel = 2;
  EXPECT_TRUE(can_execute(execution, training, workflow, 2, 1, 2));
}

// The engine sleeps in synchronous mode and never does one step off; a user of any layout has the choice, and a
// cluster that does not say how fast its host is has engines that stay.
TEST(SpaceOf, LetsTheEngineSleepAsTheModeHasIt) {
  const FrameworkProfile profile = profile_of(
      R"({"generation": {"execution": {"offload_weights": true}, "vary": {"offload_weights": [false]}}})",
      R"(, "engine_sleeps": {"synchronous": true, "one_step_off": false})");
  const Cluster silent = cluster_of({{"a100", 1}});
  auto types = silent.device_types();
  for (auto& [name, type] : types) type.host_bytes_per_s.reset();
  const Cluster without_host("planned", types, silent.nodes(), silent.levels());
  for (auto& [name, type] : types) type.host_bytes_per_s = assumed(3.2e10);
  const Cluster with_host("planned", types, silent.nodes(), silent.levels());
  const auto sleeps = [&](Mode mode, const Cluster& cluster, LayoutRules rules = LayoutRules::as_framework) {
    std::vector<bool> all;
    const Workflow workflow = ppo_8b(mode);
    const ProfiledSpace space = space_of(profile, workflow, cluster, rules);
    for (const Execution& execution : space.choices.front().executions)
      all.push_back(execution.offload_weights);
    return all;
  };
  EXPECT_EQ(sleeps(Mode::synchronous, with_host), std::vector{true});
  EXPECT_EQ(sleeps(Mode::one_step_off, with_host), std::vector{false});
  EXPECT_EQ(sleeps(Mode::synchronous, with_host, LayoutRules::any), (std::vector{true, false}));
  EXPECT_EQ(sleeps(Mode::synchronous, without_host), std::vector{false});
}

TEST(SpaceOf, RefusesAModeThatTheFrameworkDoesNotHave) {
  const FrameworkProfile profile = profile_of(R"({"training": {}})");
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b(Mode::asynchronous);
  const std::string message = message_of([&] { (void)space_of(profile, workflow, cluster); });
  EXPECT_NE(message.find("no mode \"asynchronous\""), std::string::npos) << message;
  EXPECT_NE(message.find("it offers synchronous"), std::string::npos) << message;
  EXPECT_NO_THROW((void)space_of(profile, workflow, cluster, LayoutRules::any));
}

TEST(SpaceOf, RefusesAnAlgorithmThatTheTrainerDoesNotRun) {
  const FrameworkProfile profile = profile_of(R"({"training": {}})", R"(, "algorithms": ["grpo"])");
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const std::string message = message_of([&] { (void)space_of(profile, workflow, cluster); });
  EXPECT_NE(message.find("does not run algorithm \"ppo\"; it offers grpo"), std::string::npos) << message;
  EXPECT_NO_THROW((void)space_of(profile, workflow, cluster, LayoutRules::any));
  Workflow custom = workflow;
  custom.algorithm = Algorithm::custom;
  EXPECT_TRUE(profile.offers(custom));
  EXPECT_TRUE(why_not_offered(profile_of(R"({"training": {}})"), workflow).empty());
}

// Prompts of 300 and responses of up to 4,096 tokens: no sequence has more than 4,396, so 4,608 is the smallest
// multiple of 512 that holds each. Two devices that share a sequence hold half of it each: 2,560.
TEST(SpaceOf, TriesTokenBudgetsDownToTheLongestSequence) {
  const FrameworkProfile profile = profile_of(R"({"training": {
      "execution": {"packed": true, "micro_batch_tokens": 16384},
      "vary": {"micro_batch_tokens": [32768], "context_parallel": [2]}}})");
  Workflow workflow = ppo_8b();
  workflow.prompt_tokens = fixed_length(300);
  workflow.response_tokens = fixed_length(4096);
  const ProfiledSpace space = space_of(profile, workflow, cluster_of({{"a100", 1}}));
  std::multiset<int> alone, shared;
  for (const Execution& execution : space.choices.back().executions)
    (execution.context_parallel == 1 ? alone : shared).insert(execution.micro_batch_tokens);
  EXPECT_EQ(space.choices.back().executions.front().micro_batch_tokens, 16384);
  EXPECT_EQ(alone, (std::multiset<int>{4608, 8192, 16384, 32768}));
  EXPECT_EQ(shared, (std::multiset<int>{2560, 4096, 8192, 16384, 32768}));
}

TEST(SpaceOf, LeavesBudgetsThatASequenceFills) {
  const FrameworkProfile profile =
      profile_of(R"({"training": {"execution": {"packed": true, "micro_batch_tokens": 16384}}})");
  Workflow workflow = ppo_8b();
  workflow.response_tokens = fixed_length(16000);
  const ProfiledSpace space = space_of(profile, workflow, cluster_of({{"a100", 1}}));
  EXPECT_LE(space.choices.back().executions.size(), 1U);
}

TEST(TakeProfile, KeepsToItsLayoutsUnlessAnyIsAsked) {
  const FrameworkProfile profile =
      profile_of(R"({"training": {"max_tensor_parallel": 1, "max_pipeline_parallel": 1}})",
                 R"(, "layout": {"even_batch": true},
                    "same_devices": {"synchronous": [["actor_generation", "actor_training"]]})");
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  take_profile(profile, LayoutRules::as_framework, request);
  EXPECT_FALSE(request.limits.balances_load);
  ASSERT_EQ(request.device_rules.same.size(), 1U);
  EXPECT_EQ(workflow.tasks[request.device_rules.same.front().first].name, task_names::kActorGeneration);
  EXPECT_EQ(workflow.tasks[request.device_rules.same.front().second].name, task_names::kActorTraining);
  EXPECT_TRUE(request.choices.back().has_rules());
  PlanRequest any{cluster, workflow, coefficients};
  take_profile(profile, LayoutRules::any, any);
  EXPECT_TRUE(any.limits.balances_load);
  EXPECT_TRUE(any.device_rules.empty());
  EXPECT_FALSE(any.choices.back().has_rules());
}

TEST(TakeProfile, KeepsTasksApartThatCannotShareDevices) {
  const FrameworkProfile profile = profile_of(
      "{}",
      R"(, "apart_devices": {"one_step_off": [["actor_generation", "actor_training", "critic_training"]]})");
  const Workflow workflow = ppo_8b(Mode::one_step_off);
  const ProfiledSpace space = space_of(profile, workflow, cluster_of({{"a100", 1}}));
  EXPECT_TRUE(space.device_rules.same.empty());
  EXPECT_EQ(space.device_rules.apart.size(), 3U);  // every two of three tasks
  EXPECT_TRUE(space_of(profile, ppo_8b(), cluster_of({{"a100", 1}})).device_rules.empty());
}

TEST(DeviceRules, CountPairsThatShareAPart) {
  DeviceRules rules;
  rules.all_or_none = {{0, 1}, {0, 2}, {1, 2}};
  EXPECT_FALSE(rules.empty());
  // Tasks 0 and 1 are on the same devices, and task 2 on some of them or on none.
  const auto is_same = [](std::size_t task, std::size_t other) { return task == 0 && other == 1; };
  EXPECT_EQ(rules.broken(is_same, [](std::size_t, std::size_t) { return true; }), 2);
  EXPECT_EQ(rules.broken(is_same, is_same), 0);
}

TEST(DeviceRules, CountPairsThatShareOutsideTheirSets) {
  DeviceRules rules;
  rules.within = {{0, 1}};
  rules.all_or_within = {{0, 2}, {1, 2}};
  const auto none = [](std::size_t, std::size_t) { return false; };
  const auto all = [](std::size_t, std::size_t) { return true; };
  const auto first_two = [](std::size_t task, std::size_t other) { return task == 0 && other == 1; };
  EXPECT_FALSE(rules.empty());
  EXPECT_EQ(rules.broken(none, none), 0);            // all apart
  EXPECT_EQ(rules.broken(first_two, first_two), 0);  // shared within the set
  EXPECT_EQ(rules.broken(all, all), 0);              // all on the same devices
  EXPECT_EQ(rules.broken(first_two, all), 2);        // task 2 on some devices of the others
  const auto last_two = [](std::size_t task, std::size_t other) { return task == 1 && other == 2; };
  EXPECT_EQ(rules.broken(last_two, last_two), 1);  // two tasks that are in no set, on the same devices
}

TEST(TakeProfile, TakesTheRulesOfEngines) {
  const FrameworkProfile profile = profile_of(
      R"({"generation": {"vary": {"offload_weights": [true]}}, "inference": {"vary": {"zero_stage": [3]}}})",
      R"(, "layout": {"outermost": "stages", "shares_all_or_within": [["actor_training", "reference_inference"]]},
         "same_layout": [["actor_training", "reference_inference"]],
         "common_options": [{"tasks": ["actor_training", "no_such_task"], "options": ["recompute"]},
                            {"tasks": ["actor_training", "critic_training"], "options": ["recompute"]}],
         "default_options": [{"tasks": ["critic_inference"], "options": ["zero_stage"]}],
         "offload_when_shared": {"actor_generation": "at_most"})");
  const Workflow workflow = ppo_8b();
  const ProfiledSpace space = space_of(profile, workflow, cluster_of({{"a100", 1}}));
  const auto name = [&](std::size_t task) { return workflow.tasks[task].name; };
  const EngineRules& rules = space.engine_rules;
  ASSERT_EQ(rules.common_options.size(), 1U);  // a rule needs two tasks
  EXPECT_EQ(rules.common_options.front().tasks.size(), 2U);
  ASSERT_EQ(rules.same_layout.size(), 1U);
  ASSERT_EQ(rules.offload_when_shared.size(), 1U);
  EXPECT_EQ(name(rules.offload_when_shared.begin()->first), task_names::kActorGeneration);
  EXPECT_EQ(name(rules.generation), task_names::kActorGeneration);
  EXPECT_EQ(name(rules.training), task_names::kActorTraining);
  EXPECT_EQ(space.device_rules.within.size(), 1U);
  EXPECT_EQ(space.device_rules.all_or_within.size(), 14U);  // every other two of six tasks
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const bool is_fixed = name(t) == task_names::kCriticInference;
    if (workflow.tasks[t].kind == TaskKind::inference) {
      EXPECT_EQ(space.choices[t].executions.size(), is_fixed ? 1U : 2U) << name(t);
    }
    EXPECT_EQ(space.choices[t].rank_order, workflow.tasks[t].kind == TaskKind::generation
                                               ? RankOrder::replicas_outermost
                                               : RankOrder::stages_outermost);
  }
  EXPECT_TRUE(space_of(profile, workflow, cluster_of({{"a100", 1}}), LayoutRules::any).engine_rules.empty());
  const auto fault = [](const std::string& others) {
    return message_of([&] { (void)profile_of("{}", ", " + others); });
  };
  EXPECT_NE(fault(R"("common_options": [{"tasks": ["a", "b"], "options": ["zero"]}])").find("\"zero\""),
            std::string::npos);
  EXPECT_NE(fault(R"("offload_when_shared": {"a": "always"})").find("at_most"), std::string::npos);
}

TEST(TakeProfile, LetsTasksShareAllDevicesOrNone) {
  const auto partly_shared = [](const Plan& plan) {
    int count = 0;
    for (const auto& [name, task] : plan.tasks) {
      for (const auto& [other_name, other] : plan.tasks) {
        const std::set<DeviceId> devices = task.devices(), others = other.devices();
        const bool overlap = std::any_of(devices.begin(), devices.end(),
                                         [&](DeviceId device) { return others.contains(device); });
        count += overlap && devices != others ? 1 : 0;
      }
    }
    return count;
  };
  const Workflow workflow = ppo_8b();
  const Cluster cluster = mixed_64();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.budget.evaluations = 4000;
  const Planner& planner = *find_planner("portfolio");
  take_profile(profile_of("{}", R"(, "layout": {"shares_all_or_none": true})"), LayoutRules::as_framework,
               request);
  EXPECT_EQ(request.device_rules.all_or_none.size(), 15U);  // every two of six tasks
  const PlanResult result = planner.plan(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_EQ(partly_shared(*result.plan), 0);
}

}  // namespace
}  // namespace sextant::test
