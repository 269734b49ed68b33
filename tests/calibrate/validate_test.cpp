#include "calibrate/validate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "calibrate/residuals.h"
#include "calibrate/split.h"
#include "core/json_value.h"
#include "sextant/error.h"
#include "sextant/fit.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

TEST(Validate, PerfectCoefficientsHaveNoError) {
  const Coefficients truth = synthetic_truth();
  const Runs runs = synthetic_runs(truth);
  const Accuracy accuracy = validate(runs, truth);
  EXPECT_EQ(accuracy.held_out_iterations.count, static_cast<int>(runs.runs.size()));
  EXPECT_LT(accuracy.held_out_tasks.worst, 1e-12);
  EXPECT_NEAR(accuracy.rank_correlation, 1, 1e-12);
  EXPECT_FALSE(accuracy.has_intervals);
}

TEST(Validate, ErrorsAreThoseOfTheMeasurement) {
  const Coefficients truth = synthetic_truth();
  Runs runs = synthetic_runs(truth);
  for (sextant::Run& run : runs.runs) run.iteration.samples_s[0] *= 1.25;  // predicted / measured = 0.8
  const Accuracy accuracy = validate(runs, truth);
  EXPECT_NEAR(accuracy.held_out_iterations.mape, 0.2, 1e-12);
  EXPECT_NEAR(accuracy.held_out_iterations.worst, 0.2, 1e-12);
  EXPECT_LT(accuracy.held_out_tasks.mape, 1e-12);
}

TEST(Validate, OrderAndRegretAreAmongThePlansOfAWorkflow) {
  const Coefficients truth = synthetic_truth();
  Runs runs = synthetic_runs(truth);
  const std::optional<PlanOrder> right = validate(runs, truth).order;
  ASSERT_TRUE(right.has_value());
  EXPECT_EQ(right->groups, 16);
  EXPECT_EQ(right->kendall_tau, 1);
  EXPECT_EQ(right->worst_regret_fraction, 0);
  // The fastest of the first workflow's four plans was in truth twice as slow as the slowest.
  const auto by_time = [](const sextant::Run& a, const sextant::Run& b) {
    return a.iteration.samples_s[0] < b.iteration.samples_s[0];
  };
  const auto [fastest, slowest] = std::minmax_element(runs.runs.begin(), runs.runs.begin() + 4, by_time);
  const double chosen_s = 2 * slowest->iteration.samples_s[0];
  fastest->iteration.samples_s[0] = chosen_s;
  const double best_s =
      std::min_element(runs.runs.begin(), runs.runs.begin() + 4, by_time)->iteration.samples_s[0];
  const std::optional<PlanOrder> wrong = validate(runs, truth).order;
  ASSERT_TRUE(wrong.has_value());
  EXPECT_NEAR(wrong->worst_regret_fraction, chosen_s / best_s - 1, 1e-12);
  EXPECT_NEAR(wrong->kendall_tau, (16 * 6 - 2 * 3) / (16.0 * 6), 1e-12);  // three pairs turned round
  runs.runs.resize(1);
  EXPECT_FALSE(validate(runs, truth).order.has_value());
}

TEST(Validate, MemoryIsJudgedWhereRunsCarryIt) {
  const Coefficients truth = synthetic_truth();
  Runs runs = synthetic_runs(truth);
  EXPECT_TRUE(validate(runs, truth).memories.empty());
  const sextant::Run& first = runs.runs.front();
  const Prediction prediction =
      predict(runs.cluster_of(first), runs.workflow_of(first), runs.plan_of(first), truth);
  double peak_bytes = 0;
  for (const DeviceMemory& memory : prediction.memory) peak_bytes = std::max(peak_bytes, memory.needed_bytes());
  runs.runs.front().peak_memory_bytes = peak_bytes / 0.9;
  const Accuracy accuracy = validate(runs, truth);
  ASSERT_EQ(accuracy.memories.size(), 1U);
  EXPECT_EQ(accuracy.memories[0].predicted_bytes, peak_bytes);
  EXPECT_EQ(accuracy.held_out_memories.count, 1);
  EXPECT_NEAR(accuracy.held_out_memories.mape, 0.1, 1e-12);
  EXPECT_EQ(accuracy.in_sample_memories.count, 0);
  EXPECT_LT(accuracy.held_out_tasks.mape, 1e-12);  // bytes are not among the times
}

// A run of the first workflow in the mode and on the devices of generation, whose times are the model's.
Runs one_run(Mode mode, const Coefficients& truth) {
  Runs runs = synthetic_runs(truth);
  runs.runs.resize(1);
  sextant::Run& run = runs.runs.front();
  runs.workflows.at(run.workflow).mode = mode;
  Plan& plan = runs.plans.at(run.plan);
  plan.tasks.at("actor_generation").replicas =
      expand_layout({1, 1, 1, DeviceId{1}}, runs.workflow_of(run).models.at("actor").layers);
  measure_again(runs, truth);
  return runs;
}

