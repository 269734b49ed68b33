// HetRL's search: its parts, and plans that do not depend on threads.
#include "planner/sha_ea/sha_ea.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "costmodel/terms/memory.h"
#include "planner/exact/exact.h"
#include "planner/exact/exhaustive.h"
#include "planner/request/counts.h"
#include "planner/sha_ea/arms.h"
#include "planner/sha_ea/polish.h"
#include "planner/sha_ea/unit_assignment.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/exact/unit_space_case.h"

namespace sextant::test {
namespace {

TEST(Arms, AreAllWhereTheyAreFew) {
  std::mt19937_64 random(1);
  // Six tasks in eight units: as counts.h says, 4,929.
  std::size_t arms = 0;
  for (const Arms& of_grouping : arms_of(6, 8, {1, 64}, random)) {
    arms += of_grouping.sizes.size();
    for (const std::vector<int>& sizes : of_grouping.sizes) {
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), 8);
      EXPECT_EQ(sizes.size(), static_cast<std::size_t>(of_grouping.grouping.groups));
    }
  }
  EXPECT_EQ(static_cast<double>(arms), arm_count(6, 8));
}

TEST(Arms, AreDrawnWhereTheyAreMany) {
  std::mt19937_64 random(1);
  for (const Arms& of_grouping : arms_of(6, 128, {1, 64}, random)) {
    EXPECT_LE(of_grouping.sizes.size(), 64U);
    for (const std::vector<int>& sizes : of_grouping.sizes) {
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), 128);
      for (const int size : sizes) EXPECT_GE(size, 1);
    }
  }
}

TEST(Arms, AreOfASampleOfGroupingsWhereTasksAreMany) {
  std::mt19937_64 random(1);
  const std::vector<Arms> all = arms_of(40, 4, {100, 64}, random);
  EXPECT_EQ(all.size(), 100U);
  for (const Arms& of_grouping : all) {
    EXPECT_LE(of_grouping.grouping.groups, 4);
    EXPECT_EQ(static_cast<double>(of_grouping.sizes.size()), group_size_count(4, of_grouping.grouping.groups));
  }
}

TEST(Deals, KeepTheirSizes) {
  const std::vector<UnitClass> classes = unit_classes(mixed_64(), 8);
  std::mt19937_64 random(1);
  const std::vector<int> sizes = {3, 1, 4};
  const std::vector<double> flop_per_s = {312, 362, 362, 121};
  for (int i = 0; i < 200; ++i) {
    UnitAssignment deal = random_assignment(classes, sizes, random);
    (void)exchange_units(deal, random);
    (void)give_faster_unit(
        deal, {false, true, false},
        {flop_per_s.begin(), flop_per_s.begin() + static_cast<std::ptrdiff_t>(classes.size())}, random);
    for (std::size_t g = 0; g < sizes.size(); ++g)
      EXPECT_EQ(std::accumulate(deal[g].begin(), deal[g].end(), 0), sizes[g]);
    for (std::size_t c = 0; c < classes.size(); ++c) {
      int units = 0;
      for (const UnitShare& share : deal) units += share[c];
      EXPECT_EQ(units, classes[c].count());
    }
  }
}

// One generation, inference by many models, one training of the actor.
Workflow custom_workflow(int tasks) {
  Workflow workflow = small_workflow();
  workflow.algorithm = Algorithm::custom;
  workflow.tasks = {{"actor_generation", TaskKind::generation, "actor", {}}};
  std::vector<std::string> experience;
  for (int t = 0; t < tasks - 2; ++t) {
    experience.push_back("inference-" + std::to_string(t));
    workflow.tasks.push_back({experience.back(), TaskKind::inference, "reference", {"actor_generation"}});
  }
  workflow.tasks.push_back({"actor_training", TaskKind::training, "actor", experience});
  return workflow;
}

TEST(CustomGraphs, OfManyTasksObeyABudgetOfEvaluations) {
  const Cluster cluster = small_cluster();
  const Coefficients coefficients;
  for (const int tasks : {12, 40, 100}) {
    const Workflow workflow = custom_workflow(tasks);
    workflow.check();
    PlanRequest request{cluster, workflow, coefficients};
    request.budget.evaluations = 400;
    const PlanResult result = plan_by_sha_ea(request);
    ASSERT_EQ(result.outcome, PlanOutcome::found) << tasks << ": " << result.message;
    EXPECT_LE(result.candidates, 440U) << tasks << ": a few are counted after the last look at the budget";
    check_plan(*result.plan, workflow, cluster);
    Plan together = *result.plan;  // all tasks on device 0, one after the other
    for (auto& [name, task] : together.tasks) task = on_device(0);
    EXPECT_LE(result.prediction->iteration_s, predict(cluster, workflow, together, coefficients).iteration_s)
        << tasks;
  }
}

