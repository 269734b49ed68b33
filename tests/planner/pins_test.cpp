// Tasks that stay where they are: obeyed by every planner that says so, refused by the others.
#include "sextant/search_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "planner/exact/bound.h"
#include "planner/exact/exhaustive.h"
#include "planner/explain/change.h"
#include "planner/explain/explain.h"
#include "planner/request/subcluster.h"
#include "planner/space/units.h"
#include "planner/verify/verify.h"
#include "sextant/error.h"
#include "sextant/planners.h"
#include "sextant/predict.h"
#include "tests/core/expect_error.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/neutral.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTraining = "actor_training";
constexpr const char* kGeneration = "actor_generation";
constexpr const char* kReference = "reference_inference";

std::set<DeviceId> ids(const std::vector<int>& numbers) {
  std::set<DeviceId> devices;
  for (const int number : numbers) devices.insert(DeviceId{number});
  return devices;
}

// Two machines, three devices.
Cluster tiny_cluster() {
  return Cluster("tiny", {{"fast", device_type(100, 50)}, {"slow", device_type(40, 30)}},
                 {node("a", "fast", 2), node("b", "slow", 1)},
                 {{LinkLevel::within_node, link_rate(0.1, 100)}, {LinkLevel::within_zone, link_rate(0.5, 50)}});
}

struct PredictionQuery {
  Cluster cluster = tiny_cluster();
  Workflow workflow = small_workflow();
  PlanRequest request{cluster, workflow, kNeutral};

  PredictionQuery() {
    request.limits.micro_batch_sequences = {1, 3};
    request.limits.balances_load = false;  // as the exhaustive search, which deals evenly
    request.budget.evaluations = 4000;
  }
  explicit PredictionQuery(Pins pins) : PredictionQuery() { request.limits.pins = std::move(pins); }
  PredictionQuery(const PredictionQuery&) = delete;
  PredictionQuery& operator=(const PredictionQuery&) = delete;
  ~PredictionQuery() = default;
};

void expect_obeyed(const PlanResult& result, const PlanRequest& request) {
  ASSERT_EQ(result.outcome, PlanOutcome::found) << result.message;
  const Verdict verdict = verify_plan(request.cluster, request.workflow, *result.plan, request.coefficients,
                                      kAny, request.limits.pins);
  EXPECT_TRUE(verdict.feasible()) << describe(verdict.violations.front());
  EXPECT_GE(result.prediction->iteration_s, min_iteration_s(request) * (1 - kRounding));
}

class EveryPlannerWithPins : public ::testing::TestWithParam<Planner> {
 protected:
  void SetUp() override {
    if (!GetParam().traits.is_built()) GTEST_SKIP() << "not in this build";
  }
  [[nodiscard]] PlanResult planned(const PlanRequest& request) const { return GetParam().plan(request); }
  void expect(const Pins& pins) const {
    const PredictionQuery asked(pins);
    if (GetParam().traits.has_pins) {
      expect_obeyed(planned(asked.request), asked.request);
    } else {
      EXPECT_THAT(refusal_of([&] { (void)planned(asked.request); }), HasSubstr("pinned; sha-ea can"));
    }
  }
};

TEST_P(EveryPlannerWithPins, KeepsATaskOnItsDevices) {
  for (const std::vector<int>& devices : {std::vector<int>{2}, {0}, {1, 2}, {0, 1, 2}}) {
    for (const char* task : {kTraining, kGeneration, kReference}) expect({{task, pin_to(ids(devices))}});
  }
}

TEST_P(EveryPlannerWithPins, KeepsAllTasks) {
  expect({{kTraining, pin_to(ids({0, 1}))}, {kGeneration, pin_to(ids({2}))}, {kReference, pin_to(ids({2}))}});
}

// The space of exact planners has no sets that overlap partly.
TEST_P(EveryPlannerWithPins, KeepsOrRefusesSetsThatOverlap) {
  const Pins pins = {
      {kTraining, pin_to(ids({0, 1}))}, {kGeneration, pin_to(ids({1, 2}))}, {kReference, pin_to(ids({2}))}};
  if (GetParam().name != "exact" && GetParam().name != "ilp") return expect(pins);
  const PredictionQuery asked(pins);
  EXPECT_THAT(
      refusal_of([&] { (void)planned(asked.request); }),
      HasSubstr("tasks actor_generation and actor_training are pinned to device sets that overlap partly"));
}

TEST_P(EveryPlannerWithPins, KeepsALayout) {
  TaskPlan layout;
  layout.replicas = {{1.0, {stage(2, {1}), stage(1, {0})}}};
  layout.micro_batch_sequences = 6;  // which the search would not try
  expect({{kTraining, pin_to(layout)}, {kReference, pin_to(ids({2}))}});
}

