#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "sextant/error.h"
#include "tests/reports/export/random_trainer_plans.h"

namespace sextant::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kPlans = 300;  // per dialect
constexpr int kOddPlans = 200;
constexpr unsigned kMaxSeeds = 4000;  // some problems are refused

// The engine's part of a GPU's memory is written with three digits, so the cache is not exact.
Plan with_cache_of(Plan plan, const Plan& other) {
  constexpr double kRounding = 0.5e-3 * 80e9 + 1;
  for (auto& [name, task] : plan.tasks) {
    double& bytes = task.execution.kv_cache_bytes;
    const double wanted = other.tasks.at(name).execution.kv_cache_bytes;
    if (std::abs(bytes - wanted) < kRounding) bytes = wanted;
  }
  return plan;
}

// One line per task that differs.
std::string differences(const Plan& a, const Plan& b) {
  std::string out = a.weight_sync == b.weight_sync ? "" : "weight sync\n";
  for (const auto& [name, task] : a.tasks) {
    const TaskPlan& other = b.tasks.at(name);
    if (task == other) continue;
    out += name + ": " + describe(task) + " " + task.execution.to_json().dump() + " recompute " +
           std::string(name_of(task.recompute)) + " micro " + std::to_string(task.micro_batch_sequences) +
           " decode " + std::to_string(task.decode_batch_sequences) + "\n   not " + describe(other) + " " +
           other.execution.to_json().dump() + " recompute " + std::string(name_of(other.recompute)) +
           " micro " + std::to_string(other.micro_batch_sequences) + " decode " +
           std::to_string(other.decode_batch_sequences) + "\n";
  }
  return out;
}

// "verl-fsdp": tests/data/export/verl-fsdp.keys, or that of the family.
std::set<std::string> valid_keys(std::string name) {
  const std::filesystem::path folder = std::filesystem::path(SEXTANT_TEST_DATA) / "export";
  if (!std::filesystem::exists(folder / (name + ".keys"))) name = shipped_profile(name).family;
  std::ifstream file(folder / (name + ".keys"));
  std::set<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') keys.insert(line);
  }
  return keys;
}

class EveryDialect : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Dialect& dialect_ = dialect_table()[GetParam()];
  const FrameworkProfile& profile_ = shipped_profile(std::string(dialect_.profile));
};

TEST_P(EveryDialect, ReadsBackThePlansThatItCanSay) {
  int exported_plans = 0;
  for (unsigned seed = 0; exported_plans < kPlans && seed < kMaxSeeds; ++seed) {
    std::mt19937 random(seed);
    const Cluster cluster = gpu_cluster(1 << random() % 3);
    const Workflow workflow = random_workflow(profile_, random);
    const TrainerProblem problem{workflow, cluster, profile_};
    const Plan plan = random_sayable_plan(problem, random);
    const ExportedPlan exported = export_plan(plan, problem, dialect_);
    if (!exported.refusal.empty()) continue;
    ++exported_plans;
    const Plan back = with_cache_of(read_exported(exported.text, problem, dialect_), exported.plan);
    ASSERT_TRUE(back == exported.plan) << "seed " << seed << "\n"
                                       << differences(back, exported.plan) << exported.text;
    const ExportedPlan again = export_plan(exported.plan, problem, dialect_);
    ASSERT_THAT(again.unsaid, IsEmpty()) << "seed " << seed << "\n" << differences(again.plan, exported.plan);
    ASSERT_TRUE(again.plan == exported.plan);
  }
  EXPECT_EQ(exported_plans, kPlans);
}

