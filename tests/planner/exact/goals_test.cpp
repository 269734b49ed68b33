// Branch and bound for dollars and devices and within limits, against every plan of small spaces.
#include <gtest/gtest.h>

#include <cmath>

#include "planner/exact/deal_search.h"
#include "planner/exact/exact.h"
#include "sextant/planners.h"
#include "tests/planner/exact/unit_space_case.h"
#include "tests/planner/neutral.h"

namespace sextant::test {
namespace {

// The faster the dearer, but not in proportion.
Cluster with_prices(const Cluster& cluster) {
  std::map<std::string, DeviceType> types = cluster.device_types();
  types.at("a100").price_usd_per_hour = assumed(2.0);
  types.at("l40s").price_usd_per_hour = assumed(1.1);
  types.at("l4").price_usd_per_hour = assumed(0.5);
  return {cluster.name(), types, cluster.nodes(), cluster.levels()};
}

double whole_rent(const Cluster& cluster) {
  double usd_per_hour = 0;
  for (int d = 0; d < cluster.device_count(); ++d)
    usd_per_hour += cluster.type_of(DeviceId{d}).price_usd_per_hour->value;
  return usd_per_hour;
}

ExactLimits units_of(const SmallCase& small) {
  ExactLimits limits;
  limits.wanted_units = small.wanted_units;
  return limits;
}

PlanResult planned(const SmallCase& small, const Objective& objective) {
  const Coefficients coefficients;
  PlanRequest request = request_of(small, coefficients);
  request.objective = objective;
  return plan_exactly(request, units_of(small));
}

double loss_of_plan(const PlanResult& result, const SmallCase& small, const Objective& objective) {
  return loss_of(objective, result.prediction->iteration_s, rented_by(*result.plan, small.cluster));
}

// Within the limits the best; returns whether there is a plan.
bool expect_best(const SmallCase& small, const Objective& objective, const BruteForce& brute) {
  const PlanResult exact = planned(small, objective);
  const double best = brute.best_loss(objective);
  EXPECT_EQ(exact.proof, Proof::optimal) << exact.message;
  EXPECT_EQ(exact.outcome == PlanOutcome::found, std::isfinite(best)) << exact.message;
  if (exact.outcome != PlanOutcome::found || !std::isfinite(best)) return false;
  const Rented rented = rented_by(*exact.plan, small.cluster);
  EXPECT_NEAR(loss_of_plan(exact, small, objective), best, kRounding * best) << brute.plans();
  EXPECT_NEAR(exact.lower_bound, best, kRounding * best);
  EXPECT_EQ(exact.gap_fraction, 0);
  EXPECT_LE(overrun_of(objective, exact.prediction->iteration_s, rented), kRounding);
  EXPECT_DOUBLE_EQ(exact.improvements.back().loss, exact.lower_bound);
  return true;
}

TEST(ExactGoals, EqualEveryPlanOfSmallSpaces) {
  int found = 0, none = 0;
  for (SmallCase& small : small_cases()) {
    SCOPED_TRACE(small.name);
    small.cluster = with_prices(small.cluster);
    const Coefficients coefficients;
    const PlanRequest request = request_of(small, coefficients);
    BruteForce brute(request, small.wanted_units);
    const double fastest_s = brute.best_s();
    const double rent = whole_rent(small.cluster);
    const double usd = rent * fastest_s / kSecondsPerHour;
    for (const Objective& objective :
         {Objective{.goal = Goal::cost}, Objective{.goal = Goal::devices},
          Objective{.goal = Goal::cost, .max_iteration_s = 1.3 * fastest_s},
          Objective{.goal = Goal::devices, .max_iteration_s = 2 * fastest_s},
          Objective{.max_iteration_s = 1.1 * fastest_s}, Objective{.max_usd_per_hour = 0.5 * rent},
          Objective{.max_usd_per_hour = 0.3 * rent, .max_usd_per_iteration = 0.9 * usd},
          Objective{.goal = Goal::devices, .max_usd_per_hour = 0.6 * rent, .max_usd_per_iteration = usd}})
      (expect_best(small, objective, brute) ? found : none) += 1;
  }
  EXPECT_GT(found, 60);
  EXPECT_GT(none, 2);  // limits have something to say
}

// Units may be parts of machines, but a machine is paid whole.
TEST(ExactGoals, EqualEveryPlanWhereNodesAreRentedWhole) {
  for (SmallCase& small : small_cases()) {
    SCOPED_TRACE(small.name);
    const Cluster priced = with_prices(small.cluster);
    std::vector<Node> nodes = priced.nodes();
    for (Node& node : nodes) node.rented_whole = true;
    small.cluster = {priced.name(), priced.device_types(), nodes, priced.levels()};
    const Coefficients coefficients;
    const PlanRequest request = request_of(small, coefficients);
    BruteForce brute(request, small.wanted_units);
    const double fastest_s = brute.best_s(), rent = whole_rent(small.cluster);
    EXPECT_TRUE(expect_best(small, {.goal = Goal::cost}, brute));
    expect_best(small, {.max_usd_per_hour = 0.6 * rent}, brute);
    expect_best(small, {.goal = Goal::cost, .max_iteration_s = 1.3 * fastest_s}, brute);
  }
}

TEST(ExactGoals, EqualEveryPlanThatObeysPins) {
  for (SmallCase& pinned : pinned_cases()) {
    SCOPED_TRACE(pinned.name);
    pinned.cluster = with_prices(pinned.cluster);
    const Coefficients coefficients;
    const PlanRequest request = request_of(pinned, coefficients);
    BruteForce brute(request, pinned.wanted_units);
    EXPECT_LT(brute.best_s(), 1e9);
    for (const Goal goal : {Goal::cost, Goal::devices}) EXPECT_TRUE(expect_best(pinned, {.goal = goal}, brute));
  }
}

// The order of shares and their remainders rest on tasks that share devices with no other.
TEST(ExactGoals, NoGroupingPromisesMoreThanTheFinest) {
  for (SmallCase& small : small_cases()) {
    SCOPED_TRACE(small.name);
    const Coefficients coefficients;
    const PlanRequest request = request_of(small, coefficients);
    UnitSpace space(request, small.wanted_units);
    const SyncCost sync(space);
    ProofProgress progress(request, 0);
    GroupCosts costs(space, sync, progress);
    AssignmentSearch deals(space, sync, costs, progress);
    const std::vector<TaskGrouping> groupings = task_groupings(space.tasks());
    for (int share = 1; share < space.share_count(); ++share) {
      deals.use_exactly(share);
      const double finest_s = deals.cheap_bound_s(groupings.back());
      for (const TaskGrouping& grouping : groupings)
        EXPECT_GE(deals.cheap_bound_s(grouping), finest_s * (1 - kRounding));
    }
  }
}

SmallCase mixed_case() {
  return {"mixed", with_prices(cluster_of({{"a100", 1}, {"l40s", 1}})), small_ppo(Mode::asynchronous), 8};
}

TEST(ExactGoals, StoppedEarlyHaveAValidGap) {
  const SmallCase small = mixed_case();
  for (const Goal goal : {Goal::cost, Goal::devices}) {
    const PlanResult proved = planned(small, {.goal = goal});
    ASSERT_EQ(proved.proof, Proof::optimal);
    for (const std::uint64_t nodes : {1, 8, 64, 256}) {
      const Coefficients coefficients;
      PlanRequest request = request_of(small, coefficients);
      request.objective.goal = goal;
      request.budget.evaluations = nodes;
      const PlanResult stopped = plan_exactly(request, units_of(small));
      if (proved.nodes <= nodes) continue;
      EXPECT_EQ(stopped.proof, Proof::gap);
      EXPECT_GT(stopped.lower_bound, 0);
      EXPECT_LE(stopped.lower_bound, proved.lower_bound * (1 + kRounding));
      if (stopped.outcome != PlanOutcome::found) continue;
      const double loss = loss_of_plan(stopped, small, request.objective);
      EXPECT_NEAR(stopped.gap_fraction, loss / stopped.lower_bound - 1, kRounding * (1 + stopped.gap_fraction));
    }
  }
}

TEST(ExactGoals, CancelledHaveABoundAllTheSame) {
  const SmallCase small = mixed_case();
  const Coefficients coefficients;
  const std::atomic<bool> cancelled = true;
  PlanRequest request = request_of(small, coefficients);
  request.objective.goal = Goal::cost;
  request.is_cancelled = &cancelled;
  const PlanResult result = plan_exactly(request, units_of(small));
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(result.proof, Proof::time_limit);
  const PlanResult proved = planned(small, {.goal = Goal::cost});
  EXPECT_GT(result.lower_bound, 0);
  EXPECT_LT(result.lower_bound, proved.lower_bound);
}

// One that breaks the limits is nothing to begin with.
TEST(ExactGoals, BeginWithAPlanThatKeepsTheLimits) {
  const SmallCase small = mixed_case();
  const PlanResult fastest = planned(small, {}), cheapest = planned(small, {.goal = Goal::cost});
  const Coefficients coefficients;
  PlanRequest request = request_of(small, coefficients);
  request.objective.goal = Goal::cost;
  ExactLimits limits = units_of(small);
  limits.start = &cheapest;
  const PlanResult again = plan_exactly(request, limits);
  EXPECT_EQ(again.plan, cheapest.plan);
  EXPECT_EQ(again.proof, Proof::optimal);
  EXPECT_LT(again.nodes, cheapest.nodes);
  limits.start = &fastest;
  EXPECT_EQ(plan_exactly(request, limits).lower_bound, cheapest.lower_bound);
  const double rent = rented_by(*fastest.plan, small.cluster).usd_per_hour;
  request.objective = {.max_usd_per_hour = 0.9 * rent};
  const PlanResult poorer = plan_exactly(request, limits);
  EXPECT_EQ(poorer.outcome, PlanOutcome::found);
  EXPECT_GT(poorer.prediction->iteration_s, fastest.prediction->iteration_s);
  EXPECT_LE(rented_by(*poorer.plan, small.cluster).usd_per_hour, 0.9 * rent);
}

TEST(ExactGoals, SayHowNearTheFastestPlanComesToLimitsThatNoneKeeps) {
  const SmallCase small = mixed_case();
  const PlanResult fastest = planned(small, {});
  const double fastest_s = fastest.prediction->iteration_s;
  const PlanResult late = planned(small, {.max_iteration_s = 0.99 * fastest_s});
  EXPECT_EQ(late.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(late.proof, Proof::optimal);
  EXPECT_NE(late.message.find("no plan of the space keeps the limits"), std::string::npos) << late.message;
  EXPECT_NE(late.message.find("the fastest of all takes "), std::string::npos) << late.message;
  EXPECT_EQ(planned(small, {.max_iteration_s = fastest_s}).plan, fastest.plan);
  SmallCase tight = small;
  for (auto& [name, model] : tight.workflow.models) model.layers = 4000;
  EXPECT_NE(
      planned(tight, {.goal = Goal::cost, .max_iteration_s = 1}).message.find("no plan of the space fits"),
      std::string::npos);
}

// No search finds a cheaper plan of the same space.
TEST(ExactGoals, NoSearchIsCheaperThanTheProof) {
  const SmallCase small = mixed_case();
  const Coefficients coefficients;
  PlanRequest request = request_of(small, coefficients);
  request.objective.goal = Goal::cost;
  request.limits.within_unit_space = true;
  request.budget.evaluations = 20'000;
  const PlanResult proved = planned(small, {.goal = Goal::cost});
  const PlanResult found = find_planner("sha-ea")->plan(request);
  ASSERT_EQ(found.outcome, PlanOutcome::found);
  EXPECT_GE(loss_of_plan(found, small, request.objective), proved.lower_bound * (1 - kRounding));
}

}  // namespace
}  // namespace sextant::test
