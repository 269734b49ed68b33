// Searches side by side: what they hand each other, what is made of it, and that it does not matter which rank
// or thread ran them.
#include "planner/search/islands.h"

#include <gtest/gtest.h>

#include <set>

#include "core/json_value.h"
#include "planner/sha_ea/sha_ea.h"
#include "planner/verify/verify.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/planning_case.h"
#include "tests/planner/thread_ranks.h"

namespace sextant::test {
namespace {

class Islands : public ::testing::Test {
 protected:
  [[nodiscard]] PlanRequest request(std::uint64_t evaluations) const {
    PlanRequest request{cluster_, workflow_, neutral_};
    request.budget.evaluations = evaluations;
    return request;
  }
  [[nodiscard]] static std::vector<PlanResult> on_ranks(ThreadRanks& job, const PlanRequest& request,
                                                        int ranks) {
    EXPECT_EQ(job.said().size(), static_cast<std::size_t>(ranks));
    return job.run([request](IslandRanks& of_job) {
      PlanRequest own = request;
      own.ranks = &of_job;
      return plan_by_sha_ea(own);
    });
  }
  [[nodiscard]] std::vector<PlanResult> on_ranks(const PlanRequest& request, int ranks) const {
    ThreadRanks job(ranks);
    return on_ranks(job, request, ranks);
  }
  // The ends in the order in which they arrived.
  static std::vector<IslandEnd> ends_of(const ThreadRanks& job) {
    std::vector<IslandEnd> ends;
    for (const std::string& text : job.said()) {
      const Json json = parse_json(text);
      for (const JsonView& end : JsonView(json).items()) ends.push_back(IslandEnd::parse(end));
    }
    return ends;
  }

