// Waiting for the slowest of the devices: terms/stragglers.h.
#include "costmodel/terms/stragglers.h"

#include <gtest/gtest.h>

#include "costmodel/task.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

TEST(Stragglers, ExpectedLargestOfNormals) {
  EXPECT_EQ(terms::expected_largest(1), 0);
  // Phi^-1(1.625 / 2.25) and Phi^-1(2.625 / 3.25), from tables of the normal distribution.
  EXPECT_NEAR(terms::expected_largest(2), 0.5895, 1e-4);
  EXPECT_NEAR(terms::expected_largest(3), 0.8694, 1e-4);
  // Harter 1961: exact expectations; Blom's are near them.
  EXPECT_NEAR(terms::expected_largest(10), 1.5388, 0.01);
  EXPECT_NEAR(terms::expected_largest(100), 2.5076, 0.01);
  EXPECT_NEAR(terms::expected_largest(1000), 3.2414, 0.02);
  for (int n = 1; n < 2000; ++n) EXPECT_LT(terms::expected_largest(n), terms::expected_largest(n + 1));
}

TEST(Stragglers, ADeviceAloneWaitsForNobody) {
  TermCase alone(kInference, on_device(0));
  const double before = task_cost(alone.problem(), alone.task).time_s;
  alone.set(straggler_spread, 0.3);
  EXPECT_EQ(task_cost(alone.problem(), alone.task).time_s, before);
}

TEST(Stragglers, AShareOfTheWorkBeforeTheReduction) {
  TermCase training(kTraining, two_replicas());
  const TaskCost<double> before = task_cost(training.problem(), training.task);
  training.set(straggler_spread, 0.1);
  const TaskCost<double> after = task_cost(training.problem(), training.task);
  const double work = before.time_s - before.term(Term::data_parallel);
  EXPECT_DOUBLE_EQ(after.term(Term::stragglers), 0.1 * terms::expected_largest(4) * work);
  EXPECT_DOUBLE_EQ(after.time_s, before.time_s + after.term(Term::stragglers));
}

}  // namespace
}  // namespace sextant::test
