// Ordinary questions get a plan that the framework can run, and that is no slower than what people write down.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "calibrate/families.h"
#include "costmodel/problem/coefficient_values.h"
#include "costmodel/terms/memory.h"
#include "planner/portfolio/portfolio.h"
#include "planner/request/shapes.h"
#include "sextant/document.h"
#include "sextant/error.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"
#include "sextant/run.h"
#include "tests/planner/ordinary_questions.h"

namespace sextant::test {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(SEXTANT_SOURCE_DIR) / "data";
const fs::path kField = fs::path(SEXTANT_TEST_DATA) / "field";

const std::vector<FrameworkProfile>& profiles() {
  static const std::vector<FrameworkProfile> all = load_framework_profiles(kData / "frameworks");
  return all;
}

Coefficients coefficients_of(const std::string& framework) {
  fs::path file = kData / "coefficients" / (std::string(family_of_framework(framework)) + ".json");
  if (!fs::exists(file)) file = kData / "coefficients" / "any.json";
  return load_document<Coefficients>(file).content;
}

struct PredictionQuery {
  Cluster cluster;
  Workflow workflow;
  const FrameworkProfile& profile;
  Coefficients coefficients;
};

// memory_share: part of a device's memory that the plan may need.
PlanResult answer(const PredictionQuery& asked, double memory_share = 1) {
  PlanRequest request{asked.cluster, asked.workflow, asked.coefficients, asked.profile.coefficients};
  take_profile(asked.profile, LayoutRules::as_framework, request);
  constexpr std::uint64_t kEvaluations = 4000;  // the same plan on every machine
  request.budget.evaluations = kEvaluations;
  request.memory_share = memory_share;
  return find_planner("portfolio")->plan(request);
}

// Whether it fits or not: some that people wrote down are not sure to (field/01 b, field/02).
double time_of(const PredictionQuery& asked, const Plan& plan) {
  return predict(asked.cluster, asked.workflow, plan, asked.coefficients, asked.profile.coefficients)
      .iteration_s;
}

PredictionQuery field_case(const std::string& folder, const std::string& prefix, const std::string& framework) {
  const FrameworkProfile& profile = *find_profile(profiles(), framework);
  return {load_document<Cluster>(kField / folder / (prefix + "cluster.json")).content,
          load_document<Workflow>(kField / folder / (prefix + "workflow.json")).content, profile,
          coefficients_of(profile.coefficients)};
}

// Recipes of the threads: FSDP over all GPUs, vLLM with 48 GB for its cache (field/01).
TEST(OrdinaryQuestion, Grpo7bIsPlannedNoSlowerThanByHand) {
  for (const std::string which : {"a", "b", "c", "d"}) {
    const PredictionQuery asked = field_case("01-plan-7b-grpo", which + "-", "verl");
    const PlanResult result = answer(asked);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << which << ": " << result.message;
    const Plan hand = load_document<Plan>(kField / "01-plan-7b-grpo" / (which + "-hand.json")).content;
    EXPECT_LE(result.prediction->iteration_s, time_of(asked, hand)) << which;
    for (const auto& [name, task] : result.plan->tasks) {
      EXPECT_EQ(task.replicas.front().pipeline_parallel(), 1) << name;  // FSDP and vLLM in verl have none
      if (name == task_names::kActorGeneration) continue;
      EXPECT_EQ(task.tensor_parallel(task.replicas.front().stages.front()), 1) << name;
      EXPECT_EQ(task.execution.zero_stage, 3) << name;
    }
    EXPECT_TRUE(is_even(*result.plan, asked.workflow.sequences())) << which;
  }
}

// Expert parallelism of 8, which people use, is among what is tried; under this model tensor parallelism inside
// the experts is faster here.
TEST(OrdinaryQuestion, MixtureIsPlannedNoSlowerThanByHand) {
  const PredictionQuery asked = field_case("02-plan-qwen3-30b-a3b", "", "verl-megatron");
  const PlanResult result = answer(asked);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const Plan hand = load_document<Plan>(kField / "02-plan-qwen3-30b-a3b" / "hand-plan.json").content;
  EXPECT_LE(result.prediction->iteration_s, time_of(asked, hand));
  const ProfiledSpace space = space_of(asked.profile, asked.workflow, asked.cluster);
  const auto& executions = space.choices.back().executions;
  EXPECT_TRUE(std::any_of(executions.begin(), executions.end(),
                          [](const Execution& execution) { return execution.expert_parallel == 8; }));
}

// The most ordinary question of all: Qwen3-14B, 512 x 8 sequences, on four nodes of eight H100.
TEST(OrdinaryQuestion, Grpo14bOn32H100IsPlanned) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  const OrdinaryQuestion question{"H100-SXM-80GB", 4, "Qwen3-14B", "verl", Algorithm::grpo, 512, 8, 1500, 4096};
  const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
  const PredictionQuery asked{cluster_of(question, facts), workflow_of(question, facts), profile,
                              coefficients_of(profile.coefficients)};
  const PlanResult result = answer(asked);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_TRUE(is_even(*result.plan, asked.workflow.sequences()));
  EXPECT_LE(result.prediction->iteration_s,
            time_of(asked, recipe_of(question, profile, asked.workflow, asked.cluster)));
}