  const Cluster cluster_ = cluster_of({{"a100", 1}, {"l40s", 1}, {"l4", 1, 4, "z2"}});
  const Workflow workflow_ = ppo_8b();
  const Coefficients neutral_{};
};

void expect_same_search(const PlanResult& a, const PlanResult& b) {
  ASSERT_EQ(a.outcome, PlanOutcome::found);
  ASSERT_EQ(b.outcome, PlanOutcome::found);
  EXPECT_EQ(*a.plan, *b.plan);
  EXPECT_EQ(*a.prediction, *b.prediction);
  EXPECT_EQ(a.candidates, b.candidates);
  EXPECT_EQ(a.feasible, b.feasible);
  ASSERT_EQ(a.improvements.size(), b.improvements.size());
  for (std::size_t i = 0; i < a.improvements.size(); ++i) {
    EXPECT_EQ(a.improvements[i].evaluations, b.improvements[i].evaluations);
    EXPECT_EQ(a.improvements[i].loss, b.improvements[i].loss);
  }
}

TEST_F(Islands, PlansDoNotDependOnUpToFourRanksAndTheirThreads) {
  PlanRequest asked = request(8'000);
  const PlanResult alone = plan_by_sha_ea(asked);
  for (const int ranks : {2, 3, 4}) {
    asked.threads = ranks == 2 ? 2 : 1;
    for (const PlanResult& result : on_ranks(asked, ranks)) {
      expect_same_search(result, alone);
      EXPECT_EQ(result.message, alone.message + ", on " + std::to_string(ranks) + " ranks");
    }
  }
}

TEST_F(Islands, MoreRanksHaveOneEachAndAllTheSameAnswer) {
  ThreadRanks job(6);
  const std::vector<PlanResult> results = on_ranks(job, request(6'000), 6);
  for (const PlanResult& result : results) {
    expect_same_search(result, results.front());
    EXPECT_EQ(result.candidates, 6'000U);
  }
  EXPECT_TRUE(verify_plan(cluster_, workflow_, *results.front().plan, neutral_, std::string(kAny)).feasible());
}

// No two islands of a seed search alike, nor those of the next seed.
TEST_F(Islands, AreUnlike) {
  std::set<std::vector<double>> curves;
  for (const std::uint64_t seed : {1U, 2U}) {
    ThreadRanks job(6);
    PlanRequest asked = request(6'000);
    asked.seed = seed;
    (void)on_ranks(job, asked, 6);
    std::set<int> numbers;
    for (const IslandEnd& end : ends_of(job)) {
      numbers.insert(end.number);
      std::vector<double> losses;
      for (const Improvement& improvement : end.improvements) losses.push_back(improvement.loss);
      curves.insert(losses);
    }
    EXPECT_EQ(numbers, (std::set<int>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(curves.size(), 12U);
}

// With a time budget every thread of every rank has one, also if ranks have different numbers of threads.
TEST_F(Islands, OfAClockAreNumberedOverRanksAndThreads) {
  ThreadRanks job(2);
  (void)job.run([&](IslandRanks& ranks) {
    PlanRequest own = request(0);
    own.budget.seconds = 0.05;
    own.threads = ranks.rank() == 0 ? 1 : 3;
    own.ranks = &ranks;
    return plan_by_sha_ea(own);
  });
  std::set<int> numbers;
  for (const IslandEnd& end : ends_of(job)) numbers.insert(end.number);
  EXPECT_EQ(numbers, (std::set<int>{0, 1, 2, 3}));
  EXPECT_GT(job.messages(), 0);
}

// Messages between islands depend on clocks, so with an evaluation budget islands must not receive any.
TEST_F(Islands, OfEvaluationsTellNothingOnTheWay) {
  ThreadRanks job(2);
  (void)on_ranks(job, request(2'000), 2);
  EXPECT_EQ(job.messages(), 0);
}

TEST_F(Islands, ARankMayHaveNone) {
  for (const PlanResult& result : on_ranks(request(1), 3)) EXPECT_EQ(result.candidates, 1U);
}

TEST_F(Islands, SayTheSameWhereNothingFits) {
  const Cluster small = cluster_of({{"l4", 1, 2}});
  PlanRequest asked{small, workflow_, neutral_};
  asked.budget.evaluations = 400;
  const PlanResult alone = plan_by_sha_ea(asked);
  EXPECT_EQ(alone.outcome, PlanOutcome::infeasible);
  for (const PlanResult& result : on_ranks(asked, 2)) {
    EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
    EXPECT_FALSE(result.plan);
    EXPECT_EQ(result.message, alone.message);
  }
}

// The smaller problem, whose plans are written by hand.
class Ends : public ::testing::Test {
 protected:
  static IslandEnd end(int number, double loss, int device) {
    IslandEnd end;
    end.number = number;
    end.evaluations = 10;
    end.feasible = 4;
    end.score = Score{loss, -1, loss, 0};
    end.plan = plan_with(on_device(device), on_device(device), on_device(device));
    end.improvements = {{2, 0.5, 2 * loss, 2 * loss}, {5, 0.75, loss, loss}};
    return end;
  }
  static IslandEnd without_plan(int number, double excess_bytes) {
    IslandEnd end;
    end.number = number;
    end.evaluations = 10;
    end.score = Score{1, excess_bytes, 1, 0};
    end.message = "lacks " + std::to_string(static_cast<int>(excess_bytes));
    return end;
  }

  const Cluster cluster_ = small_cluster();
  const Workflow workflow_ = small_workflow();
  const Coefficients neutral_{};
  PlanRequest request_{cluster_, workflow_, neutral_};
};

TEST_F(Ends, AreTheSameWhenTheyArrive) {
  for (const IslandEnd& sent : {end(3, 1.0 / 3, 1), without_plan(0, 1e300 / 3), IslandEnd{}}) {
    const Json json = parse_json(format_json(sent.to_json()));
    EXPECT_EQ(IslandEnd::parse(JsonView(json)), sent);
  }
}

TEST_F(Ends, TheBestIsTakenAndOfEqualsTheFirst) {
  const PlanResult result =
      merged(request_, {without_plan(0, 5), end(1, 7, 1), end(2, 3, 2), end(3, 3 * (1 - 1e-12), 3)});
  ASSERT_EQ(result.outcome, PlanOutcome::found);
  EXPECT_EQ(result.plan, end(2, 3, 2).plan);
  EXPECT_EQ(result.candidates, 40U);
  EXPECT_EQ(result.feasible, 12U);
  EXPECT_EQ(result.prediction->iteration_s,
            predict(cluster_, workflow_, *result.plan, neutral_, std::string(kAny)).iteration_s);
}

TEST_F(Ends, ThatLacksLeastSaysWhatIsShort) {
  const PlanResult result =
      merged(request_, {IslandEnd{}, without_plan(1, 5), without_plan(2, 4), without_plan(3, 9)});
  EXPECT_EQ(result.outcome, PlanOutcome::infeasible);
  EXPECT_EQ(result.message, "lacks 4");
}

// Both curves have their points at 2 and 5 of their own evaluations: 4 and 10 of both.
TEST_F(Ends, CurvesBecomeOneThatFalls) {
  const PlanResult result = merged(request_, {end(0, 3, 0), end(1, 2, 1)});
  std::vector<std::pair<std::uint64_t, double>> points;
  for (const Improvement& improvement : result.improvements)
    points.emplace_back(improvement.evaluations, improvement.loss);
  EXPECT_EQ(points, (std::vector<std::pair<std::uint64_t, double>>{{4, 6}, {4, 4}, {10, 3}, {10, 2}}));
}

}  // namespace
}  // namespace sextant::test
