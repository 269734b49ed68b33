// The rule of pinned tasks broken by hand.
#include "planner/verify/pin_rules.h"

#include <gtest/gtest.h>

#include "planner/verify/verify.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

class PinRules : public ::testing::Test {
 protected:
  Cluster cluster_ = small_cluster();
  Workflow workflow_ = small_workflow();
  Plan plan_ = plan_with(on_device(3), two_replicas(), uneven_pipeline());

  [[nodiscard]] std::vector<Violation> found(const Pins& pins) const {
    return verify_plan(cluster_, workflow_, plan_, {}, kAny, pins).violations;
  }
  void expect_broken(const Pins& pins, const std::string& task, const std::string& message) const {
    const std::vector<Violation> violations = found(pins);
    ASSERT_EQ(violations.size(), 1U);
    EXPECT_EQ(violations.front(), (Violation{task, "pinned", message}));
  }
};

TEST_F(PinRules, HoldWhereTasksAreWhereTheyShouldBe) {
  EXPECT_TRUE(found({}).empty());
  for (const auto& [name, task] : plan_.tasks) {
    EXPECT_TRUE(found({{name, pin_to(task.devices())}}).empty()) << name;
    EXPECT_TRUE(found({{name, pin_to(task)}}).empty()) << name;
  }
}

TEST_F(PinRules, OtherDevices) {
  expect_broken({{kTraining, pin_to({DeviceId{0}, DeviceId{1}, DeviceId{3}})}}, kTraining,
                "is on devices 0 to 2, but is pinned to 0 to 1, 3");
}

TEST_F(PinRules, FewerOrMoreDevices) {
  expect_broken({{kTraining, pin_to({DeviceId{0}})}}, kTraining, "is on devices 0 to 2, but is pinned to 0");
  expect_broken({{kGeneration, pin_to({DeviceId{2}, DeviceId{3}})}}, kGeneration,
                "is on devices 3, but is pinned to 2 to 3");
}

TEST_F(PinRules, ATaskThatIsNotThere) {
  expect_broken({{"reward", pin_to({DeviceId{0}})}}, "reward", "the plan does not have the task");
}

TEST_F(PinRules, AnotherLayoutOnTheSameDevices) {
  const std::string says = "has another layout than the one that it is pinned to: ";
  TaskPlan asked = two_replicas();
  asked.micro_batch_sequences = 2;
  expect_broken({{kInference, pin_to(asked)}}, kInference, says + describe(asked));
  asked = two_replicas();
  std::swap(asked.replicas[0].stages[0].devices, asked.replicas[1].stages[0].devices);
  expect_broken({{kInference, pin_to(asked)}}, kInference, says + describe(asked));
  asked = two_replicas();
  asked.replicas[0].batch_share = 0.25;
  asked.replicas[1].batch_share = 0.75;
  expect_broken({{kInference, pin_to(asked)}}, kInference, says + describe(asked));
  asked = two_replicas();
  asked.recompute = Recompute::full;
  expect_broken({{kInference, pin_to(asked)}}, kInference, says + describe(asked));
}

}  // namespace
}  // namespace sextant::test
