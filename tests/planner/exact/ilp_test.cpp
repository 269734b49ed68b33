// The integer program against every plan of small spaces and against branch and bound.
#include "planner/exact/ilp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "costmodel/terms/memory.h"
#include "planner/exact/exact.h"
#include "planner/exact/ilp_model.h"
#include "planner/request/candidate.h"
#include "planner/search/search_run.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "tests/core/thoroughness.h"
#include "tests/planner/exact/unit_space_case.h"

namespace sextant::test {
namespace {

constexpr double kIlpTolerance = 1e-6;  // of MILP solvers, relative

class PlanByIlp : public ::testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override {
    if (solver_ == nullptr) GTEST_SKIP() << "this build has no MILP solver (SEXTANT_CBC)";
    if (GetParam().name == "mixed_async" && !is_thorough())
      GTEST_SKIP() << "takes the solver longest; regions_async is as mixed and as asynchronous";
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
    const double best_s = best.prediction->iteration_s;
    UnitSpace space(request, small.wanted_units);
    const SyncCost sync(space);
    IlpModel model(space, sync);
    const Listener listener;
    const IlpAnswer answer =
        solve_ilp(space, sync, model, {candidate_of(*best.plan, request, space.evaluator())}, listener);
    EXPECT_FALSE(answer.is_proved);
    ASSERT_TRUE(answer.found);  // the one it began with
    const UnitChoice choice = model.choice(listener.start);
    const Candidate candidate = space.candidate(choice.grouping, choice.shares, choice.chosen);
    EXPECT_NEAR(space.evaluator().evaluate(candidate).time_s, best_s, kIlpTolerance * best_s);
    const PlanResult without = plan_by_ilp(request, {small.wanted_units}, listener);
    EXPECT_EQ(without.outcome, PlanOutcome::found);
    EXPECT_EQ(without.proof, Proof::time_limit);
    request.start = &best;
    const PlanResult stopped = plan_by_ilp(request, {small.wanted_units}, listener);
    ASSERT_EQ(stopped.outcome, PlanOutcome::found) << stopped.message;
    EXPECT_NEAR(stopped.prediction->iteration_s, best_s, kIlpTolerance * best_s);
  }
}

// A random plan of the space; nothing if a group of it has no devices, or a task no option on them.
std::optional<UnitChoice> random_choice(UnitSpace& space, std::mt19937& random) {
  const auto draw = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
  };
  const std::vector<TaskGrouping> groupings = task_groupings(space.tasks());
  UnitChoice choice{groupings[draw(groupings.size())], {}, {}};
  const auto groups = static_cast<std::size_t>(choice.grouping.groups);
  choice.shares.assign(groups, 0);
  for (std::size_t c = 0; c < space.classes().size(); ++c) {
    for (int unit = 0; unit < space.classes()[c].count(); ++unit) {
      const std::size_t group = draw(groups + 1);  // or it stays idle
      if (group < groups) choice.shares[group] += space.radix(c);
    }
  }
  if (std::count(choice.shares.begin(), choice.shares.end(), 0) > 0) return std::nullopt;
  const std::vector<int> blocks = space.blocks_of_deal(choice.shares);
  for (int t = 0; t < space.tasks(); ++t) {
    const auto group = static_cast<std::size_t>(choice.grouping.group_of[static_cast<std::size_t>(t)]);
    const std::vector<ExactOption>& options = space.options(t, blocks[group]);
    if (options.empty()) return std::nullopt;
    choice.chosen.push_back(&options[draw(options.size())]);
  }
  return choice;
}

// Options that `reduction` leaves out, or that it leaves out of this plan.
std::size_t left_out(UnitSpace& space, const IlpReduction& reduction) {
  std::size_t count = 0;
  for (int share = 1; share < space.share_count(); ++share) {
    for (const int block : space.blocks_of(share)) {
      for (int t = 0; t < space.tasks(); ++t)
        count += space.options(t, block).size() - reduction.kept(t, block);
    }
  }
  return count;
}

bool keeps(UnitSpace& space, const IlpReduction& reduction, const UnitChoice& choice) {
  const std::vector<int> blocks = space.blocks_of_deal(choice.shares);
  for (int t = 0; t < space.tasks(); ++t) {
    const auto task = static_cast<std::size_t>(t);
    const int block = blocks[static_cast<std::size_t>(choice.grouping.group_of[task])];
    const auto place = choice.chosen[task] - space.options(t, block).data();
    if (static_cast<std::size_t>(place) >= reduction.kept(t, block)) return false;
  }
  return true;
}

// Each plan's options are kept within the plan's own time, and shorter times leave some of them out.
TEST(IlpReduction, KeepsTheOptionsOfEveryPlanWithinTheTime) {
  constexpr int kPlans = 300;
  const Coefficients coefficients;
  std::mt19937 random(1);
  int tried = 0, kept_in_half = 0;
  for (const SmallCase& small : small_cases()) {
    SCOPED_TRACE(small.name);
    const PlanRequest request = request_of(small, coefficients);
    UnitSpace space(request, small.wanted_units);
    const SyncCost sync(space);
    ProofProgress progress(request, 0);
    GroupCosts costs(space, sync, progress);
    for (int plan = 0; plan < kPlans; ++plan) {
      const std::optional<UnitChoice> choice = random_choice(space, random);
      if (!choice) continue;
      const Score score =
          space.evaluator().evaluate(space.candidate(choice->grouping, choice->shares, choice->chosen));
      if (!score.fits()) continue;
      ++tried;
      EXPECT_TRUE(keeps(space, IlpReduction(space, sync, costs, score.time_s), *choice)) << score.time_s;
      if (keeps(space, IlpReduction(space, sync, costs, score.time_s / 2), *choice)) ++kept_in_half;
    }
    EXPECT_EQ(left_out(space, IlpReduction(space, sync, costs, 1e9)), 0U);
    EXPECT_TRUE(IlpReduction(space, sync, costs, 1e9).keeps_all());
  }
  EXPECT_GT(tried, 500);
  EXPECT_LT(kept_in_half, tried / 4);
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
}  // namespace sextant::test
