// Small integer programs by hand.
#include "planner/exact/milp.h"

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr double kMilpTolerance = 1e-6;  // of MILP solvers

class Milp : public ::testing::Test {
 protected:
  void SetUp() override {
    if (solver_ == nullptr) GTEST_SKIP() << "this build has no MILP solver (SEXTANT_CBC)";
  }
  std::unique_ptr<MilpSolver> solver_ = make_milp_solver();
};

TEST(MilpProblem, AddsTermsOfOneVariableUp) {
  MilpProblem problem;
  const int x = problem.add_variable(0, 1), y = problem.add_binary(3);
  problem.add_row(0, {{y, 1}, {x, 2}, {y, 4}, {x, -2}}, 9);
  ASSERT_EQ(problem.rows().size(), 1U);
  ASSERT_EQ(problem.rows()[0].terms.size(), 1U);
  EXPECT_EQ(problem.rows()[0].terms[0].variable, y);
  EXPECT_EQ(problem.rows()[0].terms[0].coefficient, 5);
  EXPECT_TRUE(problem.variables()[1].is_whole);
  EXPECT_FALSE(problem.variables()[0].is_whole);
}

TEST_F(Milp, LinearProgram) {
  MilpProblem problem;
  const int x = problem.add_variable(0, kMilpInfinity, -1), y = problem.add_variable(0, 3, -2);
  problem.add_row(-kMilpInfinity, {{x, 1}, {y, 1}}, 4);
  const MilpSolution solution = solver_->solve(problem, {});
  EXPECT_EQ(solution.status, MilpStatus::optimal);
  EXPECT_NEAR(solution.objective, -7, kMilpTolerance);
  EXPECT_NEAR(solution.values[0], 1, kMilpTolerance);
  EXPECT_NEAR(solution.bound, -7, kMilpTolerance);
}

// Knapsack of Martello and Toth's first example: 8 items for 102.
TEST_F(Milp, Knapsack) {
  const std::vector<double> profit{15, 100, 90, 60, 40, 15, 10, 1}, weight{2, 20, 20, 30, 40, 30, 60, 10};
  MilpProblem problem;
  std::vector<MilpTerm> row;
  for (std::size_t i = 0; i < profit.size(); ++i) row.push_back({problem.add_binary(-profit[i]), weight[i]});
  problem.add_row(-kMilpInfinity, row, 102);
  const MilpSolution solution = solver_->solve(problem, {});
  EXPECT_EQ(solution.status, MilpStatus::optimal);
  EXPECT_NEAR(solution.objective, -280, kMilpTolerance);
}

TEST_F(Milp, WholeNumbersDiffer) {
  MilpProblem problem;
  const int x = problem.add_whole(0, 10, -1);
  problem.add_row(-kMilpInfinity, {{x, 2}}, 7);
  EXPECT_NEAR(solver_->solve(problem, {}).objective, -3, kMilpTolerance);
}

TEST_F(Milp, Infeasible) {
  MilpProblem problem;
  const int x = problem.add_binary(1), y = problem.add_binary(1);
  problem.add_row(3, {{x, 1}, {y, 1}}, kMilpInfinity);
  EXPECT_EQ(solver_->solve(problem, {}).status, MilpStatus::infeasible);
  // Feasible as a linear program only.
  MilpProblem whole;
  const int z = whole.add_whole(0, 5, 1);
  whole.add_row(1, {{z, 2}}, 1);
  EXPECT_EQ(solver_->solve(whole, {}).status, MilpStatus::infeasible);
}

// Cornuejols and Dawande's market split: 40 shops to two divisions, so that each has half of every product; as
// little as possible over or under. Branch and bound makes nothing of them in minutes.
MilpProblem market_split() {
  MilpProblem problem;
  std::vector<int> shops;
  shops.reserve(40);
  for (int shop = 0; shop < 40; ++shop) shops.push_back(problem.add_binary());
  std::uint32_t state = 7;
  for (int product = 0; product < 5; ++product) {
    std::vector<MilpTerm> row;
    double all = 0;
    for (const int shop : shops) {
      state = state * 1664525U + 1013904223U;  // Numerical Recipes
      row.push_back({shop, static_cast<double>(state >> 16U) / 655.36});
      all += row.back().coefficient;
    }
    row.push_back({problem.add_variable(0, kMilpInfinity, 1), 1});
    row.push_back({problem.add_variable(0, kMilpInfinity, 1), -1});
    problem.add_row(all / 2, row, all / 2);
  }
  return problem;
}

TEST_F(Milp, EndsWithTheBestWhenItIsCancelled) {
  const MilpProblem problem = market_split();
  MilpLimits limits;
  int asked = 0;
  limits.is_cancelled = [&] { return ++asked > 1; };
  const MilpSolution solution = solver_->solve(problem, limits);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(solution.status, MilpStatus::limit);
  ASSERT_EQ(solution.values.size(), problem.variables().size());
  EXPECT_LE(solution.bound, solution.objective + kMilpTolerance);
}

// One node is too few to find anything as good as what it begins with.
TEST_F(Milp, BeginsWithASolution) {
  const MilpProblem problem = market_split();
  MilpLimits limits;
  limits.nodes = 50;
  const MilpSolution first = solver_->solve(problem, limits);
  ASSERT_FALSE(first.values.empty());
  limits = {};
  limits.nodes = 1;
  // Values as solvers return them: whole within a tolerance.
  constexpr double kOff = 1e-7;
  for (int v = 0; v < 40; ++v) {
    const double value = first.values[static_cast<std::size_t>(v)];
    limits.start.push_back({v, value > 0.5 ? value - kOff : value + kOff});
  }
  const MilpSolution from_start = solver_->solve(problem, limits);
  ASSERT_FALSE(from_start.values.empty());
  EXPECT_LE(from_start.objective, first.objective + kMilpTolerance);
  // Entries that belong to no solution do no harm.
  MilpProblem knapsack;
  const int x = knapsack.add_binary(-3), y = knapsack.add_binary(-2);
  knapsack.add_row(-kMilpInfinity, {{x, 1}, {y, 1}}, 1);
  limits = {};
  limits.start = {{x, 1}, {y, 1}};
  EXPECT_NEAR(solver_->solve(knapsack, limits).objective, -3, kMilpTolerance);
}

}  // namespace
}  // namespace sextant::test
