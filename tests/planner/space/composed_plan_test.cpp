// Plans put together from what options say of themselves, held against the evaluator.
#include "planner/space/composed_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <utility>

#include "planner/search/search_run.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

constexpr double kRounding = 1e-12;

Cluster priced(const Cluster& cluster) {
  std::map<std::string, DeviceType> types = cluster.device_types();
  double price = 0.5;
  for (auto& [name, type] : types) type.price_usd_per_hour = assumed(price *= 2);
  return {cluster.name(), types, cluster.nodes(), cluster.levels()};
}

struct Case {
  std::string name;
  Workflow workflow;
  Objective objective = {};
};

void PrintTo(const Case& planned, std::ostream* out) { *out << planned.name; }

std::vector<Case> cases() {
  Workflow asynchronous = ppo_8b(Mode::asynchronous);
  Objective cheap;
  cheap.goal = Goal::cost;
  cheap.max_iteration_s = 20;
  return {{"synchronous", ppo_8b()}, {"asynchronous", asynchronous}, {"for_dollars", asynchronous, cheap}};
}

// Options of every task on sets of devices that are drawn, machines among them whole and in part.
class Drawn {
 public:
  explicit Drawn(const Case& drawn) : case_(drawn) {
    request_.objective = drawn.objective;
    run_.emplace(request_, 0);
    std::mt19937_64 random(7);
    for (int set = 0; set < kSets; ++set) {
      std::vector<std::uint16_t>& devices = sets_.emplace_back();
      while (devices.empty()) {
        for (std::uint16_t machine = 0; machine < cluster_.device_count() / 4; ++machine) {
          const auto first = static_cast<std::uint16_t>(4 * machine);
          const std::uint16_t size = random() % 3 == 0 ? 4 : random() % 3 == 0 ? 2 : 0;
          for (std::uint16_t d = 0; d < size; ++d) devices.push_back(static_cast<std::uint16_t>(first + d));
        }
      }
      words_.push_back(device_set(devices, static_cast<std::size_t>(cluster_.device_count())));
    }
  }

  struct Choice {
    std::size_t set = 0;
    const Option* option = nullptr;
  };
  [[nodiscard]] Choice draw(int task, std::mt19937_64& random) {
    while (true) {
      const std::size_t set = random() % sets_.size();
      const std::vector<Option>& options = run_->options().of(task, sets_[set]);
      if (!options.empty()) return {set, &options[random() % options.size()]};
    }
  }
  [[nodiscard]] Placement placement(int task, const Choice& choice) const {
    const Option& option = *choice.option;
    return placed(run_->evaluator().shapes(task).at(option.shape), option.shape, option.order,
                  sets_[choice.set]);
  }
  [[nodiscard]] ComposedPlan::Part part(const ComposedPlan& plan, const Choice& choice) const {
    return plan.part(*choice.option, words_[choice.set]);
  }
  [[nodiscard]] ComposedPlan plan() {
    return {run_->evaluator(), run_->options(), case_.workflow, case_.objective, run_->free_memory_bytes()};
  }
  [[nodiscard]] Evaluator& evaluator() { return run_->evaluator(); }
  [[nodiscard]] OptionTable& options() { return run_->options(); }
  [[nodiscard]] int tasks() { return run_->evaluator().task_count(); }

 private:
  static constexpr int kSets = 40;
  Case case_;
  Cluster cluster_ = priced(cluster_of({{"a100", 2, 4}, {"l40s", 2, 4}, {"l4", 2, 4, "z2"}}));
  Coefficients neutral_;
  PlanRequest request_{cluster_, case_.workflow, neutral_};
  mutable std::optional<SearchRun> run_;
  std::vector<std::vector<std::uint16_t>> sets_;
  std::vector<std::vector<std::uint64_t>> words_;
};

void expect_same(const Score& composed, const Score& evaluated) {
  ASSERT_NEAR(composed.time_s, evaluated.time_s, kRounding * evaluated.time_s);
  ASSERT_NEAR(composed.loss, evaluated.loss, kRounding * evaluated.loss);
  ASSERT_NEAR(composed.overrun, evaluated.overrun, kRounding * (1 + evaluated.overrun));
  ASSERT_GE(composed.excess_bytes, evaluated.excess_bytes * (1 - kRounding));
}

class ComposedPlanIs : public ::testing::TestWithParam<Case> {};

TEST_P(ComposedPlanIs, WhatTheEvaluatorSaysAfterEveryMove) {
  Drawn drawn(GetParam());
  ASSERT_TRUE(drawn.evaluator().is_composable());
  ComposedPlan plan = drawn.plan();
  std::mt19937_64 random(1);
  Candidate candidate;
  std::vector<ComposedPlan::Part> parts;
  for (int task = 0; task < drawn.tasks(); ++task) {
    const Drawn::Choice choice = drawn.draw(task, random);
    candidate.tasks.push_back(drawn.placement(task, choice));
    parts.push_back(drawn.part(plan, choice));
  }
  plan.begin(parts);
  expect_same(plan.score(), drawn.evaluator().evaluate(candidate));
  int fit = 0, fit_evaluated = 0;
  for (int move = 0; move < 3000 && !HasFatalFailure(); ++move) {
    const int task = static_cast<int>(random() % static_cast<std::uint64_t>(drawn.tasks()));
    const auto t = static_cast<std::size_t>(task);
    const Drawn::Choice choice = drawn.draw(task, random);
    Candidate moved = candidate;
    moved.tasks[t] = drawn.placement(task, choice);
    const Score composed = plan.replace(t, drawn.part(plan, choice));
    const Score evaluated = drawn.evaluator().evaluate(moved);
    expect_same(composed, evaluated);
    fit += composed.excess_bytes <= 0 ? 1 : 0;
    fit_evaluated += evaluated.excess_bytes <= 0 ? 1 : 0;
    if (random() % 2 == 0) {
      plan.keep();
      candidate = moved;
    } else {
      plan.undo();
      expect_same(plan.score(), drawn.evaluator().evaluate(candidate));
    }
  }
  // Memory is tight here: both kinds were met, and most of those that fit are seen to.
  EXPECT_GT(fit, 20);
  EXPECT_LT(fit_evaluated, 2000);
  EXPECT_GT(2 * fit, fit_evaluated);
}

TEST_P(ComposedPlanIs, MadeOfAnyPlacement) {
  Drawn drawn(GetParam());
  ComposedPlan plan = drawn.plan();
  std::mt19937_64 random(2);
  std::vector<Option> options;
  std::vector<Drawn::Choice> choices;
  Candidate candidate;
  for (int task = 0; task < drawn.tasks(); ++task) {
    choices.push_back(drawn.draw(task, random));
    Placement placement = drawn.placement(task, choices.back());
    std::shuffle(placement.devices.begin(), placement.devices.end(), random);
    options.push_back(drawn.options().as_option(task, placement));
    candidate.tasks.push_back(std::move(placement));
  }
  std::vector<ComposedPlan::Part> parts;
  for (std::size_t t = 0; t < options.size(); ++t) {
    parts.push_back(drawn.part(plan, {choices[t].set, &options[t]}));
  }
  plan.begin(parts);
  expect_same(plan.score(), drawn.evaluator().evaluate(candidate));
}

INSTANTIATE_TEST_SUITE_P(Workflows, ComposedPlanIs, ::testing::ValuesIn(cases()),
                         [](const auto& planned) { return planned.param.name; });

}  // namespace
}  // namespace sextant::test
