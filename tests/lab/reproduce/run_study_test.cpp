// Contestants plan small cells; what they answer is predicted and compared.
#include "lab/reproduce/run_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/predict.h"

namespace sextant {
namespace {

DeviceType gpu(double flop_per_s, double memory_bytes) {
  DeviceType type;
  type.memory_bytes = assumed(memory_bytes);
  type.memory_bytes_per_s = assumed(1e12);
  type.flop_per_s[Precision::bf16] = assumed(flop_per_s);
  return type;
}

LinkRate link(double bytes_per_s) { return {assumed(1e-5), assumed(bytes_per_s)}; }

Node node(const std::string& name, const std::string& type) {
  Node out;
  out.name = name;
  out.region = out.zone = "here";
  out.device_type = type;
  out.devices = 2;
  return out;
}

// Two fast devices and two slow ones with less memory.
Cluster mixed() {
  return Cluster("mixed", {{"fast", gpu(300e12, 40e9)}, {"slow", gpu(100e12, 20e9)}},
                 {node("a", "fast"), node("b", "slow")},
                 {{LinkLevel::within_node, link(100e9)},
                  {LinkLevel::within_zone, link(10e9)},
                  {LinkLevel::within_region, link(10e9)},
                  {LinkLevel::between_regions, link(1e9)}});
}

Workflow workflow(Mode mode) {
  Workflow out;
  out.name = "small";
  out.mode = mode;
  out.staleness = mode == Mode::asynchronous ? 1 : 0;
  out.tasks = grpo_tasks(false);
  Model model;
  model.name = "small";
  model.layers = 4;
  model.hidden = 1024;
  model.intermediate = 4096;
  model.heads = model.kv_heads = 8;
  model.head_dim = 128;
  model.vocabulary = 32000;
  out.models = {{"actor", model}, {"reference", model}};
  out.prompts = 16;
  out.responses_per_prompt = 4;
  out.prompt_tokens = out.response_tokens = fixed_length(256);
  return out;
}

StudyCell cell(Mode mode, std::vector<Contestant> contestants) {
  return {"cell/" + std::string(name_of(mode)), mixed(), workflow(mode), {}, std::move(contestants)};
}

StudyOptions options() {
  StudyOptions out;
  out.budget = {0.2};
  out.coefficients = [](const std::string& framework, const Cluster&) {
    return StudyCoefficients{{}, "none", framework};
  };
  return out;
}

ReproducedPlan run(const StudyCell& cell, const Contestant& contestant) {
  return run_contestant(cell, contestant, {{}, "none", "*"}, options());
}

// One replica of two devices on each machine; an asynchronous plan has a machine for each pool.
TEST(RunStudy, EqualDegreesAreThoseOfEveryTask) {
  Contestant equal{"verl", "", ContestantPlacement::equal_degrees};
  equal.tensor_parallel = 2;
  const ReproducedPlan together = run(cell(Mode::synchronous, {}), equal);
  ASSERT_TRUE(together.has_plan()) << together.problem;
  EXPECT_EQ(
      together.layout,
      "actor_generation dp2 tp2 pp1 on 0-3; actor_training dp2 tp2 pp1 on 0-3; reference_inference dp2 tp2 "
      "pp1 on 0-3");
  const ReproducedPlan apart = run(cell(Mode::asynchronous, {}), equal);
  ASSERT_TRUE(apart.has_plan()) << apart.problem;
  EXPECT_EQ(
      apart.layout,
      "actor_generation dp1 tp2 pp1 on 0-1; actor_training dp1 tp2 pp1 on 2-3; reference_inference dp1 tp2 "
      "pp1 on 2-3");
  equal.tensor_parallel = 4;
  EXPECT_FALSE(run(cell(Mode::asynchronous, {}), equal).has_plan());
}

TEST(RunStudy, APlanThatTakesAllForEqualsRunsOnTheRealCluster) {
  const StudyCell one = cell(Mode::synchronous, {});
  const ReproducedPlan aware = run(one, {"aware", "verl-colocated"});
  const ReproducedPlan unaware = run(one, {"unaware", "verl-colocated", ContestantPlacement::alike});
  ASSERT_TRUE(aware.has_plan()) << aware.problem;
  ASSERT_TRUE(unaware.has_plan()) << unaware.problem;
  EXPECT_GE(unaware.iteration_s, aware.iteration_s);
  EXPECT_DOUBLE_EQ(aware.sequences_per_s, 64 / aware.iteration_s);
  EXPECT_DOUBLE_EQ(aware.tokens_per_s, 512 * aware.sequences_per_s);
  EXPECT_EQ(aware.tasks.size(), 3U);
}

// A slow machine that all wait for is left out, and the plan is of the whole cluster's devices.
TEST(RunStudy, ABaselineMayLeaveGpusOut) {
  StudyCell one = cell(Mode::synchronous, {});
  std::map<std::string, DeviceType> types = one.cluster.device_types();
  types.at("slow").flop_per_s[Precision::bf16] = assumed(1e12);
  one.cluster = Cluster("mixed", types, {node("b", "slow"), node("a", "fast")}, one.cluster.levels());
  Contestant contestant{"colocated", "verl-colocated"};
  const ReproducedPlan on_all = run(one, contestant);
  contestant.may_leave_out = true;
  const ReproducedPlan on_part = run(one, contestant);
  ASSERT_TRUE(on_all.has_plan() && on_part.has_plan());
  EXPECT_LT(on_part.iteration_s, on_all.iteration_s / 2);
  EXPECT_THAT(on_part.layout, ::testing::HasSubstr(" on 2-3"));
}

TEST(RunStudy, PoolsThatAreApartShareNoDevices) {
  StudyCell one = cell(Mode::asynchronous, {});
  one.has_pools_apart = true;
  const ReproducedPlan plan = run(one, {"two-phase", "two-phase"});
  ASSERT_TRUE(plan.has_plan()) << plan.problem;
  EXPECT_THAT(plan.layout, ::testing::Not(::testing::ContainsRegex("actor_generation [^;]* on 0-3")));
}

TEST(RunStudy, AFactorMakesADeviceTypeSlower) {
  const std::vector<Contestant> ours = {{"ours", "verl-colocated"}};
  Study study{"tiny", "A paper", "*", {}, {cell(Mode::synchronous, ours)}, {}};
  const double before_s = run_study(study, options()).cells.at(0).plans.at(0).iteration_s;
  study.cells[0].factors = {{CoefficientId::training_efficiency, "fast", 0.01},
                            {CoefficientId::training_efficiency, "slow", 0.01}};
  EXPECT_GT(run_study(study, options()).cells.at(0).plans.at(0).iteration_s, 2 * before_s);
}

TEST(RunStudy, ZeroThreeTrainsByDataParallelismAlone) {
  Contestant contestant{"deepspeed-chat", "verl-colocated"};
  contestant.has_zero_3 = true;
  const ReproducedPlan plan = run(cell(Mode::synchronous, {}), contestant);
  // This cell has no executions to change: the planner's own choices stand.
  ASSERT_TRUE(plan.has_plan()) << plan.problem;
  StudyCell with_executions = cell(Mode::synchronous, {});
  with_executions.executions = usual_executions(with_executions.workflow);
  EXPECT_THAT(run(with_executions, contestant).layout, ::testing::ContainsRegex("actor_training dp4 tp1 pp1"));
}

TEST(RunStudy, HalvesShareNoDevices) {
  const ReproducedPlan halves =
      run(cell(Mode::asynchronous, {}), {"halves", "sha-ea", ContestantPlacement::halves});
  ASSERT_TRUE(halves.has_plan()) << halves.problem;
  EXPECT_THAT(halves.layout, ::testing::ContainsRegex("actor_generation [^;]* on (0-1|0|1);"));
  EXPECT_THAT(halves.layout, ::testing::ContainsRegex("actor_training [^;]* on (2-3|2|3);"));
  EXPECT_THAT(halves.layout, ::testing::ContainsRegex("reference_inference [^;]* on (2-3|2|3)$"));
}

// Devices that differ and cannot be told apart by an even plan; and a planner that knows no other.
TEST(RunStudy, LoadIsBalancedUnlessSaidOtherwise) {
  const StudyCell one = cell(Mode::synchronous, {});
  const ReproducedPlan balanced = run(one, {"balanced", "sha-ea"});
  const ReproducedPlan even = run(one, {"even", "sha-ea", ContestantPlacement::planned, {}, false});
  ASSERT_TRUE(balanced.has_plan() && even.has_plan());
  EXPECT_LT(balanced.iteration_s, even.iteration_s);
  EXPECT_THROW((void)run(one, {"even", "mcmc", ContestantPlacement::planned, {}, false}), Error);
}

TEST(RunStudy, APublishedPlanIsPredictedAsItIs) {
  const StudyCell one = cell(Mode::synchronous, {});
  Plan plan{"published", {}, {}, {}};
  for (const Task& task : one.workflow.tasks)
    plan.tasks[task.name].replicas = expand_layout({1, 1, 2, DeviceId{0}}, 4);
  const ReproducedPlan published = run(one, {"published", "", ContestantPlacement::published, plan});
  EXPECT_EQ(published.iteration_s, predict(one.cluster, one.workflow, plan, {}).iteration_s);
  EXPECT_EQ(published.layout, describe(plan));
}

TEST(RunStudy, WhatDoesNotFitIsAProblem) {
  StudyCell one = cell(Mode::synchronous, {});
  one.workflow.models.at("actor").layers = 4000;
  const ReproducedPlan none = run(one, {"ours", "verl-colocated"});
  EXPECT_FALSE(none.has_plan());
  EXPECT_FALSE(none.problem.empty());
}

TEST(RunStudy, OnlyTheWantedCellsAndTheirFigures) {
  const std::vector<Contestant> both = {{"ours", "sha-ea"}, {"theirs", "verl-colocated"}};
  Study study{
      "tiny", "A paper", "*", {"assumed"}, {cell(Mode::synchronous, both), cell(Mode::asynchronous, both)}, {}};
  for (const StudyCell& one : study.cells) {
    study.figures.push_back(
        {"ratio", "section 1", Measure::sequences_per_s, {one.name, "ours"}, Side{one.name, "theirs"}, 1, 1.1});
  }
  StudyOptions asked = options();
  asked.only = "/asynchronous";
  const ReproducedExperiment experiment = run_study(study, asked);
  ASSERT_EQ(experiment.cells.size(), 1U);
  EXPECT_EQ(experiment.cells[0].name, "cell/asynchronous");
  ASSERT_EQ(experiment.comparisons.size(), 1U);
  const auto& plans = experiment.cells[0].plans;
  EXPECT_DOUBLE_EQ(*experiment.comparisons[0].ours, plans[0].sequences_per_s / plans[1].sequences_per_s);
}

TEST(RunStudy, ACellThatWasCutShortIsLeftOut) {
  Study study{"tiny", "A paper", "*", {}, {cell(Mode::synchronous, {{"ours", "sha-ea"}})}, {}};
  std::atomic<bool> is_cancelled = false;
  StudyOptions asked = options();
  asked.is_cancelled = &is_cancelled;
  asked.on_cell = [&](const std::string&) { is_cancelled = true; };
  EXPECT_TRUE(run_study(study, asked).cells.empty());
}

TEST(AllAlike, HasNothingThatTellsDevicesApart) {
  const Cluster alike = all_alike(mixed());
  EXPECT_EQ(alike.device_count(), 4);
  ASSERT_EQ(alike.device_types().size(), 1U);
  const DeviceType& type = alike.device_types().begin()->second;
  EXPECT_EQ(type.memory_bytes.value, 20e9);
  EXPECT_EQ(type.flop_per_s.at(Precision::bf16).value, 200e12);
  EXPECT_TRUE(alike.has_monotone_links());
  EXPECT_EQ(alike.link(DeviceId{0}, DeviceId{3}).bytes_per_s.value, 10e9);
}

}  // namespace
}  // namespace sextant
