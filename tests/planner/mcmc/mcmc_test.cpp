// ReaL's search: its rule and its meshes by hand, and that none of the faults of its public version is in it
// (measured and listed by us; each test of McmcOfReaL names one).
#include "planner/mcmc/mcmc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "planner/mcmc/meshes.h"
#include "planner/search/acceptance.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/neutral.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::SizeIs;

struct Rates {
  double flop_per_s = 100, memory_bytes_per_s = 50, within_bytes_per_s = 1e4, between_bytes_per_s = 1e3;
  double within_latency_s = 1e-3, between_latency_s = 1e-2;
  double memory_bytes = 1e6;
};

// Nodes of equal devices.
Cluster equal_nodes(int nodes, const Rates& rates = {}, int devices = 4) {
  std::vector<Node> all;
  all.reserve(static_cast<std::size_t>(nodes));
  for (int n = 0; n < nodes; ++n) all.push_back(node("n" + std::to_string(n), "gpu", devices));
  return Cluster("equal",
                 {{"gpu", device_type(rates.flop_per_s, rates.memory_bytes_per_s, rates.memory_bytes)}}, all,
                 {{LinkLevel::within_node, link_rate(rates.within_latency_s, rates.within_bytes_per_s)},
                  {LinkLevel::within_zone, link_rate(rates.between_latency_s, rates.between_bytes_per_s)}});
}

PlanRequest request_of(const Cluster& cluster, const Workflow& workflow) {
  PlanRequest request{cluster, workflow, kNeutral};
  request.limits.micro_batch_sequences = {1, 3};
  constexpr std::uint64_t kTwoChains = 20'000;
  request.budget.evaluations = kTwoChains;
  return request;
}

std::vector<std::uint64_t> found_at(const PlanResult& result) {
  std::vector<std::uint64_t> evaluations;
  for (const Improvement& improvement : result.improvements) evaluations.push_back(improvement.evaluations);
  return evaluations;
}

// ---- the parts ----

TEST(Acceptance, HasNoUnit) {
  constexpr double kRoom = 1e9;
  // exp(-ln 1.01 / 0.01) = 1.01^-100.
  const double expected = std::pow(1.01, -100.0);
  for (const double cost_s : {1e-6, 1e-3, 1.0, 1e6}) {
    const double loss = loss_of({cost_s, 0, cost_s}, kRoom),
                 worse = loss_of({1.01 * cost_s, 0, 1.01 * cost_s}, kRoom);
    EXPECT_NEAR(acceptance_probability(loss, worse, 0.01), expected, 1e-9) << cost_s;
    EXPECT_EQ(acceptance_probability(worse, loss, 0.01), 1) << cost_s;
  }
  EXPECT_NEAR(expected, 0.3697, 1e-4);
}

TEST(Acceptance, PlansThatDoNotFitAreWorseTheMoreTheyLack) {
  const double fits = loss_of({2, 0, 2}, 100), lacks = loss_of({2, 10, 2}, 100),
               lacks_more = loss_of({2, 20, 2}, 100);
  EXPECT_NEAR(lacks - fits, std::log(10) + 0.1, 1e-12);
  EXPECT_NEAR(lacks_more - lacks, 0.1, 1e-12);
}

TEST(Acceptance, TemperatureFallsByOneFactor) {
  EXPECT_DOUBLE_EQ(temperature_at(0, 100), 0.1);
  for (const std::uint64_t step : {0U, 50U, 98U})
    EXPECT_NEAR(temperature_at(step + 1, 100) / temperature_at(step, 100), std::pow(0.005, 0.01), 1e-12);
}