// The recipe with as few tokens in a micro-batch as one sequence may have, 1024 + 4096, sharded weights, states
// on the host and half of the recipe's cache: what users of OpenRLHF do with cards of 40 GB.
Plan lean_recipe(const OrdinaryQuestion& question, const PredictionQuery& asked) {
  Plan plan = recipe_of(question, asked.profile, asked.workflow, asked.cluster);
  for (const Task& task : asked.workflow.tasks) {
    TaskPlan& layout = plan.tasks.at(task.name);
    layout.execution.offload_weights = true;
    if (task.kind == TaskKind::generation) {
      layout.execution.kv_cache_bytes = 8e9;
      continue;
    }
    layout.execution.zero_stage = 3;
    layout.execution.micro_batch_tokens = 5120;
  }
  return plan;
}

TEST(OrdinaryQuestion, OpenrlhfIsPlannedOnCardsOf40Gb) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  for (const OrdinaryQuestion& question :
       {OrdinaryQuestion{"A100-SXM-40GB", 2, "Qwen2.5-7B", "openrlhf", Algorithm::ppo, 512, 1, 600, 4096},
        OrdinaryQuestion{"A100-SXM-40GB", 2, "Qwen2.5-14B", "openrlhf", Algorithm::grpo, 64, 8, 800, 4096}}) {
    const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
    const PredictionQuery asked{cluster_of(question, facts), workflow_of(question, facts), profile,
                                coefficients_of(profile.coefficients)};
    const PlanResult result = answer(asked);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << question.name() << ": " << result.message;
    EXPECT_LE(result.prediction->iteration_s, time_of(asked, lean_recipe(question, asked))) << question.name();
  }
}

// Cards of 24 GiB, with room for the error of the memory prediction. The passes of training, old_log_prob and the
// reference all peak above it as the search would have them, so that no change of one of them makes the plan fit; with
// full recomputation and 8,192 tokens a micro-batch it needs 18.6 GiB and takes 480 s.
TEST(OrdinaryQuestion, Grpo1500mIsPlannedWithHeadroomOnCardsOf24Gb) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  const OrdinaryQuestion question{"RTX-4090", 1, "Qwen2.5-1.5B", "verl-fsdp", Algorithm::grpo,
                                  512,        8, 1500,           4096};
  const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
  const PredictionQuery asked{cluster_of(question, facts), workflow_of(question, facts), profile,
                              coefficients_of(profile.coefficients)};
  for (const double share : {0.95, 0.85, 0.8}) {
    const PlanResult result = answer(asked, share);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << share << ": " << result.message;
    EXPECT_LE(result.prediction->iteration_s, 480) << share;
    // A share of what the KV cache leaves of the device, while any task runs.
    const Hardware<double> hardware(asked.cluster);
    const auto works = works_of(asked.workflow, *result.plan, asked.cluster);
    for (const auto& [device, needs] :
         memory_needs(works, resolve(asked.coefficients, hardware, profile.coefficients), hardware)) {
      const double capacity = asked.cluster.type_of(device).memory_bytes.value;
      for (const MemoryNeed& need : needs)
        EXPECT_LE(need.predicted_bytes, share * (capacity - need.reserved_bytes)) << share;
    }
  }
}

