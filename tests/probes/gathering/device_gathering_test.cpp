#include "probes/gathering/device_gathering.h"

#include <gtest/gtest.h>

#include <latch>

#include "probes/comm/thread_communicator.h"
#include "tests/probes/comm/fake_hosts.h"
#include "tests/probes/report/reports.h"

namespace sextant {
namespace {

ProbeResult point_of(int rank) {
  ProbeResult point = value_result("memory/read", "bytes/s", 1e9 + rank);
  point.rank = rank;
  return point;
}

TEST(DeviceGathering, PointsComeToRankZeroAndReportsToAll) {
  std::vector<ProbeResult> heard;
  run_on_threads(3, [&](Communicator& world) {
    DeviceGathering gathering(world, {60, 120}, [&](const std::vector<ProbeResult>& points) {
      heard.insert(heard.end(), points.begin(), points.end());
    });
    gathering.tell({point_of(world.rank())});
    const RankReport first = rank_report(2 * world.rank(), "a"),
                     second = rank_report(2 * world.rank() + 1, "a");
    const auto all = gathering.gather({first, second}, "nothing was done");
    ASSERT_EQ(all.size(), 6U);
    for (int rank = 0; rank < 6; ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], rank_report(rank, "a"));
  });
  EXPECT_EQ(heard.size(), 3U);
}

TEST(DeviceGathering, RankZeroHasTheReportsOfThoseWhoAreLeft) {
  std::latch others_are_done(2);
  run_on_threads(3, [&](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b", "c"});
    DeviceGathering gathering(world, {0.4, 60}, {});
    if (world.rank() == 1) return others_are_done.wait();
    const auto all = gathering.gather({rank_report(world.rank(), "h")}, "nothing was done");
    EXPECT_EQ(gathering.muster().lost().size(), 1U);
    if (world.rank() == 0) {
      ASSERT_EQ(all.size(), 2U);
      EXPECT_EQ(all[1].rank, 2);
    } else {
      EXPECT_TRUE(all.empty());
    }
    others_are_done.count_down();
  });
}

}  // namespace
}  // namespace sextant