TEST(Meshes, OfTwoNodesByHand) {
  const std::vector<Mesh> meshes = device_meshes(equal_nodes(2));
  EXPECT_THAT(meshes, SizeIs(2 * (4 + 2) + 3));
  EXPECT_THAT(meshes, Contains(ElementsAre(5)));
  EXPECT_THAT(meshes, Contains(ElementsAre(6, 7)));
  EXPECT_THAT(meshes, Not(Contains(ElementsAre(5, 6))));
  EXPECT_THAT(meshes, Contains(ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(meshes, Contains(SizeIs(8)));
}

TEST(Meshes, PartsDivideTheirNode) {
  // Three pairs and six single devices; three do not halve a node of three.
  EXPECT_THAT(device_meshes(cluster_of({{"a100", 1, 6}})), SizeIs(6 + 3 + 1));
  EXPECT_THAT(device_meshes(cluster_of({{"a100", 1, 3}})), SizeIs(3 + 1));
}

TEST(Meshes, AreFewInLargeClusters) {
  EXPECT_THAT(device_meshes(cluster_of({{"a100", 16, 1}})), SizeIs(16 * 17 / 2));
  EXPECT_THAT(device_meshes(cluster_of({{"a100", 32, 1}})), SizeIs(63));
  const std::vector<Mesh> of_20 = device_meshes(cluster_of({{"a100", 20, 1}}));
  EXPECT_THAT(of_20, SizeIs(20 + 10 + 5 + 2 + 1 + 1));
  EXPECT_THAT(of_20.back(), SizeIs(20));
}

// ---- the whole ----

// Every plan of the search's own space, one by one.
double best_by_trying(const PlanRequest& request) {
  SearchRun run(request, 0);
  const MeshTable table(run);
  double best_s = 1e300;
  std::vector<std::size_t> choice(request.workflow.tasks.size(), 0);
  for (bool more = true; more;) {
    Candidate candidate;
    for (std::size_t t = 0; t < choice.size(); ++t) {
      const int task = static_cast<int>(t);
      candidate.tasks.push_back(placement_of(run.evaluator(), task, table.of(task)[choice[t]]));
    }
    const Score score = run.evaluator().evaluate(candidate);
    if (score.fits()) best_s = std::min(best_s, score.time_s);
    more = false;
    for (std::size_t t = 0; t < choice.size() && !more; ++t) {
      more = ++choice[t] < table.of(static_cast<int>(t)).size();
      if (!more) choice[t] = 0;
    }
  }
  return best_s;
}

TEST(Mcmc, FindsTheBestOfItsSpace) {
  const Cluster cluster = equal_nodes(1);
  for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
    const Workflow workflow = small_workflow(mode);
    PlanRequest request = request_of(cluster, workflow);
    const double best_s = best_by_trying(request);
    for (request.seed = 1; request.seed <= 3; ++request.seed)
      EXPECT_NEAR(plan_by_mcmc(request).prediction->iteration_s, best_s, 1e-9 * best_s);
  }
}

// A chain that took every step, or none that is worse, would stay above: by some 20 % and 5 %.
TEST(Mcmc, FewStepsComeNearWhatManyFind) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 200'000;
  const double many_s = plan_by_mcmc(request).prediction->iteration_s;
  request.budget.evaluations = 40'000;  // one of four seeds stays 3.2 % above until 30,000
  for (request.seed = 1; request.seed <= 4; ++request.seed)
    EXPECT_LT(plan_by_mcmc(request).prediction->iteration_s, 1.03 * many_s);
}

// (a) The public search cannot start: its graph builder returns what its caller does not expect.
TEST(McmcOfReaL, StartsAndReturns) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 5'000;
  const PlanResult result = plan_by_mcmc(request);
  EXPECT_EQ(result.outcome, PlanOutcome::found) << result.message;
  EXPECT_EQ(result.candidates, request.budget.evaluations);
}

// (b) There, training weighs five times as much as generation. On one device all tasks follow each other, so
// that what the search lowers is their sum, each once.
TEST(McmcOfReaL, CountsEveryTaskOnce) {
  const Cluster cluster = cluster_of({{"a100", 1, 1}});
  Workflow workflow = ppo_8b();
  for (auto& [name, model] : workflow.models) model.layers = 1;
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 2'000;
  const PlanResult result = plan_by_mcmc(request);
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  double sum_s = result.prediction->weight_sync_s;
  for (const auto& [name, task] : result.prediction->tasks) sum_s += task.time_s;
  EXPECT_EQ(result.prediction->tasks.size(), 6U);
  EXPECT_NEAR(result.improvements.back().iteration_s, sum_s, 1e-9 * sum_s);
}