// No response reaches 16,384 tokens: 1253 e^(0.6 x 3.1) = 8,000 is the longest of 512.
TEST(OrdinaryQuestion, TrlPadsToResponsesNotToTheirCap) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  std::map<int, Prediction> at_cap;
  for (const int cap : {16384, 32768}) {
    const OrdinaryQuestion question{"A100-SXM-80GB", 1, "Qwen2.5-7B", "trl", Algorithm::grpo, 64, 8, 1500, cap};
    const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
    const PredictionQuery asked{cluster_of(question, facts), workflow_of(question, facts), profile,
                                coefficients_of(profile.coefficients)};
    const Plan plan = recipe_of(question, profile, asked.workflow, asked.cluster);
    at_cap[cap] = predict(asked.cluster, asked.workflow, plan, asked.coefficients, profile.coefficients);
    EXPECT_EQ(answer(asked).outcome, PlanOutcome::found) << cap;
  }
  const auto training_s = [&](int cap) { return at_cap.at(cap).tasks.at(task_names::kActorTraining).time_s; };
  EXPECT_NEAR(training_s(32768) / training_s(16384), 1, 0.01);
  EXPECT_NEAR(at_cap.at(32768).memory.front().needed_bytes() / at_cap.at(16384).memory.front().needed_bytes(),
              1, 0.01);
}

TEST(OrdinaryQuestion, TrlHasNoTrainerForPpo) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  const OrdinaryQuestion question{"A100-SXM-80GB", 1, "Qwen2.5-1.5B", "trl", Algorithm::ppo, 512, 1, 400, 1024};
  const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
  EXPECT_THROW((void)space_of(profile, workflow_of(question, facts), cluster_of(question, facts)), Error);
  EXPECT_NE(why_not_offered(profile, workflow_of(question, facts)).find("it offers grpo"), std::string::npos);
}

TEST(OrdinaryQuestions, AreSixtyAndTheirRecipesCanBeRun) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  const std::vector<OrdinaryQuestion> questions = ordinary_questions();
  EXPECT_GE(questions.size(), 60U);
  std::set<std::string> names;
  for (const OrdinaryQuestion& question : questions) {
    EXPECT_TRUE(names.insert(question.name()).second) << question.name();
    const FrameworkProfile* profile = find_profile(profiles(), question.framework);
    ASSERT_NE(profile, nullptr) << question.framework;
    const Cluster cluster = cluster_of(question, facts);
    const Workflow workflow = workflow_of(question, facts);
    EXPECT_NO_THROW(check_plan(recipe_of(question, *profile, workflow, cluster), workflow, cluster))
        << question.name();
  }
}

TEST(FrameworkProfiles, HaveNamesOfTheirOwnAndOneDefaultAFamily) {
  std::set<std::string> names, families, with_default;
  for (const FrameworkProfile& profile : profiles()) {
    EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
    families.insert(profile.family);
    if (profile.is_family_default) {
      EXPECT_TRUE(with_default.insert(profile.family).second) << profile.family;
    }
    EXPECT_EQ(find_profile(profiles(), profile.name)->name, profile.name);
    EXPECT_EQ(profile.same_devices.contains(Mode::synchronous), profile.name != "prime-rl") << profile.name;
    EXPECT_FALSE(profile.same_devices.empty()) << profile.name;
    for (const TaskKind kind : {TaskKind::generation, TaskKind::inference, TaskKind::training})
      EXPECT_TRUE(profile.tasks.contains(kind)) << profile.name;
  }
  EXPECT_EQ(families, with_default);
  for (const char* family :
       {"verl", "nemo-rl", "openrlhf", "areal", "prime-rl", "roll", "skyrl", "slime", "trl", "real", "any"})
    EXPECT_TRUE(families.contains(family)) << family;
  EXPECT_EQ(find_profile(profiles(), "VERL")->name, "verl-fsdp");
  EXPECT_EQ(find_profile(profiles(), "nonsense"), nullptr);
}