TEST_P(EveryDialect, WritesTheNearestPlanOfOddOnes) {
  int exported_plans = 0;
  for (unsigned seed = 0; exported_plans < kOddPlans && seed < kMaxSeeds; ++seed) {
    std::mt19937 random(seed);
    const Cluster cluster = gpu_cluster(1 << random() % 3);
    const Workflow workflow = random_workflow(profile_, random);
    const TrainerProblem problem{workflow, cluster, profile_};
    const ExportedPlan exported = export_plan(random_odd_plan(problem, random), problem, dialect_);
    if (!exported.refusal.empty()) continue;
    ++exported_plans;
    EXPECT_THAT(exported.unsaid, Not(IsEmpty()));
    const Plan back = with_cache_of(read_exported(exported.text, problem, dialect_), exported.plan);
    ASSERT_TRUE(back == exported.plan) << "seed " << seed << "\n"
                                       << differences(back, exported.plan) << exported.text;
    const ExportedPlan again = export_plan(exported.plan, problem, dialect_);
    ASSERT_THAT(again.unsaid, IsEmpty()) << "seed " << seed << "\n" << differences(again.plan, exported.plan);
    ASSERT_TRUE(again.plan == exported.plan);
  }
  EXPECT_EQ(exported_plans, kOddPlans);
}

TEST_P(EveryDialect, WritesKeysOfTheFrameworkOnly) {
  const std::set<std::string> valid = valid_keys(std::string(dialect_.profile));
  ASSERT_GT(valid.size(), 100U);
  std::set<std::string> unknown;
  for (unsigned seed = 0; seed < kPlans; ++seed) {
    std::mt19937 random(seed);
    const Cluster cluster = gpu_cluster(2);
    const Workflow workflow = random_workflow(profile_, random);
    const TrainerProblem problem{workflow, cluster, profile_};
    const Plan plan = random_sayable_plan(problem, random);
    const NearestPlan nearest = nearest_plan(plan, workflow, cluster, profile_, dialect_.rules(profile_));
    if (!nearest.refusal.empty()) continue;
    const TrainerConfig config = trainer_config_of(nearest.plan, workflow, cluster);
    if (!dialect_.refusal(config, problem).empty()) continue;
    std::set<std::string> written;
    const TrainerScript script = dialect_.write(config, problem);
    for (const TrainerSetting& one : script.settings.all()) {
      if (!valid.contains(one.key)) unknown.insert(one.key);
      EXPECT_TRUE(written.insert(one.key).second) << one.key << " is written twice";
    }
  }
  EXPECT_THAT(unknown, IsEmpty());
}

TEST_P(EveryDialect, StatesPrecisionsInKeysOfTheFramework) {
  const std::set<std::string> valid = valid_keys(std::string(dialect_.profile));
  for (const Precision precision : {Precision::fp16, Precision::fp32, Precision::fp8}) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      std::mt19937 random(seed);
      const Cluster cluster = gpu_cluster(2);
      Workflow workflow = random_workflow(profile_, random);
      workflow.precision = precision;
      const TrainerProblem problem{workflow, cluster, profile_};
      const ExportedPlan exported = export_plan(random_sayable_plan(problem, random), problem, dialect_);
      if (!exported.refusal.empty()) continue;
      const TrainerScript script = dialect_.write(trainer_config_of(exported.plan, workflow, cluster), problem);
      for (const TrainerSetting& one : script.settings.all()) EXPECT_TRUE(valid.contains(one.key)) << one.key;
      EXPECT_EQ(exported.text.find("which the script does not say") == std::string::npos,
                script.states_precision);
      EXPECT_FALSE(script.states_precision && precision == Precision::fp8);
    }
  }
}

TEST_P(EveryDialect, TheProfileNamesOptionsOfTheFramework) {
  const std::set<std::string> valid = valid_keys(std::string(dialect_.profile));
  for (const auto& [option, names] : profile_.option_names) {
    std::istringstream all(names);
    for (std::string name; std::getline(all, name, ',');) {
      name.erase(0, name.find_first_not_of(" +-"));
      EXPECT_TRUE(valid.contains(name)) << option << ": " << name;
    }
  }
}

TEST(TrainerScripts, QuoteNamesForTheShell) {
  const FrameworkProfile& profile = shipped_profile("verl-fsdp");
  std::mt19937 random(1);
  const Cluster cluster = gpu_cluster(1);
  Workflow workflow = random_workflow(profile, random);
  workflow.models.at("actor").name = "x\n$(touch bad)";
  const TrainerProblem problem{workflow, cluster, profile};
  Plan plan = random_sayable_plan(problem, random);
  plan.name = "a b\n`touch bad`";
  const std::string text = export_plan(plan, problem, verl_fsdp_dialect()).text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("touch bad") != std::string::npos) {
      EXPECT_EQ(line.substr(0, 2), "# ") << line;
    }
  }
  EXPECT_THAT(text, HasSubstr("trainer.experiment_name=a-b-touch-bad\n"));
}

