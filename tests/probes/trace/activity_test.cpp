// CUPTI's records, one by one.
#include "probes/trace/injection/activity.h"

#include <gtest/gtest.h>

namespace sextant::trace {
namespace {

TEST(Activity, IncompleteRecordsAreToldApart) {
  cupti::Kernel kernel{};
  kernel.kind = cupti::kConcurrentKernel;
  kernel.start = 10;
  kernel.name = "k";
  EXPECT_TRUE(convert(reinterpret_cast<const cupti::Activity&>(kernel)).lacks_times);
  kernel.end = 9;
  EXPECT_FALSE(convert(reinterpret_cast<const cupti::Activity&>(kernel)).is_wanted);
  kernel.end = 12;
  kernel.device_id = 5;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(kernel));
  EXPECT_TRUE(converted.is_wanted);
  EXPECT_EQ(converted.record.device, 5);
  EXPECT_EQ(converted.name, "k");
}

TEST(Activity, KindsThatNobodyAskedForArePassedOver) {
  alignas(8) cupti::Activity strange[8]{};
  strange[0].kind = 999;
  const ConvertedActivity converted = convert(strange[0]);
  EXPECT_FALSE(converted.is_wanted);
  EXPECT_FALSE(converted.lacks_times);
}

TEST(Activity, CopiesBetweenDevicesHaveTheirOwnRecord) {
  cupti::PeerMemcpy copy{};
  copy.kind = cupti::kPeerMemcpy;
  copy.copy_kind = 10;
  copy.bytes = 77;
  copy.start = 1;
  copy.end = 2;
  copy.correlation_id = 3;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(copy));
  EXPECT_EQ(converted.record.kind, RecordKind::copy);
  EXPECT_EQ(converted.record.detail, static_cast<std::uint8_t>(CopyKind::between_devices));
  EXPECT_EQ(converted.record.value, 77U);
  EXPECT_EQ(converted.record.correlation, 3U);
}

}  // namespace
}  // namespace sextant::trace