// True if the search under the profile tries these degrees and stages for the task, whatever its sizes.
bool tries(const FrameworkProfile& profile, const Workflow& workflow, const Cluster& cluster, const Task& task,
           const TaskPlan& layout) {
  ShapeLimits limits;
  limits.choices = space_of(profile, workflow, cluster).choices;
  limits.memory = memory_range_of(cluster);
  limits.tensor_parallel_limit = cluster.nodes().front().devices;
  const std::vector<Stage>& stages = layout.replicas.front().stages;
  std::vector<int> layers;
  for (const Stage& stage : stages) layers.push_back(stage.layers);
  const auto& executions = limits.choices[static_cast<std::size_t>(&task - workflow.tasks.data())].executions;
  for (const Shape& shape : shapes_of(task, workflow, static_cast<int>(layout.devices().size()), limits)) {
    const Execution& execution = executions[static_cast<std::size_t>(shape.execution)];
    if (shape.layers == layers && shape.tensor_parallel == stages.front().width() &&
        execution.context_parallel == layout.execution.context_parallel &&
        execution.expert_parallel == layout.execution.expert_parallel)
      return true;
  }
  return false;
}

// The measured runs of the trainers that are based on Megatron: DeepSeek-V3 in 16 stages of 3, 4 and 2 layers,
// engines over 4 machines.
TEST(FrameworkProfiles, TryEveryLayoutThatMegatronsRunsWereMeasuredWith) {
  const Runs published = load_document<Runs>(kData / "runs/rl.json").content;
  int uneven = 0;
  for (const sextant::Run& run : published.runs) {
    const bool is_verl = run.framework.starts_with("verl-megatron");
    if (!is_verl && !run.framework.starts_with("nemo-rl")) continue;
    const Plan& plan = published.plan_of(run);
    const Workflow& workflow = published.workflow_of(run);
    const Execution& training = plan.tasks.at(task_names::kActorTraining).execution;
    if (!is_verl && training.zero_stage != 1) continue;  // DTensor's
    const FrameworkProfile& profile = *find_profile(profiles(), is_verl ? "verl-megatron" : "nemo-rl-megatron");
    for (const Task& task : workflow.tasks) {
      const TaskPlan& layout = plan.tasks.at(task.name);
      const std::vector<Stage>& stages = layout.replicas.front().stages;
      uneven += stages.front().layers != stages[stages.size() / 2].layers ? 1 : 0;
      EXPECT_TRUE(tries(profile, workflow, published.cluster_of(run), task, layout))
          << run.name << ", " << task.name << ": " << describe(layout);
    }
  }
  EXPECT_GE(uneven, 20);
}

// 61 layers, a prime: measured on 256 H100 with 3 + 14 x 4 + 2 layers, 134 s for 512 sequences (predicted 131).
TEST(OrdinaryQuestion, DeepSeekV3On256H100IsPlannedNoSlowerThanItsRecipe) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  const OrdinaryQuestion question{
      "H100-SXM-80GB", 32, "DeepSeek-V3", "nemo-rl-megatron", Algorithm::grpo, 64, 8, 800, 1536};
  const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
  const PredictionQuery asked{cluster_of(question, facts), workflow_of(question, facts), profile,
                              coefficients_of(profile.coefficients)};
  const PlanResult result = answer(asked);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  constexpr double kRecipe_s = 134;
  EXPECT_LT(result.prediction->iteration_s, kRecipe_s);
}

