// Plans by time, dollars and devices, with limits.
#include "sextant/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "planner/exact/exact.h"
#include "planner/exact/exhaustive.h"
#include "planner/request/device_words.h"
#include "sextant/error.h"
#include "sextant/planners.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// 16 A100 at 2 dollars, 8 L4 at half of one.
Cluster priced(bool has_all_prices = true) {
  const Cluster cluster = cluster_of({{"a100", 2}, {"l4", 1}});
  std::map<std::string, DeviceType> types = cluster.device_types();
  types["a100"].price_usd_per_hour = assumed(2.0);
  if (has_all_prices) types["l4"].price_usd_per_hour = assumed(0.5);
  return {cluster.name(), types, cluster.nodes(), cluster.levels()};
}

struct Found {
  double iteration_s;
  Rented rented;
};

Found found(const Objective& objective, std::string_view planner = "sha-ea") {
  const Cluster cluster = priced();
  Workflow workflow = ppo_8b();
  workflow.tasks = grpo_tasks(false);
  workflow.algorithm = Algorithm::grpo;
  workflow.responses_per_prompt = 1;
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.objective = objective;
  request.budget.evaluations = 20'000;
  const PlanResult result = find_planner(planner)->plan(request);
  EXPECT_EQ(result.outcome, PlanOutcome::found) << result.message;
  if (!result.plan) return {};
  return {result.prediction->iteration_s, rented_by(*result.plan, cluster)};
}

TEST(Objective, RentedDevicesAreCountedOnce) {
  Plan plan;
  const auto task_on = [](std::vector<DeviceId> devices) {
    TaskPlan task;
    task.replicas = {{1.0, {{32, std::move(devices)}}}};
    return task;
  };
  plan.tasks["a"] = task_on({DeviceId{0}, DeviceId{1}});
  plan.tasks["b"] = task_on({DeviceId{1}, DeviceId{16}});
  const Rented rented = rented_by(plan, priced());
  EXPECT_EQ(rented.devices, 3);
  EXPECT_DOUBLE_EQ(rented.usd_per_hour, 4.5);
  EXPECT_DOUBLE_EQ(usd_per_iteration(rented, 7200), 9.0);
}

// One device of a node that is rented whole costs as much as all of them; the search counts as the answer does.
TEST(Objective, NodesThatAreRentedWholeArePaidWhole) {
  const Cluster by_device = priced();
  std::vector<Node> nodes = by_device.nodes();
  for (Node& node : nodes) node.rented_whole = true;
  const Cluster whole(by_device.name(), by_device.device_types(), nodes, by_device.levels());
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::set<DeviceId> used;
    for (int k = 0; k < 1 + trial % 20; ++k) {
      used.insert(DeviceId{static_cast<int>(random() % static_cast<unsigned>(whole.device_count()))});
    }
    std::set<std::size_t> touched;
    for (const DeviceId device : used) touched.insert(whole.node_of(device).index());
    double usd = 0;
    for (const std::size_t n : touched)
      usd += nodes[n].devices * whole.device_types().at(nodes[n].device_type).price_usd_per_hour->value;
    const Rented rented = rented_devices(used, whole);
    EXPECT_DOUBLE_EQ(rented.usd_per_hour, usd);
    EXPECT_EQ(rented.devices, used.size());
    std::vector<std::uint16_t> numbers;
    for (const DeviceId device : used) numbers.push_back(static_cast<std::uint16_t>(device.value));
    const auto set = device_set(numbers, static_cast<std::size_t>(whole.device_count()));
    const Rented searched =
        DevicePrices(whole).rented(set.size(), [&set](std::size_t word) { return set[word]; });
    EXPECT_DOUBLE_EQ(searched.usd_per_hour, usd);
    EXPECT_LE(rented_devices(used, by_device).usd_per_hour, usd);
  }
}

