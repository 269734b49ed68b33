// Partial pooling: a device type with few runs borrows from the others, one with many follows its own.
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/fit.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

constexpr double kCore = 0.8, kOther = 0.4;  // training_efficiency of the two device types

// A second host whose cores train at half the efficiency, and each of the runs there too.
Runs runs_on_two_types() {
  Coefficients truth = synthetic_truth();
  truth.values.push_back(coefficient(training_efficiency, kOther));
  truth.values.back().device_type = "other";
  Runs runs = synthetic_runs(truth);
  const Cluster cores = two_cores();
  std::vector<Node> nodes = cores.nodes();
  nodes.front().device_type = "other";
  runs.clusters["other"] =
      Cluster("other", {{"other", cores.device_types().at("core")}}, nodes, cores.levels());
  const std::size_t count = runs.runs.size();
  for (std::size_t r = 0; r < count; ++r) {
    sextant::Run run = runs.runs[r];
    run.name += "-other";
    run.cluster = "other";
    runs.runs.push_back(run);
  }
  measure_again(runs, truth);
  return runs;
}

// Names of the runs on `core`, if wanted, and of the first `others` on `other`.
std::vector<std::string> chosen(const Runs& runs, bool cores, int others) {
  std::vector<std::string> names;
  for (const sextant::Run& run : runs.runs) {
    const bool is_other = run.cluster == "other";
    if (is_other ? others-- > 0 : cores) names.push_back(run.name);
  }
  return names;
}

Coefficients fitted_to(const Runs& runs, const std::vector<std::string>& names) {
  constexpr double kOpen = 30;
  FitOptions options;
  options.model_log_deviation = 0.2;  // so that one run says little
  return fit_coefficients(runs, names, options,
                          knowing_all_but({training_efficiency}, synthetic_truth(), kOpen));
}

TEST(Pooling, ATypeWithFewRunsBorrowsFromTheOthers) {
  const Runs runs = runs_on_two_types();
  constexpr int kFew = 2;
  constexpr double kLeftOfTheOpenPrior = 0.02;  // relative
  const Coefficients alone = fitted_to(runs, chosen(runs, false, kFew));
  const double own = find(alone, training_efficiency).value;
  EXPECT_NEAR(own / kOther, 1, kLeftOfTheOpenPrior);

  const Coefficients together = fitted_to(runs, chosen(runs, true, kFew));
  const double shared = together.value(training_efficiency);
  const double pooled = together.value(training_efficiency, "other");
  // A good part of the way from its own to the shared value, on a logarithmic scale.
  const double borrowed = std::log(pooled / own) / std::log(shared / own);
  EXPECT_GT(borrowed, 0.2) << own << " " << pooled << " " << shared;
  EXPECT_LT(borrowed, 0.8) << own << " " << pooled << " " << shared;
  // The type with many runs is not drawn to the few.
  EXPECT_NEAR(together.value(training_efficiency, "core") / kCore, 1, 0.05);
}

TEST(Pooling, ATypeWithManyRunsFollowsItsOwn) {
  const Runs runs = runs_on_two_types();
  const Coefficients together = fitted_to(runs, chosen(runs, true, 64));
  EXPECT_NEAR(together.value(training_efficiency, "other") / kOther, 1, 0.1);
  EXPECT_NEAR(together.value(training_efficiency, "core") / kCore, 1, 0.1);
  // The shared value lies between the two, for types without runs.
  EXPECT_GT(together.value(training_efficiency, "unseen"), 1.2 * kOther);
  EXPECT_LT(together.value(training_efficiency, "unseen"), kCore / 1.2);
}

// Coefficients of several frameworks, and then a run of one of them: that one's values are where the fit begins.
TEST(Pooling, AFitOfOneFrameworkStartsFromItsOwnValues) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const std::string name = runs.runs.front().name, framework = runs.runs.front().framework;
  Coefficients start = knowing_all_but({}, synthetic_truth());
  Coefficient own;
  own.id = sequence_overhead_s;  // no two frameworks are alike in it
  own.framework = framework;
  own.value = own.prior = 3 * start.value(sequence_overhead_s);
  own.standard_error = 1e-5;
  start.values.push_back(own);
  const Coefficients fitted = fit_coefficients(runs, {name}, {}, start);
  EXPECT_NEAR(fitted.value(sequence_overhead_s, kAny, framework) / own.value, 1, 1e-3);
}

}  // namespace
}  // namespace sextant::test