TEST(Validate, WaitsAreJudgedAsSharesOfTheIteration) {
  const Coefficients truth = synthetic_truth();
  Runs runs = one_run(Mode::asynchronous, truth);
  sextant::Run& run = runs.runs.front();
  const Prediction prediction =
      predict(runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run), truth, run.framework);
  const double exposed_s = prediction.tasks.at("actor_generation").exposed_s;
  run.waits["actor_generation"].samples_s = {exposed_s + 0.25 * prediction.iteration_s};
  const Accuracy accuracy = validate(runs, truth);
  ASSERT_EQ(accuracy.waits.size(), 1U);
  EXPECT_DOUBLE_EQ(accuracy.waits[0].predicted_s, exposed_s);
  EXPECT_NEAR(summarise(accuracy.waits).mape, 0.25, 1e-12);
  EXPECT_LT(accuracy.held_out_tasks.mape, 1e-12);  // a wait is no task time
  const Json json = accuracy.to_json();
  EXPECT_EQ(Accuracy::parse(JsonView(json)), accuracy);
  // A fit sees it as a part of the iteration that is not outside its tasks (outside_tasks_test.cpp).
  const PreparedRun prepared(runs, run);
  for (const MeasuredTime& time : prepared.times()) {
    EXPECT_NE(time.measured, run.waits.at("actor_generation").median_s()) << time.what;
  }
}

TEST(Validate, ElapsedTimesHoldTheWaitForDevices) {
  const Coefficients truth = synthetic_truth();
  Runs runs = synthetic_runs(truth);
  runs.runs.resize(1);
  sextant::Run& run = runs.runs.front();
  Workflow& workflow = runs.workflows.at(run.workflow);
  for (Task& task : workflow.tasks) {
    if (task.name == "reference_inference")
      task.after.clear();  // ready at once, while generation holds the device
  }
  const Prediction prediction =
      predict(runs.cluster_of(run), workflow, runs.plan_of(run), truth, run.framework);
  const TaskPrediction& inference = prediction.tasks.at("reference_inference");
  ASSERT_GT(inference.queued_s, 0);
  run.tasks.clear();
  run.elapsed["reference_inference"].samples_s = {inference.queued_s + inference.time_s};
  const Accuracy accuracy = validate(runs, truth);
  EXPECT_EQ(accuracy.held_out_tasks.count, 1);
  EXPECT_LT(accuracy.held_out_tasks.mape, 1e-12);
  // A fit sees the same number.
  const PreparedRun prepared(runs, run);
  ASSERT_EQ(prepared.times().front().what, elapsed_name("reference_inference"));
  Hardware<double> hardware = prepared.hardware<double>();
  EXPECT_NEAR(prepared.predict(resolve(truth, hardware, run.framework)).front(),
              inference.queued_s + inference.time_s, 1e-12);
}

TEST(Validate, DocumentRoundTrips) {
  const std::filesystem::path data = std::filesystem::path(SEXTANT_SOURCE_DIR) / "tests/data";
  const Json json = load_document<Accuracy>(data / "accuracy.json").content.to_json();
  EXPECT_TRUE(json.contains("order"));
  EXPECT_TRUE(json.contains("memories"));
  EXPECT_EQ(Accuracy::parse(JsonView(json)).to_json(), json);
}

TEST(Validate, SeparatesSeenFromUnseen) {
  const Runs runs = synthetic_runs(synthetic_truth(), 0.03, 3);
  const Split split = split_runs(runs, 0.25, HoldOutBy::workflow, 1);
  const Coefficients fitted = fit_coefficients(runs, split.fit);
  const Accuracy accuracy = validate(runs, fitted);
  EXPECT_EQ(accuracy.held_out_iterations.count, static_cast<int>(split.held_out.size()));
  EXPECT_EQ(accuracy.in_sample_iterations.count, static_cast<int>(split.fit.size()));
  for (const ComparedTime& time : accuracy.times) {
    const bool kept_back =
        std::find(split.held_out.begin(), split.held_out.end(), time.run) != split.held_out.end();
    EXPECT_EQ(time.held_out, kept_back);
  }
  EXPECT_TRUE(accuracy.has_intervals);
  // 64 held-out times with 3 % noise: the 90 % intervals must cover most and cannot be vacuous.
  EXPECT_GT(accuracy.interval_coverage, 0.75);
  EXPECT_LT(fitted.fit->iteration_log_deviation, 0.1);
}

TEST(Split, IsDeterministicCompleteAndDisjoint) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const Split a = split_runs(runs, 1.0 / 3, HoldOutBy::run, 4),
              b = split_runs(runs, 1.0 / 3, HoldOutBy::run, 4);
  EXPECT_EQ(a.fit, b.fit);
  EXPECT_EQ(a.fit.size() + a.held_out.size(), runs.runs.size());
  EXPECT_EQ(a.held_out.size(), 21u);  // a third of 64
  for (const std::string& name : a.held_out) EXPECT_EQ(std::count(a.fit.begin(), a.fit.end(), name), 0);
  EXPECT_NE(split_runs(runs, 1.0 / 3, HoldOutBy::run, 5).held_out, a.held_out);
}

TEST(Split, KeepsWholeWorkflowsBack) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const Split split = split_runs(runs, 0.25, HoldOutBy::workflow, 1);
  EXPECT_EQ(split.held_out.size(), 16u);  // 4 of 16 workflows, 4 runs each
  for (const sextant::Run& seen : runs.runs) {
    for (const sextant::Run& kept : runs.runs) {
      if (seen.workflow != kept.workflow) continue;
      EXPECT_EQ(std::count(split.fit.begin(), split.fit.end(), seen.name),
                std::count(split.fit.begin(), split.fit.end(), kept.name));
    }
  }
}

TEST(Split, NeedsTwoGroups) {
  Runs runs = synthetic_runs(synthetic_truth());
  runs.runs.resize(1);
  EXPECT_THROW((void)split_runs(runs, 0.5, HoldOutBy::run, 1), Error);
}

}  // namespace
}  // namespace sextant::test
