// The chain over all that a search has seen.
#include "planner/sha_ea/recombination.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

struct Seen {
  Cluster cluster = cluster_of({{"a100", 1, 4}, {"l40s", 1, 4}});
  Workflow workflow = ppo_8b();
  Coefficients coefficients;
  PlanRequest request{cluster, workflow, coefficients};
  SearchRun run{request, 0};
  SeenSets sets{static_cast<int>(workflow.tasks.size())};

  void add(int task, const std::vector<std::uint16_t>& devices) {
    sets.add(task, devices, run.options().of(task, devices));
  }
  [[nodiscard]] Placement placement(int task, const TaskChoice& choice) {
    return placement_of(run.evaluator(), task, choice);
  }
};

const std::vector<std::uint16_t> kFirstFour = {0, 1, 2, 3}, kLastFour = {4, 5, 6, 7},
                                 kAllEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(SeenSets, HoldEachSetOnceWithItsOptions) {
  Seen seen;
  seen.add(0, kFirstFour);
  seen.add(0, kFirstFour);
  seen.add(0, kLastFour);
  const std::size_t options =
      seen.run.options().of(0, kFirstFour).size() + seen.run.options().of(0, kLastFour).size();
  constexpr double kForever_s = 1e300;
  EXPECT_EQ(seen.sets.of(0, kForever_s).size(), options);
  EXPECT_TRUE(seen.sets.of(1, kForever_s).empty());
  const double fastest_s = seen.run.options().of(0, kFirstFour).front().value.time_s;
  const std::vector<TaskChoice> fast = seen.sets.of(0, 1.5 * fastest_s);
  EXPECT_LT(fast.size(), options);
  for (const TaskChoice& choice : fast)
    EXPECT_LT(seen.run.evaluator().value_of(0, seen.placement(0, choice)).time_s, 1.5 * fastest_s);
  EXPECT_TRUE(seen.sets.of(0, 0).empty());
}

// Two tasks may move, the others have one option: all plans can be tried.
TEST(Recombination, FindsTheBestOfAFewTaskChoices) {
  Seen seen;
  const int tasks = static_cast<int>(seen.workflow.tasks.size());
  for (int task = 0; task < tasks; ++task) {
    if (task < 2) {
      for (const auto& devices : {kFirstFour, kLastFour, kAllEight}) seen.add(task, devices);
    } else {
      seen.add(task, kAllEight);
    }
  }
  std::vector<std::vector<TaskChoice>> options;
  Scored start;
  for (int task = 0; task < tasks; ++task) {
    options.push_back(seen.sets.of(task, 1e300));
    ASSERT_FALSE(options.back().empty());
    start.candidate.tasks.push_back(seen.placement(task, options.back().back()));
  }
  Evaluator& evaluator = seen.run.evaluator();
  start.score = evaluator.evaluate(start.candidate);
  std::mt19937_64 random(1);
  Scored found = start;
  recombine(seen.run, seen.sets, 60'000, random, found);
  EXPECT_TRUE(found.score.is_better_than(start.score));
  EXPECT_EQ(evaluator.evaluate(found.candidate).time_s, found.score.time_s);
  Scored best = found;
  for (const TaskChoice& first : options[0]) {
    for (const TaskChoice& second : options[1]) {
      Candidate tried = found.candidate;
      tried.tasks[0] = seen.placement(0, first);
      tried.tasks[1] = seen.placement(1, second);
      const Score score = evaluator.evaluate(tried);
      if (score.is_better_than(best.score)) best = {tried, score};
    }
  }
  EXPECT_LE(found.score.time_s, 1.001 * best.score.time_s);
}

TEST(Recombination, KeepsToItsStepsAndToWhatItWasGiven) {
  Seen seen;
  Scored scored;
  for (int task = 0; task < static_cast<int>(seen.workflow.tasks.size()); ++task) {
    seen.add(task, kAllEight);
    scored.candidate.tasks.push_back(seen.placement(task, seen.sets.of(task, 1e300).front()));
  }
  scored.score = seen.run.evaluator().evaluate(scored.candidate);
  std::mt19937_64 random(1);
  recombine(seen.run, seen.sets, 100, random, scored);
  EXPECT_EQ(seen.run.result("test").candidates, 100U);
  for (const Placement& task : scored.candidate.tasks) {
    std::vector<std::uint16_t> devices = task.devices;
    std::sort(devices.begin(), devices.end());
    EXPECT_EQ(devices, kAllEight);
  }
}

}  // namespace
}  // namespace sextant::test
