#include "sextant/coschedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "documents/values/gpu_names.h"
#include "planner/coschedule/group.h"
#include "sextant/error.h"
#include "tests/planner/coschedule/jobs.h"

namespace sextant::coschedule {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Coscheduler, PlacesJobsAndTakesThemOut) {
  Coscheduler scheduler(format_json(Placement{test::pools(), {}}.to_json()));
  const CoscheduledJob a = scheduler.place(format_json(test::job("a", 60, 40).to_json()));
  EXPECT_TRUE(a.is_placed);
  EXPECT_EQ(a.explanation, "a group of its own");
  EXPECT_EQ(a.added_usd_per_hour, 4);
  EXPECT_THAT(a.rollout_nodes, ElementsAre(0));
  Json document = test::job("b", 40, 60).to_json();
  document["schema"] = "sextant.job/1.0";
  const std::string with_envelope = format_json(document);
  EXPECT_EQ(scheduler.place(with_envelope, true).explanation, "group-1 as it is");
  const CoscheduledJob b = scheduler.place(with_envelope);
  EXPECT_EQ(b.group, a.group);
  EXPECT_EQ(b.iteration_s, 100);
  EXPECT_EQ(scheduler.usd_per_hour(), 4);
  EXPECT_NEAR(scheduler.min_usd_per_hour(), 4, 1e-6);
  EXPECT_THROW((void)scheduler.place(with_envelope), Error);
  scheduler.leave("a");
  EXPECT_THROW(scheduler.leave("a"), Error);
  const Coscheduler again(scheduler.placement());
  EXPECT_EQ(again.usd_per_hour(), 4);
}

// The pools of the tests have "H20" and "H800" or other names; an alias is the same GPU.
TEST(Coscheduler, RefusesAJobOfOtherGpus) {
  Placement placement{test::pools(), {}};
  placement.pools.rollout.node_type = "H20";
  placement.pools.training.node_type = "H800";
  Coscheduler scheduler(format_json(placement.to_json()));
  Job of = test::job("a", 60, 40);
  of.rollout_node_type = "H20-96GB";
  of.training_node_type = "H100-SXM-80GB";
  try {
    (void)scheduler.place(format_json(of.to_json()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the training of \"a\" was predicted on H100-SXM-80GB, and the training "
                          "pool of the placement has H800"));
  }
  EXPECT_EQ(scheduler.usd_per_hour(), 0);
  of.training_node_type = "H800-80GB";
  EXPECT_TRUE(scheduler.place(format_json(of.to_json())).is_placed);
}

TEST(GpuNames, AreTheSameUnderEachOfTheirNames) {
  EXPECT_TRUE(is_same_gpu("h100 sxm", "H100-SXM-80GB"));
  EXPECT_TRUE(is_same_gpu("my card", "My-Card"));
  EXPECT_FALSE(is_same_gpu("H100", "H100 PCIe"));
  EXPECT_FALSE(is_same_gpu("A100", "A100-40GB"));
}

TEST(Coscheduler, RefusesAPlacementThatBreaksAPromise) {
  Placement placement{test::pools(),
                      {{"g", 1, 1, {{test::job("a", 60, 40, 1), {0}}, {test::job("b", 60, 40, 1), {0}}}}}};
  try {
    const Coscheduler scheduler(format_json(placement.to_json()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("breaks a promise: group g"));
  }
}

}  // namespace
}  // namespace sextant::coschedule