TEST(Objective, LimitsThatAreExceededAddUp) {
  const Objective objective{Goal::time, 10, 4, 0};
  EXPECT_DOUBLE_EQ(overrun_of(objective, 15, {8, 5}), 0.5 + 0.25);
  EXPECT_DOUBLE_EQ(overrun_of(objective, 10, {8, 4}), 0);
}

TEST(Objective, TimesThatAreAsGoodFollowFromWhatIsRented) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const Rented eight{8, 16}, four{4, 4};
  EXPECT_EQ(time_as_good({}, 10, eight, four), 10);
  EXPECT_NEAR(time_as_good({.goal = Goal::cost}, 10, eight, four), 40, 1e-6);
  EXPECT_GT(time_as_good({.goal = Goal::cost}, 10, eight, {4, 0}), 1e10) << "centuries";
  EXPECT_LT(time_as_good({.goal = Goal::cost}, 10, {4, 0}, eight), 1e-8);
  EXPECT_EQ(time_as_good({.goal = Goal::cost}, 10, {8, 0}, {4, 0}), 10);
  EXPECT_EQ(time_as_good({.goal = Goal::devices}, 10, eight, four), kAny);
  EXPECT_EQ(time_as_good({.goal = Goal::devices}, 10, four, eight), 0);
  EXPECT_EQ(time_as_good({.goal = Goal::devices}, 10, four, {4, 99}), 10);
  EXPECT_EQ(max_time_s({}, eight), kAny);
  EXPECT_EQ(max_time_s({.max_iteration_s = 9, .max_usd_per_hour = 16}, eight), 9);
  EXPECT_LT(max_time_s({.max_usd_per_hour = 15}, eight), 0);
  EXPECT_EQ(max_time_s({.max_iteration_s = 9, .max_usd_per_iteration = 0.02}, eight), 4.5);
}

TEST(Objective, EachGoalIsBestAtWhatItIsFor) {
  const Found fast = found({}), cheap = found({.goal = Goal::cost}), small = found({.goal = Goal::devices});
  EXPECT_LT(fast.iteration_s, cheap.iteration_s);
  EXPECT_LT(fast.iteration_s, small.iteration_s);
  EXPECT_LT(usd_per_iteration(cheap.rented, cheap.iteration_s),
            0.99 * usd_per_iteration(fast.rented, fast.iteration_s));
  constexpr double kSearched = 1.05;  // a short search proves nothing
  EXPECT_LE(usd_per_iteration(cheap.rented, cheap.iteration_s),
            kSearched * usd_per_iteration(small.rented, small.iteration_s));
  EXPECT_LT(small.rented.devices, cheap.rented.devices + 1);
  EXPECT_LT(small.rented.devices, fast.rented.devices);
}

TEST(Objective, OfPlansThatCostNothingTheFasterIsBetter) {
  const Objective cost{.goal = Goal::cost};
  const Rented nothing{4, 0};
  EXPECT_LT(loss_of(cost, 0.2, nothing), loss_of(cost, 46.6, nothing));
  EXPECT_LT(loss_of(cost, 46.6, nothing), loss_of(cost, 0.2, {4, 0.01}))
      << "a cent an hour is more than nothing";
  EXPECT_LT(loss_of({.goal = Goal::devices}, 0.2, nothing), loss_of({.goal = Goal::devices}, 46.6, nothing));
}

