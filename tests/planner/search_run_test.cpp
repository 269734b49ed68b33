// The state that a search keeps of its evaluations.
#include "planner/search/search_run.h"

#include <gtest/gtest.h>

#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

class Noted : public ::testing::Test {
 protected:
  // Every score is that of another candidate: all tasks on the device.
  void note(SearchRun& run, int device, const Score& score) {
    Candidate candidate;
    for (int t = 0; t < run.evaluator().task_count(); ++t) {
      const Shape shape = shapes_of(workflow_.tasks[static_cast<std::size_t>(t)], workflow_, 1, {}).front();
      candidate.tasks.push_back({run.evaluator().shapes(t).add(shape), {static_cast<std::uint16_t>(device)}});
    }
    (void)run.evaluator().evaluate(candidate);
    run.note(score);
  }
  [[nodiscard]] static int device_of(const SearchRun& run) { return run.best()->tasks.front().devices.front(); }

  const Cluster cluster_ = small_cluster();
  const Workflow workflow_ = small_workflow();
  const Coefficients neutral_{};
  PlanRequest request_{cluster_, workflow_, neutral_};
};

TEST_F(Noted, WhatFitsIsBetterThanWhatIsFasterAndDoesNot) {
  SearchRun run(request_, 0);
  EXPECT_EQ(run.best(), nullptr);
  note(run, 0, {1, 20, 1});
  note(run, 1, {3, 10, 3});  // lacks less
  EXPECT_EQ(device_of(run), 1);
  EXPECT_EQ(run.result("test").outcome, PlanOutcome::infeasible);
  note(run, 2, {5, 0, 5});
  EXPECT_EQ(device_of(run), 2);
  note(run, 3, {2, 1, 2});
  note(run, 3, {5 * (1 - 1e-12), 0, 5 * (1 - 1e-12)});  // rounding
  EXPECT_EQ(device_of(run), 2);
  note(run, 3, {4, 0, 4});
  EXPECT_EQ(device_of(run), 3);
  const PlanResult result = run.result("test");
  ASSERT_EQ(result.outcome, PlanOutcome::found);
  EXPECT_EQ(result.plan->name, "small-test");
  EXPECT_EQ(result.candidates, 6U);
  EXPECT_EQ(result.feasible, 3U);
  ASSERT_EQ(result.improvements.size(), 2U);
  EXPECT_EQ(result.improvements[0].evaluations, 3U);
  EXPECT_EQ(result.improvements[1].iteration_s, 4);
}

// Evaluations of one run are found by the next; noted plans belong to each run.
TEST_F(Noted, RunsMayHaveTheirTablesInCommon) {
  SearchTables tables(request_);
  const std::vector<std::uint16_t> devices{0, 1};
  std::uint64_t asked = 0;
  for (const bool is_first : {true, false}) {
    SearchRun run(request_, 0, tables);
    EXPECT_EQ(run.best(), nullptr);
    EXPECT_EQ(&run.options(), &tables.options);
    EXPECT_FALSE(run.options().of(0, devices).empty());
    note(run, 0, {1, 0, 1});
    EXPECT_EQ(run.result("test").candidates, 1U);
    if (is_first) asked = tables.evaluator.asked();
  }
  EXPECT_GT(asked, 0U);
  EXPECT_EQ(tables.evaluator.asked(), asked);
}

// Plans with different replicas, which no candidate can hold.
TEST_F(Noted, PlansInPlaceOfCandidates) {
  SearchRun run(request_, 0);
  TaskPlan task = on_device(0);
  task.replicas = {{0.75, {stage(3, {0, 1})}}, {0.25, {stage(3, {2})}}};
  Plan plan = plan_with(task, on_device(0), on_device(1));
  int made = 0;
  const auto make = [&]() -> Plan {
    ++made;
    return plan;
  };
  run.note({4, 0, 4}, make);
  EXPECT_EQ(run.best(), nullptr);
  run.note({5, 0, 5}, make);  // not kept, not made
  EXPECT_EQ(made, 1);
  run.spend(3);
  const PlanResult result = run.result("test");
  ASSERT_EQ(result.outcome, PlanOutcome::found);
  EXPECT_EQ(result.plan->name, "small-test");
  EXPECT_EQ(result.plan->tasks, plan.tasks);
  EXPECT_EQ(result.candidates, 5U);
  EXPECT_EQ(result.feasible, 2U);
  note(run, 3, {3, 0, 3});
  EXPECT_EQ(device_of(run), 3);
}

TEST_F(Noted, BudgetsEndIt) {
  request_.budget.evaluations = 2;
  SearchRun run(request_, 0);
  EXPECT_EQ(run.evaluations_left(), 2U);
  note(run, 0, {1, 0, 1});
  EXPECT_FALSE(run.is_over());
  note(run, 0, {1, 0, 1});
  EXPECT_TRUE(run.is_over());
  request_.budget = {1e-9, 0};
  EXPECT_TRUE(SearchRun(request_, 0).is_over());
  request_.budget = {};
  EXPECT_FALSE(SearchRun(request_, 0).is_over());
  EXPECT_TRUE(SearchRun(request_, 1e-9).is_over());
  const std::atomic<bool> is_cancelled = true;
  request_.is_cancelled = &is_cancelled;
  EXPECT_TRUE(SearchRun(request_, 0).is_over());
}

TEST_F(Noted, RoomIsWhatTheRuntimeLeaves) {
  Coefficients coefficients;
  Coefficient context;
  context.id = CoefficientId::memory_context_bytes;
  context.value = 1e5;
  coefficients.values = {context};
  for (const double room : free_memory_by_device({cluster_, workflow_, coefficients})) EXPECT_EQ(room, 9e5);
}

}  // namespace
}  // namespace sextant::test
