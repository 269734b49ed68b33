#include "planner/risk/run_schedule.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "sextant/predict.h"
#include "tests/planner/risk/two_zones.h"

namespace sextant::test {
namespace {

// Short responses are made faster by one machine, because the other costs a reduction over the slow link; long
// ones by both.
constexpr RunPart kShort{100, 0.01}, kLong{100, 1};

struct Growing : TwoZones {
  Growing() {
    workflow.prompts = 512;
    for (auto& [name, type] : types) type.memory_bytes = assumed(1e15);  // lengths are all that differs
    cluster = Cluster(cluster.name(), types, cluster.nodes(), cluster.levels());
  }

  [[nodiscard]] double at(const Plan& plan, double factor) const {
    return time_s(plan, with_longer_responses(workflow, factor), cluster);
  }
  [[nodiscard]] RunPlan run(const std::vector<RunPart>& parts, double change_s) const {
    return plan_for_run(request, near, {parts, change_s, [this](const PlanRequest&) { return far; }});
  }

  std::map<std::string, DeviceType> types = cluster.device_types();
};

TEST(PlanForRun, OnePlanIsTheBestOverAllParts) {
  const Growing growing;
  ASSERT_LT(growing.at(growing.near, 0.01), growing.at(growing.far, 0.01));
  ASSERT_LT(growing.at(growing.far, 1), growing.at(growing.near, 1));
  EXPECT_EQ(growing.run({kShort}, 0).plan, growing.near);
  EXPECT_EQ(growing.run({kLong}, 0).plan, growing.far);
  const RunPlan both = growing.run({kShort, kLong}, 1e9);
  EXPECT_EQ(both.plan, growing.far);
  EXPECT_DOUBLE_EQ(both.total_s, 100 * growing.at(growing.far, 0.01) + 100 * growing.at(growing.far, 1));
  EXPECT_EQ(both.iteration_s, (std::vector<double>{growing.at(growing.far, 0.01), growing.at(growing.far, 1)}));
  const RunPlan mostly_short = growing.run({{100'000, 0.01}, {1, 1}}, 1e9);
  EXPECT_EQ(mostly_short.plan, growing.near);
}

TEST(PlanForRun, PlansChangeWhereThatPays) {
  const Growing growing;
  const RunPlan cheap = growing.run({kShort, kLong}, 1);
  EXPECT_EQ(cheap.changes, 1);
  EXPECT_DOUBLE_EQ(cheap.replanned_total_s,
                   100 * growing.at(growing.near, 0.01) + 1 + 100 * growing.at(growing.far, 1));
  EXPECT_EQ(cheap.replanned_s,
            (std::vector<double>{growing.at(growing.near, 0.01), growing.at(growing.far, 1)}));
  const RunPlan dear = growing.run({kShort, kLong}, 1e9);
  EXPECT_EQ(dear.changes, 0);
  EXPECT_DOUBLE_EQ(dear.replanned_total_s, dear.total_s);
  EXPECT_EQ(growing.run({kShort, kLong, kShort}, 1).changes, 2);
}

TEST(PlanForRun, APlanThatDoesNotFitInAPartIsNone) {
  Growing growing;
  for (auto& [name, type] : growing.types) type.memory_bytes = assumed(1e9);
  growing.cluster =
      Cluster(growing.cluster.name(), growing.types, growing.cluster.nodes(), growing.cluster.levels());
  EXPECT_EQ(growing.run({kShort, kLong}, 1).plan, std::nullopt);
}

}  // namespace
}  // namespace sextant::test
