// Coefficients that runs identify only in combination: a fixed time of every mini-batch and one of every call
// of a task are one number if a task is called for one mini-batch.
#include "calibrate/posterior.h"

#include <gtest/gtest.h>

#include "sextant/fit.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/overhead_runs.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

Coefficients fitted_to(const Runs& runs) {
  return fit_coefficients(runs, names_of(runs), {},
                          knowing_all_but({task_overhead_s, call_overhead_s}, overhead_truth()));
}

TEST(Posterior, NamesWhatTheRunsShowInCombinationOnly) {
  const Coefficients fitted = fitted_to(overhead_runs(1));
  const Posterior posterior = *posterior_of(fitted);
  const std::vector<Confounded> pairs = confounded_pairs(posterior);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(posterior.parameters[static_cast<std::size_t>(pairs[0].a)].id, task_overhead_s);
  EXPECT_EQ(posterior.parameters[static_cast<std::size_t>(pairs[0].b)].id, call_overhead_s);
  // Their sum is known to a percent, so more of one is less of the other.
  EXPECT_LT(pairs[0].correlation, -0.95);
  EXPECT_FALSE(find(fitted, call_overhead_s).identified);
  EXPECT_TRUE(confounded_pairs(posterior, 1.1).empty());  // no correlation is asked for that there cannot be
}

TEST(Posterior, NamesNoPairThatTheRunsTellApart) {
  const Coefficients fitted = fitted_to(overhead_runs(4));
  EXPECT_TRUE(confounded_pairs(*posterior_of(fitted)).empty());
  constexpr double kSolverTolerance = 1e-3;  // relative
  for (const CoefficientId id : {task_overhead_s, call_overhead_s}) {
    EXPECT_TRUE(find(fitted, id).identified) << spec_of(id).name;
    EXPECT_NEAR(find(fitted, id).value / overhead_truth().value(id), 1, kSolverTolerance) << spec_of(id).name;
  }
}

}  // namespace
}  // namespace sextant::test
