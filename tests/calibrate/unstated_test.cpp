// Unstated values: the fit finds them, and their spread is in the intervals.
#include "calibrate/unstated.h"

#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/cross_validation.h"
#include "calibrate/fit_result.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/synthetic_runs.h"
#include "tests/calibrate/unstated_fit.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

constexpr double kPriorDeviation = 0.5;
constexpr double kLonger = 1.5;  // responses that were made, relative to those that the documents assume

Unstated unsaid(UnstatedQuantity quantity, const std::string& group) {
  return {quantity, group, kPriorDeviation};
}

// Every second workflow has longer responses than it says.
Runs of_unsaid_length() {
  const Runs said = synthetic_runs(synthetic_truth());
  Runs runs = said;
  for (auto& [name, workflow] : runs.workflows) {
    if (is_odd(name)) {
      workflow.response_tokens = scaled(workflow.response_tokens, kLonger);
    }
  }
  measure_again(runs, synthetic_truth());
  runs.workflows = said.workflows;
  for (sextant::Run& run : runs.runs) {
    if (is_odd(run)) run.unstated = {unsaid(UnstatedQuantity::response_tokens, "a paper")};
  }
  return runs;
}

// Every second workflow recomputed everything, and no source says whether.
Runs of_unsaid_recomputation() {
  Runs runs = synthetic_runs(synthetic_truth());
  const std::map<std::string, Plan> said = runs.plans;
  for (sextant::Run& run : runs.runs) {
    run.unstated = {unsaid(UnstatedQuantity::recompute, is_odd(run) ? "recomputed" : "kept")};
    if (!is_odd(run)) continue;
    for (auto& [task, plan] : runs.plans.at(run.plan).tasks) plan.recompute = Recompute::full;
  }
  measure_again(runs, synthetic_truth());
  runs.plans = said;
  return runs;
}

FitResult widely_fitted(const Runs& runs) {
  constexpr double kWide = 30;
  return fit_free(runs, kWide);
}

double in_sample(const FitResult& result) { return result.coefficients.fit->task_log_deviation; }

TEST(Unstated, TheFitFindsTheLengthOfResponses) {
  const Runs runs = of_unsaid_length();
  const FitResult result = widely_fitted(runs);
  ASSERT_EQ(result.unstated.size(), 1U);
  EXPECT_EQ(result.unstated[0].group, "a paper");
  // Prompts are no longer, so the logarithm of a time is not quite linear in that of the length.
  constexpr double kCurvature = 0.05;
  EXPECT_NEAR(result.unstated[0].value, std::log(kLonger), kCurvature);
  EXPECT_GT(result.unstated[0].deviation, 0);
  EXPECT_LT(result.unstated[0].deviation, 0.2 * kPriorDeviation);
  // Taken for said it spoils the fit and the coefficients.
  const FitResult believed = widely_fitted(without_unstated(runs));
  EXPECT_TRUE(believed.unstated.empty());
  EXPECT_LT(in_sample(result), 0.3 * in_sample(believed));
  const auto off = [](const FitResult& fit) {
    return std::abs(std::log(find(fit.coefficients, decode_bandwidth_efficiency).value /
                             synthetic_truth().value(decode_bandwidth_efficiency)));
  };
  EXPECT_LT(off(result), 0.03);
  EXPECT_GT(off(believed), 0.1);
}

TEST(Unstated, TheFitFindsRecomputation) {
  constexpr double kLeftOfThePrior = 0.03;
  const Runs runs = of_unsaid_recomputation();
  const FitResult result = widely_fitted(runs);
  ASSERT_EQ(result.unstated.size(), 2U);
  for (const UnstatedValue& found : result.unstated) {
    EXPECT_NEAR(found.value, found.group == "recomputed" ? 1 : 0, kLeftOfThePrior) << found.group;
  }
  EXPECT_LT(in_sample(result), 0.02);  // half of the training tasks take a third longer than the plan says
}