// "grpo of X-portfolio" would name the planner in the user's logs.
TEST(TrainerScripts, HaveTheirOwnNameIfAPlannerNamedThePlan) {
  for (const char* name : {"verl-fsdp", "openrlhf", "nemo-rl-dtensor"}) {
    const FrameworkProfile& profile = shipped_profile(name);
    std::mt19937 random(1);
    const Cluster cluster = gpu_cluster(1);
    Workflow workflow = random_workflow(profile, random);
    const auto is_refused = [&] {  // NeMo RL has neither critics nor reward models
      return workflow.has_task(task_names::kCriticTraining) || workflow.has_task(task_names::kRewardInference);
    };
    while (is_refused()) workflow = random_workflow(profile, random);
    workflow.name = "grpo of X";
    const TrainerProblem problem{workflow, cluster, profile};
    Plan plan = random_sayable_plan(problem, random);
    plan.name = "grpo of X-verl-colocated";
    const ExportedPlan exported = export_plan(plan, problem, *find_dialect(name));
    const std::string& text = exported.text;
    ASSERT_EQ(exported.refusal, "") << name;
    EXPECT_THAT(text, HasSubstr("grpo-of-X-" + profile.family)) << name;
    EXPECT_THAT(text, Not(HasSubstr("grpo-of-X-verl-colocated"))) << name;
    EXPECT_THAT(text, HasSubstr("# Plan: grpo of X-verl-colocated\n")) << name;
    plan.name = "mine";
    EXPECT_THAT(export_plan(plan, problem, *find_dialect(name)).text, Not(HasSubstr("grpo-of-X"))) << name;
  }
}

// Two replicas of unequal shares on one node, worked by hand.
TEST(TrainerScripts, ListWhatTheFrameworkCannotSayWithItsCost) {
  const FrameworkProfile& profile = shipped_profile("verl-fsdp");
  std::mt19937 random(1);
  const Cluster cluster = gpu_cluster(1);
  Workflow workflow = random_workflow(profile, random);
  workflow.mode = Mode::synchronous;
  const TrainerProblem problem{workflow, cluster, profile};
  Plan plan = export_plan(random_sayable_plan(problem, random), problem, verl_fsdp_dialect()).plan;
  TaskPlan& training = plan.tasks.at(task_names::kActorTraining);
  training.replicas.front().batch_share *= 1.5;
  training.replicas.back().batch_share *= 0.5;
  const PlanTime time = [&](const Plan& one) -> std::optional<double> {
    return one.tasks.at(task_names::kActorTraining).replicas.front().batch_share ==
                   training.replicas.front().batch_share
               ? 100.0
               : 103.0;
  };
  const ExportedPlan exported = export_plan(plan, problem, verl_fsdp_dialect(), time);
  ASSERT_EQ(exported.unsaid.size(), 1U);
  EXPECT_EQ(exported.unsaid.front(),
            "actor_training: all replicas get equal parts of the batch (costs 3.00 s an iteration)");
  EXPECT_THAT(exported.text, HasSubstr("#   - " + exported.unsaid.front() + "\n"));
}

// A plan that the framework can say, whose actor trains on several replicas of several GPUs.
Plan plan_of_wide_replicas(const TrainerProblem& problem, const Dialect& dialect) {
  for (unsigned seed = 0; seed < kMaxSeeds; ++seed) {
    std::mt19937 random(seed);
    const ExportedPlan exported = export_plan(random_sayable_plan(problem, random), problem, dialect);
    if (!exported.refusal.empty()) continue;
    const std::vector<Replica>& replicas = exported.plan.tasks.at(task_names::kActorTraining).replicas;
    if (replicas.size() > 1 && replicas.front().stages.front().width() > 1) return exported.plan;
  }
  throw std::runtime_error("no such plan");
}

