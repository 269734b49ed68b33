// The time of an iteration outside its tasks, as a fit sees it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "calibrate/cross_validation.h"
#include "calibrate/residuals.h"
#include "sextant/fit.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

constexpr double kSequenceS = 0.002;

// The four tasks of GRPO on the same two cores, in a framework whose controller takes time for every sequence.
Runs controlled_runs(double sequence_s = kSequenceS) {
  Coefficients truth = synthetic_truth();
  truth.values[static_cast<std::size_t>(CoefficientId::sequence_overhead_s)].value = sequence_s;
  Runs runs = synthetic_runs(truth);
  for (auto& [name, workflow] : runs.workflows) workflow.orchestration = Orchestration::controller;
  measure_again(runs, truth);
  return runs;
}

std::optional<MeasuredTime> outside_tasks(const Runs& runs, const sextant::Run& run) {
  const std::vector<MeasuredTime> times = PreparedRun(runs, run).times();
  const auto found = std::find_if(times.begin(), times.end(),
                                  [](const MeasuredTime& time) { return time.is_outside_tasks(); });
  return found == times.end() ? std::nullopt : std::optional(*found);
}

double sum_of_tasks_s(const sextant::Run& run) {
  double sum = 0;
  for (const auto& [name, timing] : run.tasks) sum += timing.median_s();
  return sum;
}

TEST(OutsideTasks, IsTheIterationLessItsTimers) {
  const Runs runs = controlled_runs();
  const sextant::Run& run = runs.runs.front();
  const auto outside = outside_tasks(runs, run);
  ASSERT_TRUE(outside);
  EXPECT_NEAR(outside->measured, run.iteration.median_s() - sum_of_tasks_s(run), 1e-12);
  EXPECT_GE(outside->measured, kSequenceS * runs.workflow_of(run).sequences());
}

TEST(OutsideTasks, TimersInsideOthersCountOnce) {
  const Runs runs = controlled_runs();
  sextant::Run run = runs.runs.front();
  const double before = outside_tasks(runs, run)->measured;
  const double sync_s = run.tasks.at(kWeightSync).median_s();
  run.tasks["actor_generation+weight_sync"].samples_s = {run.tasks.at("actor_generation").median_s() + sync_s};
  run.tasks.erase("actor_generation");
  EXPECT_NEAR(outside_tasks(runs, run)->measured, before, 1e-12);
}

// Steps of 1, 2 and 3 times the time, of which each leaves the same.
TEST(OutsideTasks, AreTakenStepByStep) {
  const Runs runs = controlled_runs();
  sextant::Run run = runs.runs.front();
  const double left_s = outside_tasks(runs, run)->measured, tasks_s = sum_of_tasks_s(run);
  run.iteration.samples_s = {2 * tasks_s + left_s, tasks_s + left_s, 3 * tasks_s + left_s};
  for (auto& [name, timing] : run.tasks) {
    const double time_s = timing.median_s();
    timing.samples_s = {2 * time_s, time_s, 3 * time_s};
  }
  EXPECT_NEAR(outside_tasks(runs, run)->measured, left_s, 1e-12);
  EXPECT_NEAR(outside_tasks(runs, run)->spread_fraction, 0, 1e-9);
  // A timer of another number of steps: the medians.
  std::vector<double>& steps = run.tasks.at("actor_training").samples_s;
  steps.push_back(steps.front());
  EXPECT_NEAR(outside_tasks(runs, run)->measured, left_s, 1e-12);
}

// The prediction is the iteration less the predicted timers.
TEST(OutsideTasks, ThePredictionIsOfTheSameParts) {
  const Runs runs = controlled_runs();
  const Coefficients truth = synthetic_truth();
  for (const sextant::Run& run : runs.runs) {
    const Prediction prediction =
        predict(runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run), truth, run.framework);
    double expected = prediction.iteration_s;
    for (const auto& [name, timing] : run.tasks)
      expected -= name == kWeightSync ? prediction.weight_sync_s : prediction.tasks.at(name).time_s;
    const PreparedRun prepared(runs, run);
    const std::vector<double> predicted =
        prepared.predict(resolve(truth, prepared.hardware<double>(), run.framework));
    const auto outside = std::find_if(prepared.times().begin(), prepared.times().end(),
                                      [](const MeasuredTime& time) { return time.is_outside_tasks(); });
    ASSERT_NE(outside, prepared.times().end()) << run.name;
    EXPECT_NEAR(predicted[static_cast<std::size_t>(outside - prepared.times().begin())], expected, 1e-9);
  }
}

TEST(OutsideTasks, TakesAllTasksOneAfterTheOther) {
  Runs runs = controlled_runs();
  const sextant::Run known = runs.runs.front();
  sextant::Run run = known;
  run.tasks.erase("old_log_prob");
  run.tasks.erase("reference_inference");
  EXPECT_FALSE(outside_tasks(runs, run)) << "a task without a timer";
  run = known;
  run.tasks.erase(kWeightSync);
  EXPECT_FALSE(outside_tasks(runs, run)) << "a weight sync without a timer";
  run = known;
  run.tasks["actor_generation+actor_training"].samples_s = {1};
  run.tasks.erase("actor_generation");
  run.tasks["actor_generation+reference_inference"].samples_s = {1};
  EXPECT_FALSE(outside_tasks(runs, run)) << "timers that share a task";
  run = known;
  run.iteration.samples_s = {sum_of_tasks_s(known)};
  EXPECT_FALSE(outside_tasks(runs, run)) << "an iteration that its source sums";
  run = known;
  run.unstated = {{UnstatedQuantity::rule_reward_s, "paper", 0.005}};
  EXPECT_FALSE(outside_tasks(runs, run)) << "rewards whose time nobody states";
  runs.workflows.at(known.workflow).mode = Mode::one_step_off;
  EXPECT_FALSE(outside_tasks(runs, known)) << "generation of the next batch";
}

TEST(OutsideTasks, AreNoTimeToJudge) {
  const Runs runs = controlled_runs();
  const std::vector<Fold> folds = random_folds(runs, 2, 1);
  for (const HeldOut& time : cross_validate(runs, folds, {}, knowing_all_but({}, synthetic_truth())).times) {
    EXPECT_NE(time.what, kOutsideTasks);
  }
}

TEST(OutsideTasks, SayWhatTheControllerTakes) {
  const Coefficients start = knowing_all_but({CoefficientId::sequence_overhead_s}, synthetic_truth(), 3);
  for (const double sequence_s : {1e-4, 1e-3}) {
    const Runs runs = controlled_runs(sequence_s);
    std::vector<std::string> names;
    for (const sextant::Run& run : runs.runs) names.push_back(run.name);
    const double found =
        fit_coefficients(runs, names, {}, start).value(CoefficientId::sequence_overhead_s, kAny, "synthetic");
    EXPECT_LT(std::abs(std::log(found / sequence_s)), std::log(1.2)) << found << " " << sequence_s;
  }
}

}  // namespace
}  // namespace sextant::test