// Plans of price 0 differ by their time alone, so that the cheapest is the fastest.
TEST(Objective, TheCheapestPlanOfFreeDevicesIsTheFastest) {
  const Cluster cluster = cluster_of({{"a100", 1, 4}});
  std::map<std::string, DeviceType> types = cluster.device_types();
  types["a100"].price_usd_per_hour = assumed(0.0);
  const Cluster free(cluster.name(), types, cluster.nodes(), cluster.levels());
  Workflow workflow = ppo_8b();
  workflow.tasks = grpo_tasks(false);
  workflow.algorithm = Algorithm::grpo;
  for (const Model& model : {model_8b()}) workflow.models["actor"] = workflow.models["reference"] = model;
  workflow.models.at("actor").layers = workflow.models.at("reference").layers = 4;
  workflow.prompts = 64;
  const Coefficients coefficients;
  for (const std::string_view planner : {"exact", "sha-ea", "mcmc"}) {
    PlanRequest request{free, workflow, coefficients};
    request.budget.evaluations = 20'000;
    const PlanResult fastest = find_planner(planner)->plan(request);
    request.objective.goal = Goal::cost;
    const PlanResult cheapest = find_planner(planner)->plan(request);
    ASSERT_EQ(cheapest.outcome, PlanOutcome::found) << planner << cheapest.message;
    EXPECT_NEAR(cheapest.prediction->iteration_s, fastest.prediction->iteration_s,
                0.01 * fastest.prediction->iteration_s)
        << planner;
    EXPECT_TRUE(std::isfinite(cheapest.gap_fraction) || cheapest.proof == Proof::none) << planner;
    EXPECT_EQ(*cheapest.bound_of_all_usd, 0) << planner;
  }
}

TEST(Objective, LimitsHold) {
  const Found fast = found({});
  const Found slower = found({.goal = Goal::cost, .max_iteration_s = 2 * fast.iteration_s});
  EXPECT_LE(slower.iteration_s, 2 * fast.iteration_s);
  EXPECT_LE(usd_per_iteration(slower.rented, slower.iteration_s),
            usd_per_iteration(fast.rented, fast.iteration_s) * (1 + 1e-9));
  const Found poorer = found({.max_usd_per_hour = 20});
  EXPECT_LE(poorer.rented.usd_per_hour, 20);
  EXPECT_GE(poorer.iteration_s, fast.iteration_s);
  const Found fewest = found({.goal = Goal::devices, .max_iteration_s = 2 * fast.iteration_s});
  EXPECT_LE(fewest.iteration_s, 2 * fast.iteration_s);
  EXPECT_LT(fewest.rented.devices, 24);
}

TEST(Objective, OtherSearchesHaveGoalsToo) {
  for (const std::string_view planner : {"exact", "mcmc", "plain-ea", "random"}) {
    const Found fast = found({}, planner), cheap = found({.goal = Goal::cost}, planner);
    EXPECT_LT(usd_per_iteration(cheap.rented, cheap.iteration_s),
              usd_per_iteration(fast.rented, fast.iteration_s))
        << planner;
  }
}

TEST(Objective, SaysWhichLimitCannotBeKept) {
  const Cluster cluster = priced();
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.objective.max_iteration_s = 1e-3;
  request.budget.evaluations = 2000;
  const PlanResult result = find_planner("sha-ea")->plan(request);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_NE(result.message.find("exceeds the limits"), std::string::npos) << result.message;
}

// The fastest plan that is found without a deadline says how far away the deadline is.
TEST(Objective, DistanceFromADeadlineIsThatOfTheFastestPlan) {
  const Cluster cluster = priced();
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.budget.evaluations = 2000;
  for (const char* name : {"sha-ea", "portfolio"}) {
    const Planner& planner = *find_planner(name);
    request.objective = {};
    const double fastest_s = planner.plan(request).prediction->iteration_s;
    request.objective.max_iteration_s = fastest_s / 1.25;
    const PlanResult late = planner.plan(request);
    EXPECT_EQ(late.outcome, PlanOutcome::infeasible);
    EXPECT_NE(late.message.find("asked for by 25.0 %"), std::string::npos) << late.message;
    request.objective.max_iteration_s = fastest_s * 1.0001;
    EXPECT_EQ(planner.plan(request).outcome, PlanOutcome::found) << name;
  }
}

TEST(Objective, RefusesWhatHasNoPriceAndPlannersThatKnowTimesAlone) {
  const Cluster cluster = priced(false);
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.objective.goal = Goal::cost;
  EXPECT_THROW((void)find_planner("sha-ea")->plan(request), Error);
  EXPECT_THROW((void)plan_exactly(request), Error);
  EXPECT_THROW((void)plan_exhaustively(request), Error);
}

}  // namespace
}  // namespace sextant::test
