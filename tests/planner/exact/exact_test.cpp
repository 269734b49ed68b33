// Branch and bound against every plan of small spaces, and what it says when it is stopped.
#include "planner/exact/exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "costmodel/terms/memory.h"
#include "planner/exact/bound.h"
#include "planner/exact/group_costs.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "tests/planner/exact/unit_space_case.h"
#include "tests/planner/neutral.h"
#include "tests/planner/planning_instances.h"

namespace sextant::test {
namespace {

// Returns how many plans of the space do not fit.
std::uint64_t expect_equal_to_brute_force(const SmallCase& small, const Coefficients& coefficients) {
  SCOPED_TRACE(small.name);
  const PlanRequest request = request_of(small, coefficients);
  ExactLimits limits;
  limits.wanted_units = small.wanted_units;
  const PlanResult exact = plan_exactly(request, limits);
  BruteForce brute(request, small.wanted_units);
  const double best_s = brute.best_s();
  EXPECT_TRUE(std::isfinite(best_s));
  EXPECT_EQ(exact.outcome, PlanOutcome::found) << exact.message;
  if (exact.outcome != PlanOutcome::found) return 0;
  EXPECT_EQ(exact.proof, Proof::optimal);
  EXPECT_NEAR(exact.prediction->iteration_s, best_s, kRounding * best_s) << brute.plans();
  EXPECT_NEAR(exact.lower_bound, best_s, kRounding * best_s);
  EXPECT_EQ(exact.gap_fraction, 0);
  EXPECT_LT(exact.nodes, brute.plans());
  check_plan(*exact.plan, small.workflow, small.cluster);
  for (const DeviceMemory& memory : plan_memory(small.workflow, *exact.plan, small.cluster))
    EXPECT_TRUE(memory.fits());
  return brute.unfit();
}

TEST(PlanExactly, EqualsEveryPlanOfSmallSpaces) {
  std::uint64_t unfit = 0;
  for (const SmallCase& small : small_cases()) unfit += expect_equal_to_brute_force(small, {});
  EXPECT_GT(unfit, 1000U);  // memory has something to say
}

// Tasks that do not run quite beside each other, and links that cost more.
TEST(PlanExactly, EqualsEveryPlanWithOtherCoefficients) {
  Coefficients coefficients;
  for (const auto& [id, value] :
       std::vector<std::pair<CoefficientId, double>>{{CoefficientId::task_overlap, 0.7},
                                                     {CoefficientId::weight_sync_efficiency, 0.3},
                                                     {CoefficientId::reshard_efficiency, 0.2},
                                                     {CoefficientId::weight_copy_weight, 3},
                                                     {CoefficientId::straggler_spread, 0.05}}) {
    Coefficient coefficient;
    coefficient.id = id;
    coefficient.value = value;
    coefficients.values.push_back(coefficient);
  }
  for (const SmallCase& small : small_cases()) (void)expect_equal_to_brute_force(small, coefficients);
}

double best_exact_s(const SmallCase& small) {
  const Coefficients coefficients;
  ExactLimits limits;
  limits.wanted_units = small.wanted_units;
  const PlanResult result = plan_exactly(request_of(small, coefficients), limits);
  return result.outcome == PlanOutcome::found ? result.prediction->iteration_s
                                              : std::numeric_limits<double>::infinity();
}

TEST(PlanExactly, IsNoFasterWithLessMemoryOrMoreWork) {
  for (const SmallCase& small : small_cases()) {
    SCOPED_TRACE(small.name);
    double faster_s = best_exact_s(small);
    for (const double share : {0.7, 0.4, 0.2}) {
      SmallCase less = small;
      std::map<std::string, DeviceType> types = small.cluster.device_types();
      for (auto& [name, type] : types) type.memory_bytes.value *= share;
      less.cluster = Cluster(small.cluster.name(), types, small.cluster.nodes(), small.cluster.levels());
      const double slower_s = best_exact_s(less);
      EXPECT_GE(slower_s, faster_s * (1 - kRounding)) << share << " of the memory";
      faster_s = slower_s;
    }
    SmallCase more = small;
    more.workflow.prompts *= 2;
    EXPECT_GE(best_exact_s(more), best_exact_s(small) * (1 - kRounding)) << "twice the prompts";
  }
}

// One more device may be left idle.
TEST(PlanExactly, IsNoSlowerWithOneMoreDevice) {
  struct Pair {
    SmallCase small;
    Cluster larger;
    int wanted_units;  // of the same size
  };
  const std::vector<Pair> pairs{
      {{"in a machine", cluster_of({{"a100", 1, 4}}), small_grpo(), 4}, cluster_of({{"a100", 1, 5}}), 5},
      {{"a machine", cluster_of({{"a100", 2, 2}}), small_grpo(Mode::asynchronous), 4},
       cluster_of({{"a100", 3, 2}}),
       6},
      {{"a slow one far away", cluster_of({{"a100", 1, 2}}), small_grpo(), 2},
       cluster_of({{"a100", 1, 2}, {"l4", 1, 1, "z2", "r2"}}),
       3},
      {{"another type", cluster_of({{"a100", 1, 4}}), small_grpo(Mode::asynchronous), 4},
       cluster_of({{"a100", 1, 4}, {"l40s", 1, 1}}),
       5},
      {{"ppo", cluster_of({{"l40s", 1, 4}}), small_ppo(), 4, {4}}, cluster_of({{"l40s", 1, 5}}), 5}};
  for (const Pair& pair : pairs) {
    SmallCase larger = pair.small;
    larger.cluster = pair.larger;
    larger.wanted_units = pair.wanted_units;
    EXPECT_LE(best_exact_s(larger), best_exact_s(pair.small) * (1 + kRounding)) << pair.small.name;
  }
}

TEST(PlanExactly, EqualsEveryPlanThatObeysPins) {
  const Coefficients coefficients;
  for (const SmallCase& pinned : pinned_cases()) {
    (void)expect_equal_to_brute_force(pinned, coefficients);
    const PlanResult obeys = plan_exactly(request_of(pinned, coefficients), {pinned.wanted_units});
    ASSERT_EQ(obeys.outcome, PlanOutcome::found) << pinned.name << ": " << obeys.message;
    for (const auto& [task, pin] : pinned.pins) EXPECT_EQ(obeys.plan->tasks.at(task).devices(), pin.devices);
    const bool is_apart = pinned.name.starts_with("pinned_apart");
    EXPECT_EQ(obeys.prediction->weight_sync_hidden_s > 0, is_apart) << pinned.name;
  }
}

TEST(PlanExactly, EqualsEveryPlanWithEvenLoads) {
  const Coefficients coefficients;
  for (const std::size_t at : {2, 5, 6, 10}) {
    const SmallCase small = small_cases()[at];
    PlanRequest request = request_of(small, coefficients);
    ExactLimits limits;
    limits.wanted_units = small.wanted_units;
    const double balanced_s = plan_exactly(request, limits).prediction->iteration_s;
    request.limits.balances_load = false;
    const double even_s = plan_exactly(request, limits).prediction->iteration_s;
    const double best_s = BruteForce(request, small.wanted_units).best_s();
    EXPECT_NEAR(even_s, best_s, kRounding * best_s) << small.name;
    EXPECT_LE(balanced_s, even_s * (1 + kRounding)) << small.name;
  }
}

// Devices with unlike memory: options that are equal but for which device needs most are not the same.
std::vector<SmallCase> unlike_cases() {
  std::vector<SmallCase> cases{
      {"two_devices", cluster_of({{"a100", 1, 1}, {"l4", 1, 1}}), small_grpo(Mode::synchronous, false), 2},
      {"three_devices", cluster_of({{"a100", 1, 2}, {"l4", 1, 1}}), small_grpo(Mode::asynchronous, false), 3},
      {"four_devices", cluster_of({{"a100", 1, 2}, {"l4", 1, 2}}), small_grpo(Mode::synchronous, false), 2}};
  // The last so large that what is on the small devices decides: of options with the same largest needs the
  // slower one fits alone.
  cases.push_back(cases.back());
  cases.back().name = "four_devices_tight";
  for (SmallCase& small : cases) {
    const bool is_tight = &small == &cases.back();
    for (auto& [name, model] : small.workflow.models) model.layers = is_tight ? 56 : 12;
    small.micro_batches = {1, 16};
  }
  return cases;
}

// Replicas may get their sequences by length, packed or padded: the result is as good as in proportion to
// speed, or better; with padding nearly always.
TEST(PlanExactly, EqualsEveryPlanOfUnevenLengths) {
  const Coefficients coefficients;
  int by_length = 0;
  for (const bool is_packed : {false, true}) {
    SmallCase small{"lengths", cluster_of({{"a100", 1, 2}, {"l4", 1, 2}}), small_grpo(Mode::synchronous, false),
                    2};
    small.workflow.response_tokens = {LengthKind::lognormal, {}, {}, 300, 0.9, 4000};
    small.micro_batches = {1, 16};
    PlanRequest request = request_of(small, coefficients);
    Execution execution;
    execution.packed = is_packed;
    request.choices.assign(small.workflow.tasks.size(), one_choice(execution));
    ExactLimits limits;
    limits.wanted_units = small.wanted_units;
    const PlanResult exact = plan_exactly(request, limits);
    BruteForce brute(request, small.wanted_units, OptionsOf::all);
    const double best_s = brute.best_s();
    ASSERT_EQ(exact.outcome, PlanOutcome::found) << exact.message;
    EXPECT_EQ(exact.proof, Proof::optimal);
    EXPECT_NEAR(exact.prediction->iteration_s, best_s, kRounding * best_s) << brute.plans();
    check_plan(*exact.plan, small.workflow, small.cluster);
    for (const auto& [name, task] : exact.plan->tasks) by_length += deals_by_length(task) ? 1 : 0;
  }
  EXPECT_GT(by_length, 0);
}

// With nothing left out at all.
TEST(PlanExactly, EqualsEveryPlanOfUnlikeDevices) {
  const Coefficients coefficients;
  std::uint64_t unfit = 0;
  for (const SmallCase& small : unlike_cases()) {
    SCOPED_TRACE(small.name);
    const PlanRequest request = request_of(small, coefficients);
    ExactLimits limits;
    limits.wanted_units = small.wanted_units;
    const PlanResult exact = plan_exactly(request, limits);
    BruteForce brute(request, small.wanted_units, OptionsOf::all);
    const double best_s = brute.best_s();
    unfit += brute.unfit();
    ASSERT_EQ(exact.outcome, PlanOutcome::found) << exact.message;
    EXPECT_EQ(exact.proof, Proof::optimal);
    EXPECT_NEAR(exact.prediction->iteration_s, best_s, kRounding * best_s) << brute.plans();
  }
  EXPECT_GT(unfit, 1000U);  // memory has something to say
}

TEST(PlanExactly, EqualsEveryPlanForOtherWaysToSynchronize) {
  const SmallCase small = small_cases()[6];
  PlanRequest request = request_of(small, {});
  const Coefficients coefficients;
  for (const WeightSyncMethod method : {WeightSyncMethod::flat, WeightSyncMethod::sharded}) {
    PlanRequest other{small.cluster, small.workflow, coefficients};
    other.limits = request.limits;
    other.weight_sync.method = method;
    BruteForce brute(other, small.wanted_units);
    const double best_s = brute.best_s();
    ExactLimits limits;
    limits.wanted_units = small.wanted_units;
    const PlanResult exact = plan_exactly(other, limits);
    EXPECT_EQ(exact.proof, Proof::optimal);
    EXPECT_NEAR(exact.prediction->iteration_s, best_s, kRounding * best_s);
  }
}

// A case whose proof takes some nodes.
const SmallCase& hard_case() {
  static const SmallCase hard{"hard", cluster_of({{"a100", 1}, {"l40s", 1}}), small_ppo(Mode::asynchronous), 8};
  return hard;
}

TEST(PlanExactly, StoppedEarlyHasAValidGap) {
  const Coefficients coefficients;
  const PlanRequest whole = request_of(hard_case(), coefficients);
  const PlanResult proved = plan_exactly(whole);
  ASSERT_EQ(proved.proof, Proof::optimal);
  const double best_s = proved.prediction->iteration_s;
  double last_bound_s = 0;
  for (const std::uint64_t nodes : {8, 64, 256}) {
    ASSERT_GT(proved.nodes, nodes);
    PlanRequest request = request_of(hard_case(), coefficients);
    request.budget.evaluations = nodes;
    const PlanResult stopped = plan_exactly(request);
    EXPECT_EQ(stopped.proof, Proof::gap);
    EXPECT_GT(stopped.lower_bound, 0);
    EXPECT_LE(stopped.lower_bound, best_s * (1 + kRounding));
    EXPECT_GE(stopped.lower_bound, last_bound_s * (1 - kRounding));
    last_bound_s = stopped.lower_bound;
    if (stopped.outcome != PlanOutcome::found) continue;
    EXPECT_GE(stopped.prediction->iteration_s, best_s * (1 - kRounding));
    EXPECT_NEAR(stopped.gap_fraction, stopped.prediction->iteration_s / stopped.lower_bound - 1, kRounding);
  }
}

TEST(PlanExactly, CancelledReturnsWhatItHas) {
  const Coefficients coefficients;
  const std::atomic<bool> cancelled = true;
  PlanRequest request = request_of(hard_case(), coefficients);
  request.is_cancelled = &cancelled;
  const PlanResult result = plan_exactly(request);
  EXPECT_EQ(result.proof, Proof::time_limit);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_NE(result.message.find("before a plan"), std::string::npos) << result.message;
}

TEST(PlanExactly, SecondsStopIt) {
  const Coefficients coefficients;
  PlanRequest request = request_of(hard_case(), coefficients);
  request.budget.seconds = 1e-6;
  EXPECT_EQ(plan_exactly(request).proof, Proof::time_limit);
}

// Machines of one device each, of which links tell every one from the others.
Cluster measured_hosts(int hosts) {
  const LinkException cable{LinkScope::node, "l4-z1-0", "l4-z1-1", {assumed(1e-5), assumed(2e9)}, true};
  return cluster_of({{"l4", hosts, 1}}, {cable});
}

TEST(PlanExactly, SaysThatASpaceIsTooLarge) {
  const Coefficients coefficients;
  const Workflow workflow = ppo_8b();
  for (const int hosts : {15, 20, 31, 32, 64, 200}) {
    const Cluster cluster = measured_hosts(hosts);
    const PlanRequest request{cluster, workflow, coefficients};
    const PlanResult result = plan_exactly(request);
    EXPECT_EQ(result.outcome, PlanOutcome::too_large) << hosts;
    EXPECT_EQ(result.proof, Proof::none);
    EXPECT_NE(result.message.find(std::to_string(hosts) + " classes"), std::string::npos) << result.message;
    EXPECT_THROW(UnitSpace(request, 8), Error);
  }
  EXPECT_EQ(size_limit_reason(measured_hosts(14), 8), "");
}

// Before the first node there are all options of all shares to cost: minutes of this cluster.
TEST(PlanExactly, ALargeClusterIsInterruptedAtOnce) {
  const Instance large = instance_of(256);
  const Coefficients coefficients;
  const std::atomic<bool> cancelled = true;
  for (const bool is_cancelled : {true, false}) {
    PlanRequest request{large.cluster, large.workflow, coefficients};
    if (is_cancelled) request.is_cancelled = &cancelled;
    if (!is_cancelled) request.budget.seconds = 1e-6;
    const PlanResult result = plan_exactly(request);
    EXPECT_EQ(result.proof, Proof::time_limit);
    EXPECT_EQ(result.nodes, 0U);
    EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
    EXPECT_DOUBLE_EQ(result.lower_bound, min_iteration_s(request));
  }
}

TEST(GroupCosts, CostNothingOnceInterrupted) {
  const SmallCase small = small_cases()[6];
  const Coefficients coefficients;
  std::atomic<bool> cancelled = true;
  PlanRequest request = request_of(small, coefficients);
  request.is_cancelled = &cancelled;
  UnitSpace space(request, small.wanted_units);
  const SyncCost sync(space);
  ProofProgress progress(request, 0);
  GroupCosts costs(space, sync, progress);
  const int all = space.share_count() - 1;
  EXPECT_EQ(costs.within(TaskSet{3}, all).sum_s, 0);  // a bound of anything
  EXPECT_EQ(space.evaluator().asked(), 0U);
  // A zero from an interrupted search is not reused by others.
  cancelled = false;
  ProofProgress next(request, 0);
  GroupCosts again(space, sync, next);
  const double bound_of_all_s = again.within(TaskSet{3}, all).sum_s;
  EXPECT_GT(bound_of_all_s, 0);
  // And what is known stays known.
  cancelled = true;
  EXPECT_TRUE(next.is_interrupted());
  EXPECT_EQ(again.within(TaskSet{3}, all).sum_s, bound_of_all_s);
  EXPECT_EQ(again.within(TaskSet{5}, all).sum_s, 0);
}

TEST(PlanExactly, TellsTheSameTwice) {
  const Coefficients coefficients;
  const PlanRequest request = request_of(hard_case(), coefficients);
  const PlanResult first = plan_exactly(request), second = plan_exactly(request);
  EXPECT_EQ(first.plan, second.plan);
  EXPECT_EQ(first.nodes, second.nodes);
}

TEST(PlanExactly, StartsFromAPlan) {
  const Coefficients coefficients;
  const PlanRequest request = request_of(hard_case(), coefficients);
  const PlanResult cold = plan_exactly(request);
  ExactLimits limits;
  limits.start = &cold;
  const PlanResult warm = plan_exactly(request, limits);
  EXPECT_EQ(warm.proof, Proof::optimal);
  EXPECT_EQ(warm.plan, cold.plan);  // nothing is better: its own start
  EXPECT_LT(warm.nodes, cold.nodes);
  EXPECT_EQ(warm.candidates, 0U);
  // A worse one is left behind.
  PlanResult worse = cold;
  worse.prediction->iteration_s *= 1.5;
  limits.start = &worse;
  const PlanResult better = plan_exactly(request, limits);
  EXPECT_NEAR(better.prediction->iteration_s, cold.prediction->iteration_s,
              kRounding * cold.prediction->iteration_s);
  EXPECT_GT(better.candidates, 0U);
}

// The message is about the task that cannot be placed, or about all of them.
TEST(PlanExactly, SaysWhatIsShort) {
  const Coefficients coefficients;
  const Workflow workflow = ppo_8b();
  const Cluster tiny = cluster_of({{"l4", 1, 2}});
  const PlanResult one = plan_exactly({tiny, workflow, coefficients});
  EXPECT_EQ(one.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(one.proof, Proof::optimal);
  EXPECT_NE(one.message.find("actor_training fits on no part"), std::string::npos) << one.message;
  const Cluster small = cluster_of({{"a100", 1, 4}});
  const PlanResult all = plan_exactly({small, workflow, coefficients});
  EXPECT_EQ(all.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(all.proof, Proof::optimal);
  EXPECT_NE(all.message.find("not all together"), std::string::npos) << all.message;
}

TEST(PlanExactly, RefusesCustomGraphs) {
  Workflow workflow = small_grpo();
  workflow.algorithm = Algorithm::custom;
  const Cluster cluster = cluster_of({{"a100", 1, 4}});
  const Coefficients coefficients;
  EXPECT_THROW((void)plan_exactly({cluster, workflow, coefficients}), Error);
}

// Two tasks of two options each on two devices: the fast ones do not fit together.
TEST(Packing, ByHand) {
  const auto option = [](double resident, double working) {
    return ExactOption{0, DeviceOrder::by_replica, {}, {resident, resident}, {working, working}};
  };
  const std::vector<ExactOption> first{option(6e3, 2e3), option(3e3, 2e3)};
  const std::vector<ExactOption> second{option(5e3, 1e3), option(1e3, 1e3)};
  const std::vector<PackedTask> tasks{{&first, {1, 3}}, {&second, {2, 7}}};
  EXPECT_EQ(min_packed_s(tasks, {13e3, 13e3}), 3);    // 6 + 5 resident, 2 working
  EXPECT_EQ(min_packed_s(tasks, {12.9e3, 13e3}), 5);  // 3 + 5 + 2: the first task's slower one
  EXPECT_EQ(min_packed_s(tasks, {9.9e3, 9.9e3}), 8);  // 6 + 1 + 2: the second's
  EXPECT_EQ(min_packed_s(tasks, {6e3, 6e3}), 10);
  EXPECT_EQ(min_packed_s(tasks, {5.9e3, 13e3}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sextant::test
