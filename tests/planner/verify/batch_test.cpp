// The work of each replica according to the verifier.
#include "planner/verify/batch.h"

#include <gtest/gtest.h>

#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

// Replicas with these shares of 12 sequences and these length ranks, none of which needs a device here.
struct Shared {
  Shared(const std::vector<double>& shares, const std::vector<int>& ranks) {
    for (std::size_t i = 0; i < shares.size(); ++i)
      plan.replicas.push_back({shares[i], {stage(3, {static_cast<int>(i)})}, ranks[i]});
  }
  [[nodiscard]] TaskBatch batch() const {
    const PlannedTask task{workflow.tasks[1], plan, workflow, cluster, &sorted};
    return batch_of(task);
  }

  Workflow workflow = with_two_lengths();
  Cluster cluster = small_cluster();
  TaskPlan plan;
  SortedLengths sorted{workflow};

  // Half of the responses have 2 tokens, half 6; prompts have 3.
  static Workflow with_two_lengths() {
    Workflow workflow = small_workflow();
    workflow.response_tokens.kind = LengthKind::empirical;
    workflow.response_tokens.tokens = {2, 6};
    workflow.response_tokens.weights = {1, 1};
    return workflow;
  }
};

TEST(VerifiedBatch, LargestRemaindersGetOneMoreEach) {
  // 4.8, 3.6 and 3.6 sequences: the remainder of 0.8 comes first, then the first of the equals.
  EXPECT_EQ(Shared({0.4, 0.3, 0.3}, {0, 0, 0}).batch().sequences, (std::vector<int>{5, 4, 3}));
  EXPECT_EQ(Shared({1.0 / 3, 1.0 / 3, 1.0 / 3}, {0, 0, 0}).batch().sequences, (std::vector<int>{4, 4, 4}));
}

TEST(VerifiedBatch, RanksHaveTheirPartOfTheLengths) {
  const Shared even({0.5, 0.5}, {0, 0});
  EXPECT_EQ(even.batch().tokens_of_length.size(), 1U);
  EXPECT_EQ(even.batch().tokens_of_length.at(0), 3 + 6) << "padded to the longest of all";
  Shared by_length({0.25, 0.25, 0.5}, {0, 0, 2});
  EXPECT_EQ(by_length.batch().tokens_of_length.at(0), 3 + 2);
  EXPECT_EQ(by_length.batch().tokens_of_length.at(2), 3 + 6);
  by_length.plan.execution.packed = true;
  EXPECT_DOUBLE_EQ(by_length.batch().tokens_of_length.at(0), 3 + 2);
}

TEST(VerifiedBatch, OfTenThousandReplicasIsSharedOutOnce) {
  Shared many(std::vector<double>(10000, 1e-4), std::vector<int>(10000, 0));
  many.workflow.prompts = 10000;
  const TaskBatch batch = many.batch();
  EXPECT_EQ(batch.sequences, std::vector<int>(10000, 3));
  EXPECT_EQ(batch.tokens_of_length.size(), 1U);
}

}  // namespace
}  // namespace sextant::test