// Slopes, factors and variances by hand, of a model whose times go with the square of the mean response, and
// take half as long again where all is recomputed.
TEST(Unstated, FactorsAndVariancesFollowFromTheSlopes) {
  const Runs runs = synthetic_runs(synthetic_truth());
  sextant::Run run = runs.runs.front();
  run.unstated = {unsaid(UnstatedQuantity::response_tokens, "paper"),
                  unsaid(UnstatedQuantity::recompute, "paper")};
  const PreparedRun prepared(runs, run);
  const auto square = [](const PreparedRun& of) {
    const double mean = of.workflow().response_tokens.mean_tokens();
    const bool again = of.plan().tasks.begin()->second.recompute == Recompute::full;
    return std::vector<double>(of.times().size(), mean * mean * (again ? 1.5 : 1.0));
  };
  constexpr double kRounding = 1e-12;
  for (const double slope : log_slopes(prepared, UnstatedQuantity::response_tokens, square)) {
    EXPECT_NEAR(slope, 2, kRounding);
  }
  for (const double slope : log_slopes(prepared, UnstatedQuantity::recompute, square)) {
    EXPECT_NEAR(slope, std::log(1.5), kRounding);
  }
  const UnstatedValue length{UnstatedQuantity::response_tokens, "paper", 0.3, 0.05},
      elsewhere{UnstatedQuantity::response_tokens, "another paper", 0.7, 0.01};
  EXPECT_NEAR(unstated_factors(prepared, {length, elsewhere}, square).front(), std::exp(2 * 0.3), kRounding);
  EXPECT_EQ(unstated_factors(prepared, {elsewhere}, square).front(), 1);
  // The remaining width of the length, and the prior's width of recomputation, which no fit saw.
  const double of_recomputation = std::pow(std::log(1.5) * kPriorDeviation, 2);
  EXPECT_NEAR(unstated_variances(prepared, {length}, square).front(), std::pow(2 * 0.05, 2) + of_recomputation,
              kRounding);
  EXPECT_NEAR(unstated_variances(prepared, {}, square).front(),
              std::pow(2 * kPriorDeviation, 2) + of_recomputation, kRounding);
}

// The fold that is held out alone has runs of unsaid length: the fit is the same whether they say so or not.
TEST(Unstated, TheSpreadOfAGroupThatNoFitSawIsInTheIntervals) {
  const Runs runs = of_unsaid_length();
  const auto judged = [](const Runs& of) {
    Fold odd{"odd", {}, {}};
    for (const sextant::Run& run : of.runs) (is_odd(run) ? odd.held_out : odd.fit).push_back(run.name);
    return cross_validate(of, {odd}, {}, knowing_all_but(kFreeToMove, synthetic_truth())).times;
  };
  const std::vector<HeldOut> open = judged(runs), believed = judged(without_unstated(runs));
  ASSERT_EQ(open.size(), believed.size());
  int compared = 0;
  for (std::size_t t = 0; t < open.size(); ++t) {
    EXPECT_DOUBLE_EQ(open[t].predicted, believed[t].predicted);
    const double added = open[t].log_variance - believed[t].log_variance;
    if (open[t].what == kWeightSync) {
      EXPECT_EQ(added, 0);  // is as long whatever is generated
      continue;
    }
    EXPECT_GT(added, 0) << open[t].run << " " << open[t].what;
    EXPECT_GT(open[t].high / open[t].low, believed[t].high / believed[t].low);
    ++compared;
  }
  EXPECT_EQ(compared, 32 * 4);
}

TEST(Unstated, WhatAGroupTaughtCorrectsItsOtherRuns) {
  const Runs runs = of_unsaid_length();
  const auto worst = [](const Runs& of) {
    const std::vector<Fold> folds = random_folds(of, 2, 5);
    return cross_validate(of, folds, {}, knowing_all_but(kFreeToMove, synthetic_truth())).log_deviation();
  };
  EXPECT_LT(worst(runs), 0.3 * worst(without_unstated(runs)));
}

}  // namespace
}  // namespace sextant::test