// One sequence, one layer, one head: nothing that two devices could part.
TEST_P(EveryPlannerWithPins, SaysSoWhenATaskHasNoLayoutThere) {
  if (!GetParam().traits.has_pins) GTEST_SKIP() << "refuses";
  PredictionQuery asked;
  asked.workflow.prompts = 1;
  asked.workflow.responses_per_prompt = 1;
  asked.workflow.models["actor"].layers = 1;
  asked.workflow.models["actor"].heads = asked.workflow.models["actor"].kv_heads = 1;
  asked.request.limits.pins[kTraining] = pin_to(ids({0, 1}));
  const PlanResult result = planned(asked.request);
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_THAT(result.message, HasSubstr("task actor_training has no layout on"));
  EXPECT_THAT(result.message, HasSubstr("pinned"));
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryPlannerWithPins,
                         ::testing::ValuesIn(planners().begin(), planners().end()), [](const auto& tested) {
                           std::string name(tested.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The best of all plans without pins that obey the pins.
double best_by_hand(const PredictionQuery& asked, const Pins& pins) {
  PlanRequest all = asked.request;
  all.limits.pins.clear();
  for (const PlanResult& one : rank_exhaustively(all, 1'000'000)) {
    const bool obeys = std::all_of(pins.begin(), pins.end(), [&](const auto& pin) {
      return one.plan->tasks.at(pin.first).devices() == pin.second.devices;
    });
    if (obeys) return one.prediction->iteration_s;
  }
  return 0;
}

TEST(Pins, ExhaustiveSearchKeepsTheBestThatObeys) {
  const Pins pins = {{kTraining, pin_to(ids({0, 2}))}};
  PredictionQuery asked(pins);
  asked.request.limits.micro_batch_sequences = {3};
  const double by_hand = best_by_hand(asked, pins);
  ASSERT_GT(by_hand, 0);
  EXPECT_NEAR(plan_exhaustively(asked.request).prediction->iteration_s, by_hand, kRounding * by_hand);
}

// Every task on every set of devices, alone and with another pinned to the slow one.
TEST(Pins, ShaEaFindsTheBestThatObeys) {
  int different = 0;
  const double free = plan_exhaustively(PredictionQuery().request).prediction->iteration_s;
  for (const char* task : {kTraining, kGeneration, kReference}) {
    for (unsigned subset = 1; subset < 8; ++subset) {
      std::vector<int> devices;
      for (int d = 0; d < 3; ++d) {
        if ((subset >> d & 1U) != 0) devices.push_back(d);
      }
      Pins pins = {{task, pin_to(ids(devices))}};
      for (const char* other : {task, kReference}) {
        pins.try_emplace(other, pin_to(ids({2})));
        const PredictionQuery asked(pins);
        const double best = plan_exhaustively(asked.request).prediction->iteration_s;
        const PlanResult found = find_planner("sha-ea")->plan(asked.request);
        EXPECT_NEAR(found.prediction->iteration_s, best, kRounding * best) << task << " on set " << subset;
        different += best > free * (1 + kRounding) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(different, 20);
}

// Two machines alike but for the pin: who else is on which of them matters.
TEST(Pins, TellAlikeMachinesApart) {
  const Cluster cluster(
      "alike", {{"fast", device_type(100, 50)}}, {node("a", "fast", 2), node("b", "fast", 2)},
      {{LinkLevel::within_node, link_rate(0.1, 100)}, {LinkLevel::within_zone, link_rate(0.5, 50)}});
  for (const std::vector<int>& devices : {std::vector<int>{2, 3}, {1}, {0, 3}}) {
    PredictionQuery asked;
    PlanRequest request{cluster, asked.workflow, kNeutral};
    request.limits = asked.request.limits;
    request.limits.pins[kGeneration] = pin_to(ids(devices));
    request.limits.micro_batch_sequences = {3};
    request.budget.evaluations = 8000;
    const double best = plan_exhaustively(request).prediction->iteration_s;
    EXPECT_NEAR(find_planner("sha-ea")->plan(request).prediction->iteration_s, best, kRounding * best);
  }
}

// Every class of units is on one side of every pin, in each level all devices once, down to single devices.
TEST(Pins, PartUnits) {
  const Cluster cluster = cluster_of({{"a100", 6}, {"l4", 2, 6, "z2"}});
  const Pins pins = {{"x", pin_to(ids({8, 9, 10, 11, 12, 13, 14, 15}))}, {"y", pin_to(ids({1, 3, 6, 50}))}};
  const std::vector<int> marks = marks_of(pins, cluster);
  for (const int wanted : {2, 8, 32}) {
    const auto levels = unit_levels(cluster, wanted, marks);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      std::set<std::uint16_t> seen;
      ASSERT_EQ(levels[l].size(), levels.front().size());
      for (std::size_t c = 0; c < levels[l].size(); ++c) {
        std::set<int> of_class;
        EXPECT_EQ(levels[l][c].count() % levels.front()[c].count(), 0);
        for (const auto& unit : levels[l][c].units) {
          EXPECT_EQ(static_cast<int>(unit.size()), levels[l][c].devices);
          for (const std::uint16_t device : unit) {
            of_class.insert(marks[device]);
            EXPECT_TRUE(seen.insert(device).second);
          }
        }
        EXPECT_EQ(of_class.size(), 1U);
      }
      EXPECT_EQ(static_cast<int>(seen.size()), cluster.device_count());
    }
    for (const UnitClass& of_class : levels.back()) EXPECT_EQ(of_class.devices, 1);
  }
  // Machines without pins are still alike: four of the six A100.
  const auto whole = unit_classes(cluster, 1, marks);
  const auto largest = std::max_element(whole.begin(), whole.end(), [](const auto& a, const auto& b) {
    return a.count() * a.devices < b.count() * b.devices;
  });
  EXPECT_EQ(largest->count(), 4);
  EXPECT_EQ(largest->devices, 8);
}

TEST(Pins, MemoryIsThatOfTheTasksThatAreThere) {
  const Cluster cluster = mixed_64();
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 6000;
  request.limits.pins["reward_inference"] = pin_to(devices_named(cluster, "l40s-z1-0"));
  request.limits.pins["actor_training"] = pin_to(devices_named(cluster, "z1"));
  expect_obeyed(find_planner("sha-ea")->plan(request), request);
}

TEST(Pins, WhatCannotBePinned) {
  const PredictionQuery asked;
  const auto refused = [&](const Pins& pins) {
    return refusal_of([&] { check_pins(pins, asked.workflow, asked.cluster); });
  };
  EXPECT_EQ(refused({{"training", pin_to(ids({0}))}}), "workflow small has no task \"training\" to pin");
  EXPECT_EQ(refused({{kTraining, pin_to(std::set<DeviceId>{})}}), "task actor_training is pinned to no device");
  EXPECT_EQ(refused({{kTraining, pin_to(ids({0, 3}))}}),
            "task actor_training is pinned to device 3, which cluster tiny does not have");
  EXPECT_THAT(refused({{kTraining, pin_to(uneven_pipeline())}}), HasSubstr("replicas or stages differ"));
  TaskPlan sharded = on_device(0);
  sharded.execution.zero_stage = 1;
  EXPECT_THAT(refused({{kTraining, pin_to(sharded)}}), HasSubstr("other execution options"));
  EXPECT_EQ(refusal_of([&] {
              (void)find_planner("mcmc")->plan(PredictionQuery({{"x", pin_to(ids({0}))}}).request);
            }),
            "workflow small has no task \"x\" to pin");
}

TEST(Pins, AreThoseOfTheWholeWithinAPart) {
  const Cluster whole = cluster_of({{"a100", 2, 4}, {"l4", 1, 4, "z2"}});
  const Subcluster part = without(whole, devices_named(whole, "a100-z1-0"));
  TaskPlan layout;
  layout.replicas = {{1.0, {stage(3, {9, 8})}}};
  const Pins pins = part.pins_within({{"x", pin_to(ids({4, 11}))}, {"y", pin_to(layout)}}, whole);
  EXPECT_EQ(pins.at("x").devices, ids({0, 7}));
  EXPECT_EQ(pins.at("y").devices, ids({4, 5}));
  EXPECT_EQ(pins.at("y").layout->replicas.front().stages.front(), stage(3, {5, 4}));
  EXPECT_EQ(refusal_of([&] {
              (void)part.pins_within({{"x", pin_to(ids({1, 4}))}}, whole);
            }),
            "task x is pinned to a100-z1-0/1, which is excluded");
}

// Explanations and plans on another cluster keep the pins, there by name.
TEST(Pins, HoldForAlternativesAndWhatIfs) {
  const Cluster cluster = cluster_of({{"a100", 2, 4}, {"l40s", 2, 4, "z2"}});
  const Workflow workflow = ppo_8b();
  PlanRequest request{cluster, workflow, kNeutral};
  request.budget.evaluations = 3000;
  request.limits.pins["reward_inference"] = pin_to(devices_named(cluster, "l40s-z2-1"));
  const Planner& planner = *find_planner("sha-ea");
  const PlanResult result = planner.plan(request);
  expect_obeyed(result, request);
  constexpr AlternativeLimits kFew{3000, 300, 2};
  int found = 0;
  for (const FoundAlternative& other : find_alternatives(request, "sha-ea", *result.plan, kFew)) {
    if (other.result.outcome != PlanOutcome::found) continue;
    ++found;
    EXPECT_EQ(other.result.plan->tasks.at("reward_inference").devices(), devices_named(cluster, "l40s-z2-1"))
        << other.name;
  }
  EXPECT_GE(found, 3);
  const CoefficientUncertainty doubt;
  const Decided decided{request, planner, *result.plan, doubt};
  const Cluster without_first = changed(cluster, RemoveMachine{"a100-z1-0"});
  const WhatIf fewer = plan_what_if(decided, {{"remove:a100-z1-0"}, without_first});
  ASSERT_EQ(fewer.outcome, PlanOutcome::found) << fewer.message;
  EXPECT_THAT(fewer.layouts.at("reward_inference"), HasSubstr("on 8-11"));
  const Cluster without_its = changed(cluster, RemoveMachine{"l40s-z2-1"});
  const WhatIf gone = plan_what_if(decided, {{"remove:l40s-z2-1"}, without_its});
  EXPECT_EQ(gone.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(gone.message, "a task is pinned to a device that is not there");
}

}  // namespace
}  // namespace sextant::test
