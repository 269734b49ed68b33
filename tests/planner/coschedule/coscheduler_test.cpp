#include "sextant/coschedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
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
  EXPECT_NEAR(scheduler.min_usd_per_hour(1), 4, 1e-6);
  EXPECT_THROW((void)scheduler.place(with_envelope), Error);
  scheduler.leave("a");
  EXPECT_THROW(scheduler.leave("a"), Error);
  const Coscheduler again(scheduler.placement());
  EXPECT_EQ(again.usd_per_hour(), 4);
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