// 48 of 64 H100 generate for 128 x 16 sequences in 12 engines of 4: 8 engines have 171 sequences, 4 have 170.
// The trainer's replicas must have equally many.
TEST(FrameworkProfiles, EnginesOfAServerNeedNoEvenBatch) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  const OrdinaryQuestion question{
      "H100-SXM-80GB", 8, "Qwen3-30B-A3B", "areal", Algorithm::grpo, 128, 16, 1000, 4096};
  const Cluster cluster = cluster_of(question, facts);
  const Workflow workflow = workflow_of(question, facts);
  ShapeLimits limits;
  limits.choices = space_of(*find_profile(profiles(), "areal"), workflow, cluster).choices;
  const auto has_12 = [&](const Task& task) {
    const std::vector<Shape> shapes = shapes_of(task, workflow, 48, limits);
    return std::any_of(shapes.begin(), shapes.end(), [](const Shape& shape) {
      return shape.data_parallel() == 12 && shape.sequences.front() == 171 && shape.sequences.back() == 170;
    });
  };
  EXPECT_TRUE(has_12(workflow.actor_generation()));
  EXPECT_FALSE(has_12(workflow.actor_training()));
}

// The trainers of verl, NeMo RL and slime generate on separate GPUs: one plan once mixed both on 12 of 16 H100,
// which none of them can run, and took half as long again as alternating.
TEST(OrdinaryQuestion, AsynchronousPlansGenerateOnDevicesOfTheirOwn) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  for (const char* framework : {"verl-fsdp", "verl-megatron", "nemo-rl-dtensor", "slime"}) {
    const OrdinaryQuestion question{"H100-SXM-80GB", 2, "Qwen3-8B", framework};
    const FrameworkProfile& profile = *find_profile(profiles(), framework);
    Workflow workflow = workflow_of(question, facts);
    const PredictionQuery in_turns{cluster_of(question, facts), workflow, profile,
                                   coefficients_of(profile.coefficients)};
    workflow.mode = Mode::one_step_off;
    workflow.staleness = 1;
    const PredictionQuery beside{cluster_of(question, facts), workflow, profile,
                                 coefficients_of(profile.coefficients)};
    const PlanResult result = answer(beside);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << framework << ": " << result.message;
    const std::set<DeviceId> generates = result.plan->tasks.at(task_names::kActorGeneration).devices();
    for (const DeviceId device : result.plan->tasks.at(task_names::kActorTraining).devices())
      EXPECT_FALSE(generates.contains(device)) << framework;
    EXPECT_LT(result.prediction->iteration_s, 1.25 * answer(in_turns).prediction->iteration_s) << framework;
  }
}

// The same plan on the better card, under the coefficients that ship for each framework.
TEST(OrdinaryQuestion, AnH100IsNeverSlowerThanAnA100) {
  const Facts facts = Facts::load(kData / "gpus.json", kData / "models.json");
  for (OrdinaryQuestion question : ordinary_questions()) {
    const FrameworkProfile& profile = *find_profile(profiles(), question.framework);
    const Coefficients coefficients = coefficients_of(profile.coefficients);
    question.gpu = "A100-SXM-80GB";
    const Workflow workflow = workflow_of(question, facts);
    const Cluster slow = cluster_of(question, facts);
    const Plan plan = recipe_of(question, profile, workflow, slow);
    question.gpu = "H100-SXM-80GB";
    const Cluster fast = cluster_of(question, facts);
    const Prediction before = predict(slow, workflow, plan, coefficients, profile.coefficients);
    const Prediction after = predict(fast, workflow, plan, coefficients, profile.coefficients);
    EXPECT_LT(after.iteration_s, before.iteration_s) << question.name();
    for (const auto& [name, task] : after.tasks) {
      EXPECT_LT(task.time_s, before.tasks.at(name).time_s) << question.name() << ", " << name;
    }
  }
}

}  // namespace
}  // namespace sextant::test