TEST(Deals, TrainingGetsTheFasterUnit) {
  std::mt19937_64 random(1);
  UnitAssignment deal = {{0, 2}, {2, 0}};  // training has the slower class
  EXPECT_TRUE(give_faster_unit(deal, {true, false}, {300, 100}, random));
  EXPECT_EQ(deal, (UnitAssignment{{1, 1}, {1, 1}}));
  deal = {{2, 0}, {0, 2}};
  EXPECT_FALSE(give_faster_unit(deal, {true, false}, {300, 100}, random));
}

// Two classes in different zones: exchanges bring each group together.
TEST(Deals, GatherWhatIsNear) {
  const std::vector<std::vector<double>> nearness = {{3, 1}, {1, 3}};
  EXPECT_EQ(gathered({{1, 1}, {1, 1}}, nearness), (UnitAssignment{{0, 2}, {2, 0}}));
  EXPECT_DOUBLE_EQ(affinity({{2, 0}, {0, 2}}, nearness), 12);
  EXPECT_DOUBLE_EQ(affinity({{1, 1}, {1, 1}}, nearness), 4);
}

// No exchange that is left raises the affinity, added up anew; none that was made lowered it.
TEST(Deals, GatherUntilNoExchangeHelps) {
  std::mt19937_64 random(3);
  constexpr std::size_t kClasses = 7;
  std::vector<std::vector<double>> nearness(kClasses, std::vector<double>(kClasses));
  for (std::vector<double>& row : nearness) {
    for (double& near : row) near = static_cast<double>(random() % 1000) / 100;
  }
  const std::vector<UnitClass> classes(kClasses, UnitClass{1, {{0}, {1}, {2}}});
  for (int round = 0; round < 20; ++round) {
    const UnitAssignment before = random_assignment(classes, {6, 4, 8, 3}, random);
    const UnitAssignment after = gathered(before, nearness);
    const double reached = affinity(after, nearness);
    EXPECT_GT(reached, affinity(before, nearness));
    for (int attempt = 0; attempt < 200; ++attempt) {
      UnitAssignment other = after;
      ASSERT_TRUE(exchange_units(other, random));
      EXPECT_LE(affinity(other, nearness), reached * (1 + 1e-9));
    }
  }
}

TEST(Units, WholeMachinesStayWhole) {
  const std::vector<UnitClass> classes = unit_classes(cluster_of({{"a100", 2}, {"l4", 1, 6}}), 8);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].count(), 8);  // quarters of 8 devices
  EXPECT_EQ(classes[0].devices, 2);
  EXPECT_EQ(classes[1].count(), 3);  // 6 devices cannot be quartered
  const auto groups = devices_of_groups(classes, {{4, 1}, {4, 2}});
  EXPECT_EQ(groups[0], (std::vector<std::uint16_t>{0, 1, 2, 3, 4, 5, 6, 7, 20, 21}));
  EXPECT_EQ(groups[1], (std::vector<std::uint16_t>{8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
}

PlanResult searched(const Cluster& cluster, const Workflow& workflow, int threads, std::uint64_t seed = 1) {
  const Coefficients coefficients;
  PlanRequest own{cluster, workflow, coefficients};
  own.budget.evaluations = 8'000;
  own.threads = threads;
  own.seed = seed;
  return plan_by_sha_ea(own);
}

TEST(ShaEa, PlansDoNotDependOnThreads) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}, {"l4", 1, 4, "z2"}});
  const Workflow workflow = ppo_8b();
  const PlanResult one = searched(cluster, workflow, 1);
  ASSERT_EQ(one.outcome, PlanOutcome::found);
  for (const int threads : {2, 3}) {
    const PlanResult more = searched(cluster, workflow, threads);
    ASSERT_EQ(more.outcome, PlanOutcome::found);
    EXPECT_EQ(*more.plan, *one.plan);
    EXPECT_EQ(more.candidates, one.candidates);
  }
}

