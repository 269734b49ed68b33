#include "reports/content/names.h"

#include <gmock/gmock.h>

#include "tests/reports/fixture.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;

TEST(Names, TasksComeInTheOrderOfAnIteration) {
  EXPECT_THAT(in_task_order({"iteration", "actor_training", "weight_sync", "judge", "actor_generation"}),
              ElementsAre("actor_generation", "actor_training", "judge", "weight_sync", "iteration"));
}

TEST(Names, DeviceRangesJoinNeighbours) {
  EXPECT_EQ(device_ranges({}), "");
  EXPECT_EQ(device_ranges({DeviceId{3}}), "3");
  EXPECT_EQ(device_ranges({DeviceId{8}, DeviceId{1}, DeviceId{0}, DeviceId{2}, DeviceId{1}}), "0-2, 8");
}

TEST(Names, DeviceLabelsComeFromTheClusterThatHasTheDevice) {
  const ReportInput input = fixture_report(two_cores());
  EXPECT_EQ(device_label(DeviceId{1}, &input.cluster->content), "host/1");
  EXPECT_EQ(device_label(DeviceId{2}, &input.cluster->content), "device 2");
  EXPECT_EQ(device_label(DeviceId{1}, nullptr), "device 1");
}

TEST(Names, MessagesBecomeSentences) {
  EXPECT_EQ(as_sentence("no plan fits"), "No plan fits.");
  EXPECT_EQ(as_sentence("actor_training: 8 GPUs."), "actor_training: 8 GPUs.");
  EXPECT_EQ(as_sentence("verl-split is faster"), "verl-split is faster.");
  EXPECT_EQ(as_sentence("16 GPUs idle!"), "16 GPUs idle!");
  EXPECT_EQ(as_sentence(""), "");
}

TEST(Names, LongListsSayHowMuchTheyLeaveOut) {
  EXPECT_EQ(shown_list({"a", "b"}, 2), "a, b");
  EXPECT_EQ(shown_list({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

TEST(Names, DevicesShareRowsOnlyWhenThereAreMany) {
  std::map<DeviceId, int> keys;
  for (int i = 0; i < static_cast<int>(kMaxDeviceRows); ++i) keys[DeviceId{i}] = i % 2;
  EXPECT_EQ(device_rows(keys).size(), kMaxDeviceRows);
  keys[DeviceId{100}] = 0;
  const auto rows = device_rows(keys);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].first.size(), kMaxDeviceRows / 2 + 1);
  EXPECT_EQ(rows[1].second, 1);
}

}  // namespace
}  // namespace sextant
