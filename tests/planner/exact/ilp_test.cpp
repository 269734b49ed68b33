// The integer program against every plan of small spaces and against branch and bound.
#include "planner/exact/ilp.h"

#include <gtest/gtest.h>

#include "costmodel/terms/memory.h"
#include "planner/exact/exact.h"
#include "planner/exact/ilp_model.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "tests/planner/exact/unit_space_case.h"

namespace sextant::testing {
namespace {

constexpr double kIlpTolerance = 1e-6;  // of MILP solvers, relative

class PlanByIlp : public ::testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override {
    if (solver_ == nullptr) GTEST_SKIP() << "this build has no MILP solver (SEXTANT_CBC)";
  }
  std::unique_ptr<MilpSolver> solver_ = make_milp_solver();
};

void expect_equal(const SmallCase& small, const Coefficients& coefficients, const MilpSolver& solver) {
  const PlanRequest request = request_of(small, coefficients);
  const PlanResult ilp = plan_by_ilp(request, {small.wanted_units}, solver);
  ExactLimits limits;
  limits.wanted_units = small.wanted_units;
  const PlanResult exact = plan_exactly(request, limits);
  const double best_s = BruteForce(request, small.wanted_units).best_s();
  ASSERT_EQ(ilp.outcome, PlanOutcome::found) << ilp.message;
  EXPECT_EQ(ilp.proof, Proof::optimal);
  EXPECT_NEAR(ilp.prediction->iteration_s, best_s, kIlpTolerance * best_s) << ilp.message;
  EXPECT_NEAR(ilp.lower_bound, best_s, kIlpTolerance * best_s) << ilp.message;  // the program's own objective
  EXPECT_NEAR(exact.prediction->iteration_s, best_s, kIlpTolerance * best_s);
  check_plan(*ilp.plan, small.workflow, small.cluster);
  for (const DeviceMemory& memory : plan_memory(small.workflow, *ilp.plan, small.cluster))
    EXPECT_TRUE(memory.fits());
}

TEST_P(PlanByIlp, EqualsEveryPlanAndBranchAndBound) { expect_equal(GetParam(), {}, *solver_); }

TEST_P(PlanByIlp, WithOtherCoefficients) {
  Coefficients coefficients;
  for (const auto& [id, value] :
       std::vector<std::pair<CoefficientId, double>>{{CoefficientId::task_overlap, 0.7},
                                                     {CoefficientId::reshard_efficiency, 0.2},
                                                     {CoefficientId::weight_copy_weight, 3},
                                                     {CoefficientId::iteration_overhead_s, 0.5}}) {
    Coefficient coefficient;
    coefficient.id = id;
    coefficient.value = value;
    coefficients.values.push_back(coefficient);
  }
  expect_equal(GetParam(), coefficients, *solver_);
}

INSTANTIATE_TEST_SUITE_P(Pinned, PlanByIlp, ::testing::ValuesIn(pinned_cases()),
                         [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Small, PlanByIlp, ::testing::ValuesIn(small_cases()),
                         [](const auto& of_case) { return of_case.param.name; });

// The start is passed to the solver in the form of its solutions; values that are left out follow.
TEST(PlanByIlpAlone, BeginsWithAPlan) {
  class Listener : public MilpSolver {
   public:
    [[nodiscard]] std::string_view name() const override { return "listener"; }
    [[nodiscard]] MilpSolution solve(const MilpProblem& problem, const MilpLimits& limits) const override {
      start.assign(problem.variables().size(), 0);
      for (const MilpValue& known : limits.start) start[static_cast<std::size_t>(known.variable)] = known.value;
      return {};
    }
    mutable std::vector<double> start;
  };
  const Coefficients coefficients;
  for (const SmallCase& small : small_cases()) {
    SCOPED_TRACE(small.name);
    PlanRequest request = request_of(small, coefficients);
    ExactLimits limits;
    limits.wanted_units = small.wanted_units;
    const PlanResult best = plan_exactly(request, limits);
    request.start = &best;
    const Listener listener;
    const PlanResult stopped = plan_by_ilp(request, {small.wanted_units}, listener);
    ASSERT_EQ(stopped.outcome, PlanOutcome::found) << stopped.message;  // the one it began with
    EXPECT_EQ(stopped.proof, Proof::time_limit);
    EXPECT_NEAR(stopped.prediction->iteration_s, best.prediction->iteration_s,
                kIlpTolerance * best.prediction->iteration_s);
    UnitSpace space(request, small.wanted_units);
    const SyncCost sync(space);
    const IlpModel model(space, sync);
    const UnitChoice choice = model.choice(listener.start);
    const Candidate candidate = space.candidate(choice.grouping, choice.shares, choice.chosen);
    EXPECT_NEAR(space.evaluator().evaluate(candidate).time_s, best.prediction->iteration_s,
                kIlpTolerance * best.prediction->iteration_s);
    request.start = nullptr;
    EXPECT_EQ(plan_by_ilp(request, {small.wanted_units}, listener).outcome, PlanOutcome::found);
  }
}

TEST(PlanByIlpAlone, SaysThatNothingFits) {
  const auto solver = make_milp_solver();
  if (solver == nullptr) GTEST_SKIP() << "this build has no MILP solver (SEXTANT_CBC)";
  const Cluster cluster = cluster_of({{"l4", 1, 2}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  const PlanResult result = plan_by_ilp({cluster, workflow, coefficients}, {2}, *solver);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(result.proof, Proof::optimal);
}

TEST(PlanByIlpAlone, SaysThatThereIsNoSolver) {
  if (make_milp_solver() != nullptr) GTEST_SKIP() << "this build has a MILP solver";
  const Cluster cluster = cluster_of({{"a100", 1, 2}});
  const Workflow workflow = small_grpo();
  const Coefficients coefficients;
  try {
    (void)plan_by_ilp({cluster, workflow, coefficients});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("coinor-libcbc-dev"), std::string::npos);
  }
}

TEST(PlanByIlpAlone, RefusesSynchronizationThatIsNoSum) {
  class Never : public MilpSolver {
    [[nodiscard]] std::string_view name() const override { return "never"; }
    [[nodiscard]] MilpSolution solve(const MilpProblem&, const MilpLimits&) const override { return {}; }
  };
  const Cluster cluster = cluster_of({{"a100", 1, 2}});
  const Workflow workflow = small_grpo();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.weight_sync.method = WeightSyncMethod::per_replica;
  EXPECT_THROW((void)plan_by_ilp(request, {}, Never{}), Error);
}

}  // namespace
}  // namespace sextant::testing