// (c) There, computation is in ms, resharding in us, and the temperature for us. Hardware that is a thousand
// times faster in everything changes no plan and no decision on the way to it.
TEST(McmcOfReaL, ScaleOfTheCostsChangesNothing) {
  const auto a100_times = [](double factor) {
    return Rates{
        factor * 312e12, factor * 2039e9, factor * 200e9, factor * 12.5e9, 5e-6 / factor, 15e-6 / factor, 80e9};
  };
  const Workflow workflow = ppo_8b();
  const Cluster slow_cluster = equal_nodes(2, a100_times(1));
  for (const double factor : {1e3, 1e6}) {  // iterations of some 40 s, then 40 ms and 40 us
    const Cluster fast_cluster = equal_nodes(2, a100_times(factor));
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      PlanRequest slow_request = request_of(slow_cluster, workflow);
      PlanRequest fast_request = request_of(fast_cluster, workflow);
      slow_request.seed = fast_request.seed = seed;
      const PlanResult slow = plan_by_mcmc(slow_request), fast = plan_by_mcmc(fast_request);
      EXPECT_EQ(*slow.plan, *fast.plan);
      EXPECT_EQ(slow.feasible, fast.feasible);
      EXPECT_NEAR(slow.prediction->iteration_s, factor * fast.prediction->iteration_s,
                  1e-9 * slow.prediction->iteration_s);
      EXPECT_EQ(found_at(slow), found_at(fast));
      EXPECT_GT(found_at(slow).size(), 3U);  // the start is not the end
    }
  }
}

bool shares_devices(const PlanResult& result) {
  const std::set<DeviceId> generation = result.plan->tasks.at("actor_generation").devices();
  const std::set<DeviceId> training = result.plan->tasks.at("actor_training").devices();
  return std::any_of(generation.begin(), generation.end(),
                     [&](DeviceId device) { return training.contains(device); });
}

// (d) There, resharding costs nothing. Decoding that reads weights gains nothing from replicas, and latencies
// forbid cutting matrices, so generation and training are best beside each other, on a device each; over a slow
// network too, were the weights not to be sent.
TEST(McmcOfReaL, ReshardingCosts) {
  const Workflow workflow = small_workflow(Mode::asynchronous);
  Rates near;
  near.memory_bytes_per_s = 2;
  near.between_latency_s = 200;
  near.between_bytes_per_s = 10;
  Rates far = near;
  far.between_bytes_per_s = 1e-2;
  const Cluster near_cluster = equal_nodes(2, near, 1), far_cluster = equal_nodes(2, far, 1);
  const PlanResult beside = plan_by_mcmc(request_of(near_cluster, workflow));
  const PlanResult together = plan_by_mcmc(request_of(far_cluster, workflow));
  EXPECT_FALSE(shares_devices(beside));
  EXPECT_TRUE(shares_devices(together));
  EXPECT_GT(beside.prediction->weight_sync_s, 0);

  Workflow larger = workflow;
  for (auto& [name, model] : larger.models) model.intermediate *= 4;
  const double larger_sync_s = predict(near_cluster, larger, *beside.plan, kNeutral).weight_sync_s;
  // 64 + 3 * 32 parameters a layer became 64 + 3 * 128; the latency stays.
  EXPECT_NEAR(larger_sync_s - near.between_latency_s,
              448.0 / 160 * (beside.prediction->weight_sync_s - near.between_latency_s), 1e-6);
}

// (e) There, communication costs nothing.
TEST(McmcOfReaL, CommunicationCosts) {
  const Workflow workflow = small_workflow();
  Rates dear;
  dear.within_bytes_per_s = 1e-3;
  const Cluster cheap_cluster = equal_nodes(1), dear_cluster = equal_nodes(1, dear);
  const PlanResult cheap = plan_by_mcmc(request_of(cheap_cluster, workflow));
  const PlanResult alone = plan_by_mcmc(request_of(dear_cluster, workflow));
  EXPECT_THAT(cheap.plan->tasks.at("actor_training").devices(), SizeIs(4));
  EXPECT_THAT(alone.plan->tasks.at("actor_training").devices(), SizeIs(1));
}

// (f) There, every step takes its random numbers from the hardware.
TEST(McmcOfReaL, SeedsDecide) {
  const Cluster cluster = cluster_of({{"a100", 2}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 3'000;
  const PlanResult first = plan_by_mcmc(request), again = plan_by_mcmc(request);
  request.seed = 2;
  const PlanResult other = plan_by_mcmc(request);
  EXPECT_EQ(*first.plan, *again.plan);
  EXPECT_EQ(found_at(first), found_at(again));
  EXPECT_NE(found_at(first), found_at(other));
}

}  // namespace
}  // namespace sextant::test
