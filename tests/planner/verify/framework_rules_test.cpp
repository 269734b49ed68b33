// The rules of a framework broken by hand.
#include "planner/verify/framework_rules.h"

#include <gtest/gtest.h>

#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

class FrameworkRules : public ::testing::Test {
 protected:
  Workflow workflow_ = ppo_8b();
  std::vector<TaskChoices> choices_ = std::vector<TaskChoices>(workflow_.tasks.size());

  [[nodiscard]] std::vector<Violation> found(const std::vector<int>& layers, int replicas) const {
    Plan plan;
    int device = 0;
    TaskPlan& task = plan.tasks[workflow_.tasks.back().name];
    for (int i = 0; i < replicas; ++i) {
      Replica& replica = task.replicas.emplace_back(Replica{1.0 / replicas, {}});
      for (const int count : layers) replica.stages.push_back({count, {DeviceId{device++}}});
    }
    return framework_violations(plan, workflow_, choices_);
  }
};

TEST_F(FrameworkRules, StagesAreEqualButForTheEnds) {
  EXPECT_TRUE(found({5, 8, 10, 9}, 1).empty());  // no rule
  choices_.back().stages = StageRule::even_but_ends;
  EXPECT_TRUE(found({7, 9, 9, 7}, 1).empty());
  EXPECT_TRUE(found({15, 17}, 1).empty());
  ASSERT_EQ(found({7, 9, 8, 8}, 1).size(), 1U);
  EXPECT_EQ(found({7, 9, 8, 8}, 1).front().rule, rules::kLayers);
  choices_.back().stages = StageRule::even;
  EXPECT_EQ(found({7, 9, 9, 7}, 1).size(), 1U);
  EXPECT_TRUE(found({8, 8, 8, 8}, 2).empty());
  choices_.back().stages = StageRule::differ_by_one;
  EXPECT_TRUE(found({7, 8, 8, 7}, 1).empty());
  EXPECT_EQ(found({7, 9, 8, 8}, 1).size(), 1U);
  EXPECT_EQ(found({7, 8, 9, 8}, 1).size(), 1U);
}

TEST_F(FrameworkRules, ReplicasHaveEqualShares) {
  const int uneven = workflow_.sequences() + 1;  // more than there are sequences divides them never
  EXPECT_TRUE(found({32}, uneven).empty());
  choices_.back().has_even_batch = true;
  ASSERT_EQ(found({32}, uneven).size(), 1U);
  EXPECT_EQ(found({32}, uneven).front().rule, rules::kBatchShares);
  EXPECT_TRUE(found({32}, 2).empty());
}

}  // namespace
}  // namespace sextant::test
