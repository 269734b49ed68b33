#include "sextant/fit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/residuals.h"
#include "calibrate/validate.h"
#include "sextant/error.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

// The coefficients that the truth moved and these runs determine.
constexpr CoefficientId kMoved[] = {
    CoefficientId::inference_efficiency,       CoefficientId::training_efficiency,
    CoefficientId::attention_weight,           CoefficientId::decode_bandwidth_efficiency,
    CoefficientId::tensor_parallel_efficiency, CoefficientId::data_parallel_efficiency};

// Unchanged coefficients are known; the others are wide open, and start at the table's priors.
Coefficients knowing_the_others(const std::vector<CoefficientId>& open = {}) {
  constexpr double kKnown = 1e-5, kOpen = 30;
  Coefficients start;
  for (const CoefficientSpec& spec : coefficient_table()) {
    const bool moved = std::find(std::begin(kMoved), std::end(kMoved), spec.id) != std::end(kMoved) ||
                       std::find(open.begin(), open.end(), spec.id) != open.end() ||
                       spec.id == CoefficientId::prefill_efficiency;
    start.values.push_back(coefficient(spec.id, prior_on_cpu(spec.id)));
    const double unit = spec.scale == CoefficientScale::logarithmic ? 1.0 : spec.prior_deviation;
    start.values.back().standard_error = unit * (moved ? kOpen : kKnown);
  }
  return start;
}

TEST(Fit, RecoversKnownCoefficientsWithoutNoise) {
  constexpr double kSolverTolerance = 1e-3;  // relative; what is left of the open priors
  const Coefficients truth = synthetic_truth();
  const Runs runs = synthetic_runs(truth);
  const Coefficients fitted = fit_coefficients(runs, names_of(runs), {}, knowing_the_others());
  ASSERT_TRUE(fitted.fit.has_value());
  EXPECT_TRUE(fitted.fit->converged) << fitted.fit->message;
  EXPECT_LT(fitted.fit->final_cost, 1e-4 * fitted.fit->initial_cost);
  for (const CoefficientId id : kMoved) {
    EXPECT_NEAR(find(fitted, id).value / find(truth, id).value, 1, kSolverTolerance) << spec_of(id).name;
  }
}

TEST(Fit, RecoversWithinThreeStandardErrorsUnderNoise) {
  const Coefficients truth = synthetic_truth();
  const Runs runs = synthetic_runs(truth, 0.04, 5);
  const Coefficients fitted = fit_coefficients(runs, names_of(runs));
  for (const CoefficientId id : kMoved) {
    const Coefficient& c = find(fitted, id);
    // Efficiencies of links have narrow priors, and overlap and latency explain part of what they do: the runs
    // move them by several of the prior's deviations without halving its width.
    const bool of_links =
        id == CoefficientId::data_parallel_efficiency || id == CoefficientId::tensor_parallel_efficiency;
    EXPECT_TRUE(c.identified || of_links) << spec_of(id).name;
    const double off = std::log(c.value / find(truth, id).value);
    EXPECT_LT(std::abs(off), 3 * *c.standard_error) << spec_of(id).name << " " << c.value;
    EXPECT_LT(*c.low, c.value);
    EXPECT_GT(*c.high, c.value);
  }
}

TEST(Fit, OutliersDoNotDragIt) {
  const Coefficients truth = synthetic_truth();
  Runs runs = synthetic_runs(truth, 0.02, 9);
  for (std::size_t r = 0; r < runs.runs.size(); r += 10) {
    for (auto& [name, timing] : runs.runs[r].tasks) timing.samples_s[0] *= 4;
    runs.runs[r].iteration.samples_s[0] *= 4;
  }
  const Coefficients fitted = fit_coefficients(runs, names_of(runs));
  constexpr double kDrag = 0.1;  // a squared loss moves them by 0.14 and more
  EXPECT_NEAR(find(fitted, CoefficientId::training_efficiency).value / 0.8, 1, kDrag);
  EXPECT_NEAR(find(fitted, CoefficientId::inference_efficiency).value / 0.9, 1, kDrag);
}

// One run, all times of which are three times those of the start: the fit follows it, although its priors hold.
TEST(Fit, FollowsAFactorOfAllTimes) {
  for (const double factor : {3.0, 0.4}) {
    Runs runs = synthetic_runs(synthetic_truth());
    runs.runs.resize(1);
    sextant::Run& run = runs.runs.front();
    run.iteration.samples_s[0] *= factor;
    for (auto& [task, timing] : run.tasks) timing.samples_s[0] *= factor;
    const Coefficients fitted = fit_coefficients(runs, names_of(runs), {}, synthetic_truth());
    const Prediction prediction =
        predict(runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run), fitted, run.framework);
    EXPECT_NEAR(prediction.iteration_s / run.iteration.median_s(), 1, 0.15) << factor;
  }
}

TEST(Fit, WhatTheRunsDoNotShowKeepsItsPrior) {
  const Coefficients truth = synthetic_truth();
  const Runs all = synthetic_runs(truth);
  std::vector<std::string> alone;  // one device: no link is ever used
  for (const sextant::Run& run : all.runs) {
    if (run.plan.ends_with("-111")) alone.push_back(run.name);
  }
  const Coefficients fitted = fit_coefficients(all, alone);
  for (const CoefficientId id : {CoefficientId::tensor_parallel_efficiency,
                                 CoefficientId::data_parallel_efficiency, CoefficientId::task_overlap}) {
    const Coefficient& c = find(fitted, id);
    EXPECT_FALSE(c.identified) << spec_of(id).name;
    EXPECT_NEAR(c.value, prior_on_cpu(id), 1e-6) << spec_of(id).name;
  }
  EXPECT_TRUE(find(fitted, CoefficientId::training_efficiency).identified);
}

