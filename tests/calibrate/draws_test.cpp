#include "calibrate/draws.h"

#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/posterior.h"
#include "sextant/fit.h"
#include "sextant/statistics.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/overhead_runs.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

constexpr int kDraws = 4000;

// A fit that knows two times in combination only.
Coefficients entangled() {
  const Runs runs = overhead_runs(1);
  return fit_coefficients(runs, names_of(runs), {},
                          knowing_all_but({task_overhead_s, call_overhead_s}, overhead_truth()));
}

int position_of(const Posterior& posterior, CoefficientId id) {
  for (std::size_t p = 0; p < posterior.parameters.size(); ++p) {
    if (posterior.parameters[p].id == id) return static_cast<int>(p);
  }
  return -1;
}

std::vector<double> logs_of(const std::vector<Coefficients>& draws, CoefficientId id, const std::string& type) {
  std::vector<double> logs;
  for (const Coefficients& draw : draws) logs.push_back(std::log(draw.value(id, type)));
  return logs;
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a), mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size() - 1);
}

TEST(Draws, OfWhatNobodyFittedThereAreNone) {
  EXPECT_TRUE(draw_coefficients({}, two_cores(), kAny, 10, 1).empty());
}

// Variances and what two of them share, within what so many draws can show.
TEST(Draws, HaveTheCovarianceOfTheFit) {
  const Coefficients fitted = entangled();
  const Posterior posterior = *posterior_of(fitted);
  const auto draws = draw_coefficients(fitted, two_cores(), kAny, kDraws, 1);
  ASSERT_EQ(draws.size(), static_cast<std::size_t>(kDraws));
  const int a = position_of(posterior, task_overhead_s), b = position_of(posterior, call_overhead_s);
  const auto logs_a = logs_of(draws, task_overhead_s, "core"), logs_b = logs_of(draws, call_overhead_s, "core");
  const double scale = posterior.deviation_of(a) * posterior.deviation_of(b);
  EXPECT_NEAR(standard_deviation(logs_a) / posterior.deviation_of(a), 1, 0.05);
  EXPECT_NEAR(covariance(logs_a, logs_b) / scale, posterior.covariance_of(a, b) / scale, 0.05);
  EXPECT_LT(posterior.covariance_of(a, b) / scale, -0.5);  // so that the check above is one
  EXPECT_NEAR(mean(logs_a), std::log(fitted.value(task_overhead_s, "core")),
              4 * posterior.deviation_of(a) / std::sqrt(kDraws));
}

TEST(Draws, AreTheSameForASeed) {
  const Coefficients fitted = entangled();
  const auto first = draw_coefficients(fitted, two_cores(), kAny, 5, 7);
  EXPECT_EQ(first, draw_coefficients(fitted, two_cores(), kAny, 5, 7));
  EXPECT_NE(first, draw_coefficients(fitted, two_cores(), kAny, 5, 8));
}

// A device type without runs is more uncertain.
TEST(Draws, AreWiderForATypeThatTheFitNeverSaw) {
  const Coefficients fitted = entangled();
  const Cluster seen = two_cores();
  auto types = seen.device_types();
  types["stranger"] = types.at("core");
  const Cluster both(seen.name(), types, seen.nodes(), seen.levels());
  const Posterior posterior = *posterior_of(fitted);
  ASSERT_EQ(posterior.unseen_type_deviation(training_efficiency, "core"), 0);
  const double unseen = posterior.unseen_type_deviation(training_efficiency, "stranger");
  ASSERT_GT(unseen, 0);
  const auto draws = draw_coefficients(fitted, both, kAny, kDraws, 1);
  const double of_core = standard_deviation(logs_of(draws, training_efficiency, "core"));
  const double of_stranger = standard_deviation(logs_of(draws, training_efficiency, "stranger"));
  EXPECT_NEAR(of_stranger, std::hypot(of_core, unseen), 0.15 * of_stranger);  // less: values end at bounds
  EXPECT_GT(of_stranger, of_core);
}

TEST(Draws, StayWithinTheRangesOfTheTable) {
  for (const Coefficients& draw : draw_coefficients(entangled(), two_cores(), kAny, 500, 3)) {
    for (const Coefficient& entry : draw.values) {
      const CoefficientSpec& spec = spec_of(entry.id);
      if (entry.value == spec.neutral) continue;
      EXPECT_GE(entry.value, spec.lower) << spec.name;
      EXPECT_LE(entry.value, spec.upper) << spec.name;
    }
  }
}

}  // namespace
}  // namespace sextant::test