// With a time budget each thread has an island; evaluations are split over four.
TEST(ShaEa, SaysHowManyThreadsSearched) {
  const Cluster cluster = cluster_of({{"a100", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  request.threads = 6;
  request.budget.seconds = 0.05;
  EXPECT_EQ(plan_by_sha_ea(request).threads, 6);
  request.budget = {0, 600};
  EXPECT_EQ(plan_by_sha_ea(request).threads, 4);
  request.threads = 3;
  EXPECT_EQ(plan_by_sha_ea(request).threads, 3);
}

// Every machine is a class of its own: thousands of exchanges for every deal that is looked at.
TEST(ShaEa, PlansManyMeasuredHosts) {
  const LinkException cable{LinkScope::node, "a100-z1-0", "a100-z1-1", {assumed(1e-5), assumed(2e9)}, true};
  const PlanResult result = searched(cluster_of({{"a100", 32, 1}}, {cable}), ppo_8b(), 1);
  EXPECT_EQ(result.outcome, PlanOutcome::found) << result.message;
}

TEST(ShaEa, PlansFitAndAreWhatWasScored) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}});
  for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
    const Workflow workflow = ppo_8b(mode);
    const PlanResult result = searched(cluster, workflow, 1);
    ASSERT_EQ(result.outcome, PlanOutcome::found);
    check_plan(*result.plan, workflow, cluster);
    for (const DeviceMemory& memory : plan_memory(workflow, *result.plan, cluster)) EXPECT_TRUE(memory.fits());
    ASSERT_FALSE(result.improvements.empty());
    EXPECT_NEAR(result.improvements.back().iteration_s, result.prediction->iteration_s,
                1e-9 * result.prediction->iteration_s);
    for (std::size_t i = 1; i < result.improvements.size(); ++i)
      EXPECT_LT(result.improvements[i].iteration_s, result.improvements[i - 1].iteration_s);
  }
}

// On a cluster that can be searched whole it finds the best of all groupings, or better: it also deals layers
// and sequences unevenly.
TEST(ShaEa, IsAsGoodAsAllPlansOfASmallCluster) {
  const Cluster cluster = small_cluster();
  for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
    const Workflow workflow = small_workflow(mode);
    const Coefficients coefficients;
    PlanRequest request{cluster, workflow, coefficients};
    request.limits.micro_batch_sequences = {1, 3};
    request.budget.evaluations = 20'000;
    const PlanResult all = plan_exhaustively(request);
    const PlanResult found = plan_by_sha_ea(request);
    ASSERT_EQ(found.outcome, PlanOutcome::found);
    EXPECT_LE(found.prediction->iteration_s, 1.01 * all.prediction->iteration_s);
  }
}

// If both search one space, no plan is better than the one that is proved optimal.
TEST(ShaEa, IsNoBetterThanExactWithinItsSpace) {
  const Coefficients coefficients;
  double best_gap = 1;
  for (const SmallCase& small : small_cases()) {
    PlanRequest request = request_of(small, coefficients);
    const PlanResult exact = plan_exactly(request);
    ASSERT_EQ(exact.proof, Proof::optimal);
    request.limits.within_unit_space = true;
    request.budget.evaluations = 100000;
    const PlanResult found = plan_by_sha_ea(request);
    ASSERT_EQ(found.outcome, PlanOutcome::found) << small.name << found.message;
    const double gap = found.prediction->iteration_s / exact.prediction->iteration_s - 1;
    EXPECT_GE(gap, -1e-9) << small.name;
    EXPECT_LE(gap, 0.01) << small.name;
    best_gap = std::min(best_gap, gap);
  }
  EXPECT_LE(best_gap, 1e-9);
}

// All tasks on all devices.
Scored all_together(SearchRun& run) {
  const PlanRequest& request = run.request();
  Arranger arranger(run);
  const std::vector<UnitClass> classes = unit_levels(request.cluster, 8).front();
  DeviceSets together{std::vector<int>(request.workflow.tasks.size(), 0), {}};
  for (const UnitClass& of_class : classes) together.regions.push_back({{1, of_class.count()}});
  Scored scored;
  EXPECT_TRUE(arranger.arrange(classes, together, scored));
  return scored;
}