// Fitted to runs whose true coefficient lies beyond the bounds.
Coefficients fitted_beyond(CoefficientId id, double value) {
  Coefficients truth = synthetic_truth();
  truth.values[static_cast<std::size_t>(id)].value = value;
  const Runs runs = synthetic_runs(truth);
  std::vector<std::string> some = names_of(runs);
  some.resize(24);  // a fit that bounds hold takes many steps
  return fit_coefficients(runs, some, {}, knowing_the_others({id}));
}

TEST(Fit, NamesACoefficientAtItsLowerBound) {
  const Coefficients fitted = fitted_beyond(CoefficientId::decode_serialization_weight, -0.3);
  const Coefficient& c = find(fitted, CoefficientId::decode_serialization_weight);
  EXPECT_TRUE(c.at_bound);
  EXPECT_DOUBLE_EQ(c.value, 0);
  EXPECT_DOUBLE_EQ(*c.low, 0);
  // The bounds hold no other of those that are open.
  for (const CoefficientId id : kMoved) {
    EXPECT_FALSE(find(fitted, id).at_bound) << spec_of(id).name << " " << find(fitted, id).value;
  }
}

TEST(Fit, NamesACoefficientAtItsUpperBound) {
  const Coefficients fitted = fitted_beyond(CoefficientId::inference_efficiency, 2.2);
  const Coefficient& c = find(fitted, CoefficientId::inference_efficiency);
  EXPECT_TRUE(c.at_bound);
  EXPECT_DOUBLE_EQ(c.value, 2);
  EXPECT_DOUBLE_EQ(*c.high, 2);
  EXPECT_LT(*c.low, 2);
  EXPECT_FALSE(find(fitted, CoefficientId::training_efficiency).at_bound);
}

TEST(Fit, EndsInsideTheBoundsWhereTheRunsDo) {
  Coefficients truth = synthetic_truth();
  truth.values[static_cast<std::size_t>(CoefficientId::decode_serialization_weight)].value = 0.05;
  const Runs runs = synthetic_runs(truth);
  const Coefficients fitted = fit_coefficients(
      runs, names_of(runs), {}, knowing_the_others({CoefficientId::decode_serialization_weight}));
  const Coefficient& c = find(fitted, CoefficientId::decode_serialization_weight);
  EXPECT_FALSE(c.at_bound);
  EXPECT_NEAR(c.value, 0.05, 2e-3);  // what is left of the open priors
  EXPECT_GE(*c.low, 0);
}

TEST(Fit, NamesRunsThatLieFarFromAllOthers) {
  constexpr double kNoise = 0.02;
  const Runs clean = synthetic_runs(synthetic_truth(), kNoise, 9);
  EXPECT_TRUE(fit_coefficients(clean, names_of(clean), {}, knowing_the_others()).fit->outliers.empty());
  Runs runs = clean;
  runs.runs[10].iteration.samples_s[0] *= 3;
  runs.runs[33].tasks.at("actor_training").samples_s[0] /= 5;
  // The worst first.
  EXPECT_EQ(fit_coefficients(runs, names_of(runs), {}, knowing_the_others()).fit->outliers,
            (std::vector<std::string>{runs.runs[33].name, runs.runs[10].name}));
}

TEST(Fit, StartMovesThePriors) {
  const Runs runs = synthetic_runs(synthetic_truth());
  Coefficients start;
  start.values = {coefficient(CoefficientId::task_overlap, 0.5)};
  const Coefficients fitted = fit_coefficients(runs, names_of(runs), {}, start);
  EXPECT_DOUBLE_EQ(find(fitted, CoefficientId::task_overlap).prior, 0.5);
}

TEST(Fit, RefusesUnknownOrNoRuns) {
  const Runs runs = synthetic_runs(synthetic_truth());
  EXPECT_THROW((void)fit_coefficients(runs, {}), Error);
  EXPECT_THROW((void)fit_coefficients(runs, {"nobody"}), Error);
}

TEST(Parameters, FrameworksArePooled) {
  Runs runs = synthetic_runs(synthetic_truth());
  const std::size_t one = free_parameters(runs, names_of(runs), {}).size();
  EXPECT_EQ(one, static_cast<std::size_t>(kCoefficientCount));
  runs.runs.front().framework = "another";
  std::size_t deviations = 0;
  for (const CoefficientSpec& spec : coefficient_table()) deviations += spec.by_framework() ? 2 : 0;
  EXPECT_EQ(free_parameters(runs, names_of(runs), {}).size(), one + deviations);
}

TEST(Parameters, CoordinatesAndValuesAreInverse) {
  for (const CoefficientSpec& spec : coefficient_table()) {
    const Parameter parameter{spec.id, "*", "*", false, spec.prior, 1.0};
    EXPECT_NEAR(parameter.value(parameter.coordinate(spec.prior)), spec.prior, 1e-12 * spec.prior) << spec.name;
    EXPECT_LT(parameter.lower(), parameter.upper()) << spec.name;
  }
}

}  // namespace
}  // namespace sextant::test