TEST(TrainerScripts, NumbersOfReplicasAreNoDifferenceButTheirGpusAre) {
  const FrameworkProfile& profile = shipped_profile("verl-megatron");
  const Dialect& dialect = *find_dialect("verl-megatron");
  std::mt19937 random(1);
  const Cluster cluster = gpu_cluster(1);
  Workflow workflow = random_workflow(profile, random);
  workflow.mode = Mode::synchronous;
  const TrainerProblem problem{workflow, cluster, profile};
  Plan plan = plan_of_wide_replicas(problem, dialect);
  std::vector<Replica>& replicas = plan.tasks.at(task_names::kActorTraining).replicas;
  std::reverse(replicas.begin(), replicas.end());
  EXPECT_THAT(export_plan(plan, problem, dialect).unsaid, IsEmpty());
  std::swap(replicas.front().stages.front().devices.front(), replicas.back().stages.front().devices.front());
  EXPECT_THAT(
      export_plan(plan, problem, dialect).unsaid,
      Contains(HasSubstr("replicas take their GPUs in the order in which the cluster lists the nodes")));
}

// NeMo RL has a rule for engines by mode and another for tasks that share GPUs: a plan that follows both is exported
// as planned, without a pair of sentences that cancel each other.
TEST(TrainerScripts, AnEngineThatSleepsByItsModeIsAsPlanned) {
  const FrameworkProfile& profile = shipped_profile("nemo-rl-dtensor");
  const Dialect& dialect = *find_dialect("nemo-rl-dtensor");
  const Cluster cluster = gpu_cluster(2);
  int checked = 0;
  for (unsigned seed = 0; seed < kPlans; ++seed) {
    std::mt19937 random(seed);
    const Workflow workflow = random_workflow(profile, random);
    const auto sleeps = profile.engine_sleeps.find(workflow.mode);
    if (sleeps == profile.engine_sleeps.end()) continue;
    const TrainerProblem problem{workflow, cluster, profile};
    Plan plan = random_odd_plan(problem, random);
    plan.tasks.at(task_names::kActorGeneration).execution.offload_weights = sleeps->second;
    for (const std::string& sentence : export_plan(plan, problem, dialect).unsaid) {
      EXPECT_THAT(sentence, Not(HasSubstr("actor_generation: its weights"))) << "seed " << seed;
      EXPECT_THAT(sentence, Not(HasSubstr("actor_generation: the engine"))) << "seed " << seed;
    }
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

// ROLL lists the GPUs of every role: tasks that share some of theirs are as planned.
TEST(TrainerScripts, RollSaysTasksThatShareSomeGpus) {
  const FrameworkProfile& profile = shipped_profile("roll");
  const Cluster cluster = gpu_cluster(2);
  int checked = 0;
  for (unsigned seed = 0; seed < kMaxSeeds && checked < kOddPlans; ++seed) {
    std::mt19937 random(seed);
    Workflow workflow = random_workflow(profile, random);
    if (workflow.has_task(task_names::kRewardInference)) continue;
    workflow.mode = Mode::synchronous;
    const TrainerProblem problem{workflow, cluster, profile};
    Plan plan = export_plan(random_sayable_plan(problem, random), problem, roll_dialect()).plan;
    TaskPlan& engine = plan.tasks.at(task_names::kActorGeneration);
    const int stages = engine.replicas.front().pipeline_parallel(),
              width = engine.replicas.front().stages.front().width();
    if (stages * width > 4) continue;
    std::vector<DeviceId> devices;
    for (int i = 2; i < 14; ++i) devices.push_back(DeviceId{i});
    devices.resize(devices.size() / static_cast<std::size_t>(stages * width) *
                   static_cast<std::size_t>(stages * width));
    engine.replicas = replicas_on(devices, even_stages(32, stages), width, false);
    engine.decode_batch_sequences = 100;
    const ExportedPlan exported = export_plan(plan, problem, roll_dialect());
    ASSERT_THAT(exported.unsaid, IsEmpty()) << "seed " << seed;
    const Plan back = with_cache_of(read_exported(exported.text, problem, roll_dialect()), plan);
    ASSERT_TRUE(back == plan) << differences(back, plan) << exported.text;
    const std::string mapping = "list(range(2," + std::to_string(2 + devices.size()) + "))";
    EXPECT_THAT(exported.text, HasSubstr(mapping));
    ++checked;
  }
  EXPECT_EQ(checked, kOddPlans);
}

TEST(TrainerScripts, RollListsOfGpusAreReadAsPythonReadsThem) {
  EXPECT_EQ(listed_devices("list(range(0,4))", "x"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(listed_devices("list(range(2)) + [9, 8]", "x"), (std::vector<int>{0, 1, 8, 9}));
  EXPECT_EQ(listed_devices("list([6,7,14,15])", "x"), (std::vector<int>{6, 7, 14, 15}));
  EXPECT_EQ(listed_devices("list(range(1, 8, 3))", "x"), (std::vector<int>{1, 4, 7}));
  for (const char* bad :
       {"", "range(0,4", "[0, 0]", "list(range(0,99999999))", "f(1)", "list(range(0,4,0))", "[-1]"}) {
    try {
      (void)listed_devices(bad, "run.yaml:3: actor_train.device_mapping");
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("run.yaml:3: actor_train.device_mapping: expected GPUs such as"))
          << bad;
    }
  }
}

// An engine of 8 GPUs whose 4 replicas of 2 share the experts, in each framework's words.
TEST(TrainerScripts, EnginesWithDataParallelAttention) {
  struct Case {
    const char* profile;
    std::vector<std::string> lines;
  };
  const std::vector<Case> cases{
      {"verl-fsdp",
       {"rollout.tensor_model_parallel_size=2", "rollout.data_parallel_size=4",
        "rollout.expert_parallel_size=8"}},
      {"nemo-rl-dtensor", {"tensor_parallel_size: 2", "expert_parallel_size: 8"}},
      {"slime",
       {"--rollout-num-gpus-per-engine 8", "--sglang-ep-size 8", "--sglang-enable-dp-attention",
        "--sglang-dp-size 4", "--sglang-moe-dense-tp-size 1", "--sglang-server-concurrency 400"}}};
  for (const Case& one : cases) {
    const Dialect& dialect = *std::find_if(dialect_table().begin(), dialect_table().end(),
                                           [&](const Dialect& known) { return known.profile == one.profile; });
    const FrameworkProfile& profile = shipped_profile(std::string(dialect.profile));
    const Cluster cluster = gpu_cluster(2);
    Workflow workflow;
    Plan plan;
    std::mt19937 random(1);
    do {  // a mixture without other tasks than those that every framework has
      workflow = random_workflow(profile, random);
    } while (!workflow.models.at("actor").experts || workflow.mode != Mode::synchronous ||
             workflow.has_task(task_names::kRewardInference) || workflow.has_task(task_names::kCriticTraining));
    const TrainerProblem problem{workflow, cluster, profile};
    plan = random_sayable_plan(problem, random);
    TaskPlan& engine = plan.tasks.at(task_names::kActorGeneration);
    engine.execution.expert_parallel = 8;
    engine.execution.expert_tensor_parallel = 1;
    engine.execution.prefill_chunk_tokens = 8192;
    engine.decode_batch_sequences = 100;
    const std::set<DeviceId> devices = engine.devices();
    engine.replicas = replicas_on({devices.begin(), devices.end()}, {32}, 2, false);
    engine.execution.offload_weights = true;
    const ExportedPlan exported = export_plan(plan, problem, dialect);
    EXPECT_TRUE(exported.plan.tasks.at(task_names::kActorGeneration) == engine) << one.profile;
    for (const std::string& line : one.lines) EXPECT_THAT(exported.text, HasSubstr(line)) << one.profile;
    const Plan back = with_cache_of(read_exported(exported.text, problem, dialect), exported.plan);
    EXPECT_TRUE(back == exported.plan) << one.profile << ": " << differences(back, exported.plan);
  }
}

// Routed experts are divided by the devices of all replicas, other weights by those of one.
TEST(TrainerScripts, EnginesThatShareExpertsHoldAPartOfThem) {
  TrainerTask engine;
  engine.tensor_parallel = 2;
  engine.options.execution.kv_cache_bytes = 10e9;
  Model model;
  model.layers = 10;
  model.hidden = 1000;
  model.heads = model.kv_heads = 10;
  model.head_dim = 100;
  model.experts = Experts{8, 2, 4000, 0, 0};
  const double experts = 2 * model.layers * model.layer_expert_parameters();
  const double others = 2 * model.parameters() - experts;
  const auto fraction = [&] { return engine_memory_fraction(engine, model, Precision::bf16, 80e9); };
  EXPECT_NEAR(fraction(), 0.03 + (10e9 + (others + experts) / 2) / 80e9, 0.5e-3);
  engine.options.execution.expert_parallel = 8;
  engine.options.execution.expert_tensor_parallel = 1;
  EXPECT_NEAR(fraction(), 0.03 + (10e9 + others / 2 + experts / 8) / 80e9, 0.5e-3);
  EXPECT_NEAR(kv_cache_bytes_of(fraction(), engine, model, Precision::bf16, 80e9), 10e9, 0.5e-3 * 80e9);
}

// Megatron offloads the fraction of the optimizer that a configuration states, and none by default.
TEST(TrainerScripts, VerlStatesTheFractionOfAnOptimizerOnTheHost) {
  const FrameworkProfile& profile = shipped_profile("verl-megatron");
  const Dialect& dialect = *find_dialect("verl-megatron");
  const Cluster cluster = gpu_cluster(1);
  std::mt19937 random(1);
  Workflow workflow = random_workflow(profile, random);
  workflow.mode = Mode::synchronous;
  const TrainerProblem problem{workflow, cluster, profile};
  Plan plan = random_sayable_plan(problem, random);
  plan.tasks.at(task_names::kActorTraining).execution.offload_optimizer = true;
  std::string text = export_plan(plan, problem, dialect).text;
  EXPECT_TRUE(
      read_exported(text, problem, dialect).tasks.at(task_names::kActorTraining).execution.offload_optimizer);
  const std::string fraction =
      "+actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction=1.0";
  const std::size_t at = text.find(fraction);
  ASSERT_NE(at, std::string::npos) << text;
  text.erase(at, fraction.size());
  EXPECT_FALSE(
      read_exported(text, problem, dialect).tasks.at(task_names::kActorTraining).execution.offload_optimizer);
}

TEST(TrainerScripts, DegreesOfAReaLAreThoseOfItsGrammar) {
  const ArealDegrees all = areal_degrees("megatron:d2t4p3c2e8", "x");
  EXPECT_EQ(all.gpus(), 48);
  EXPECT_EQ(all.experts, 8);
  const ArealDegrees split = areal_degrees("megatron:(attn:d4p4t2|ffn:d2p4t1e4)", "x");
  EXPECT_EQ(split.gpus(), 32);
  EXPECT_EQ(split.experts, 4);
  EXPECT_EQ(split.expert_tensor, 1);
  EXPECT_EQ(areal_degrees("megatron:(attn:d4p4t2|ffn:d2p4e4)", "x").expert_tensor, 1);  // not the stage's
  for (const char* bad : {"", "fsdp", "fsdp:", "fsdp:d", "fsdp:x4", "fsdp:d0", "megatron:(attn:d4|ffn:c2)"})
    EXPECT_THROW((void)areal_degrees(bad, "x"), Error) << bad;
}

// tau2/config_30b_moe_airline.yaml and config_235b_moe_airline.yaml of AReaL have such backends.
TEST(TrainerScripts, MegatronOfAReaLDoesNotSplitExpertsUnlessItIsStated) {
  EXPECT_EQ(areal_degrees("megatron:(attn:d4p4t2|ffn:d2p4e4)", "x").expert_tensor, 1);
  EXPECT_EQ(areal_degrees("megatron:(attn:d4p4t2|ffn:d2p4t2e2)", "x").expert_tensor, 2);
  EXPECT_EQ(areal_degrees("megatron:d2t4e2", "x").expert_tensor, 1);
  EXPECT_EQ(areal_degrees("fsdp:d4t2", "x").expert_tensor, 0);
  EXPECT_EQ(areal_degrees("sglang:d2t8", "x").expert_tensor, 0);
}

INSTANTIATE_TEST_SUITE_P(Trainers, EveryDialect, ::testing::Range(std::size_t{0}, dialect_table().size()),
                         [](const auto& dialect) {
                           std::string name(dialect_table()[dialect.param].profile);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sextant::test