// HetRL's ablation (Figure 4): where tasks run on devices that differ, layers and sequences by speed are
// faster.
TEST(ShaEa, BalancingPaysOnUnequalDevices) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  Scored balanced = all_together(run);
  Scored even = balanced;
  std::mt19937_64 random(1);
  polish(run, {10'000, true}, random, balanced);
  polish(run, {10'000, false}, random, even);
  EXPECT_LT(balanced.score.time_s, 0.99 * even.score.time_s);
  for (std::size_t t = 0; t < even.candidate.tasks.size(); ++t) {
    const Shape& shape = run.evaluator().shapes(static_cast<int>(t)).at(even.candidate.tasks[t].shape);
    const auto [minimum, maximum] = std::minmax_element(shape.sequences.begin(), shape.sequences.end());
    EXPECT_LE(*maximum - *minimum, 1);
  }
}

// Islands on two threads have one curve, which goes neither up nor back.
TEST(ShaEa, CurvesOfIslandsAreOne) {
  const Cluster cluster = mixed_64();
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  for (const Budget& budget : {Budget{0.3, 0}, Budget{0, 8'000}}) {
    PlanRequest request{cluster, workflow, coefficients};
    request.budget = budget;
    request.threads = 2;
    const std::vector<Improvement> curve = plan_by_sha_ea(request).improvements;
    ASSERT_GT(curve.size(), budget.evaluations > 0 ? 2U : 0U);  // how far 0.3 s reach says the machine
    for (std::size_t i = 1; i < curve.size(); ++i) {
      EXPECT_LT(curve[i].loss, curve[i - 1].loss);
      EXPECT_GE(curve[i].seconds, curve[i - 1].seconds);
      EXPECT_GE(curve[i].evaluations, curve[i - 1].evaluations);
    }
  }
}

// Deals without a layout for some task count as evaluations too: of 37 devices there may be no others.
TEST(ShaEa, EndsWhereTasksHaveNoLayouts) {
  Workflow workflow = ppo_8b();
  workflow.prompts = 2;
  for (auto& [name, model] : workflow.models) model.layers = 1;
  const PlanResult result = searched(cluster_of({{"l4", 37, 1}}), workflow, 1);
  EXPECT_GE(result.candidates, 8'000U);
}

TEST(ShaEa, SaysWhereNothingFits) {
  const PlanResult result = searched(cluster_of({{"l4", 1, 2}}), ppo_8b(), 1);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_FALSE(result.plan);
  EXPECT_NE(result.message.find("fits"), std::string::npos);
}

TEST(ShaEa, CanBeCancelled) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}});
  const Workflow workflow = ppo_8b();
  const Coefficients coefficients;
  std::atomic<bool> is_cancelled = false;
  PlanRequest request{cluster, workflow, coefficients};
  request.budget.seconds = 600;
  request.is_cancelled = &is_cancelled;
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    is_cancelled = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const PlanResult result = plan_by_sha_ea(request);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(result.outcome, PlanOutcome::found);
}

// HetRL 4.2: where lengths differ and are known, strong devices get the long sequences, and it pays.
TEST(ShaEa, LongSequencesGoToStrongDevices) {
  const Cluster cluster = cluster_of({{"a100", 1}, {"l40s", 1}});
  Workflow workflow = ppo_8b();
  workflow.response_tokens = {LengthKind::lognormal, {}, {}, 600, 0.8, 4096};
  const Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  SearchRun run(request, 0);
  Scored dealt = all_together(run);
  std::mt19937_64 random(1);
  polish(run, {10'000, true}, random, dealt);
  Evaluator& evaluator = run.evaluator();
  int by_length = 0;
  for (std::size_t t = 0; t < dealt.candidate.tasks.size(); ++t) {
    const int task = static_cast<int>(t);
    const Placement placement = dealt.candidate.tasks[t];
    const Shape shape = evaluator.shapes(task).at(placement.shape);
    if (shape.length_ranks.empty()) continue;
    ++by_length;
    for (std::size_t i = 0; i < shape.sequences.size(); ++i) {
      for (std::size_t j = 0; j < shape.sequences.size(); ++j) {
        const auto strong = [&](std::size_t replica) {  // on L40S alone, whose FLOP/s are more than A100's
          const auto size = static_cast<std::size_t>(shape.replica_devices());
          const auto first = placement.devices.begin() + static_cast<std::ptrdiff_t>(replica * size);
          return std::all_of(first, first + static_cast<std::ptrdiff_t>(size), [](int d) { return d >= 8; });
        };
        if (!strong(i) || strong(j)) continue;
        EXPECT_GT(shape.length_ranks[i], shape.length_ranks[j]);
      }
    }
    Candidate mixed = dealt.candidate;
    Shape as_they_come = shape;
    as_they_come.length_ranks.clear();
    mixed.tasks[t].shape = evaluator.shapes(task).add(as_they_come);
    EXPECT_GT(evaluator.evaluate(mixed).time_s, dealt.score.time_s) << workflow.tasks[t].name;
  }
  EXPECT_GT(by_length, 0);
}

}  // namespace
}  // namespace sextant::test
