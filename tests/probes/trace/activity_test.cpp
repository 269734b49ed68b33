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

TEST(Activity, SetsHaveTheirBytes) {
  cupti::Memset set{};
  set.kind = cupti::kMemset;
  set.bytes = 64;
  set.start = 5;
  set.end = 9;
  set.device_id = 2;
  set.stream_id = 3;
  set.correlation_id = 4;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(set));
  EXPECT_TRUE(converted.is_wanted);
  EXPECT_EQ(converted.record, (Record{RecordKind::set, 0, 2, 0, 3, 4, 5, 9, 64}));
}

TEST(Activity, WholeGraphsHaveTheirId) {
  cupti::GraphTrace graph{};
  graph.kind = cupti::kGraphTrace;
  graph.graph_id = 77;
  graph.start = 5;
  graph.end = 9;
  graph.device_id = 2;
  graph.stream_id = 3;
  graph.correlation_id = 4;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(graph));
  EXPECT_TRUE(converted.is_wanted);
  EXPECT_EQ(converted.record, (Record{RecordKind::graph, 0, 2, 0, 3, 4, 5, 9, 77}));
}

TEST(Activity, OverheadIsOfNoDevice) {
  cupti::Overhead overhead{};
  overhead.kind = cupti::kOverhead;
  overhead.overhead_kind = 65536;  // CUPTI flushes a buffer
  overhead.start = 5;
  overhead.end = 9;
  const ConvertedActivity converted = convert(reinterpret_cast<const cupti::Activity&>(overhead));
  EXPECT_TRUE(converted.is_wanted);
  EXPECT_EQ(converted.record, (Record{RecordKind::overhead, 0, 0, 0, 0, 0, 5, 9, 65536}));
}

TEST(Activity, CopiesAreToldApartByTheirDirection) {
  const auto kind_of = [](std::uint8_t theirs) {
    cupti::Memcpy copy{};
    copy.kind = cupti::kMemcpy;
    copy.copy_kind = theirs;
    copy.end = 1;
    return static_cast<CopyKind>(convert(reinterpret_cast<const cupti::Activity&>(copy)).record.detail);
  };
  EXPECT_EQ(kind_of(1), CopyKind::host_to_device);
  EXPECT_EQ(kind_of(2), CopyKind::device_to_host);
  EXPECT_EQ(kind_of(8), CopyKind::within_device);
  EXPECT_EQ(kind_of(9), CopyKind::host);
  EXPECT_EQ(kind_of(0), CopyKind::unknown);
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
