// Clusters without some of their devices.
#include "planner/request/subcluster.h"

#include <gtest/gtest.h>

#include "sextant/error.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

LinkException slow_link(LinkScope scope, std::string from, std::string to) {
  return {scope, std::move(from), std::move(to), {assumed(1e-3), assumed(1e6)}};
}

// Two nodes of A100 with four devices each in z1, one of L4 in z2.
Cluster whole() {
  return cluster_of({{"a100", 2, 4}, {"l4", 1, 4, "z2"}},
                    {slow_link(LinkScope::device, "a100-z1-0/0", "a100-z1-0/3"),
                     slow_link(LinkScope::device, "a100-z1-0/1", "a100-z1-1/0"),
                     slow_link(LinkScope::node, "a100-z1-0", "l4-z2-0")});
}

TEST(Subcluster, DevicesKeepTheirLinksUnderNewNumbers) {
  const Cluster all = whole();
  const Subcluster part = without(all, {DeviceId{1}});
  ASSERT_EQ(part.cluster.device_count(), 11);
  for (int from = 0; from < 11; ++from) {
    EXPECT_EQ(part.cluster.type_name(DeviceId{from}),
              all.type_name(part.original[static_cast<std::size_t>(from)]));
    for (int to = 0; to < 11; ++to) {
      if (from == to) continue;
      EXPECT_EQ(
          part.cluster.link(DeviceId{from}, DeviceId{to}),
          all.link(part.original[static_cast<std::size_t>(from)], part.original[static_cast<std::size_t>(to)]))
          << from << " " << to;
    }
  }
}

TEST(Subcluster, ANodeGoesWithItsLastDevice) {
  const Cluster all = whole();
  const Subcluster part = without(all, devices_named(all, "a100-z1-0"));
  ASSERT_EQ(part.cluster.nodes().size(), 2U);
  EXPECT_TRUE(part.cluster.exceptions().empty());
  EXPECT_EQ(part.original.front(), DeviceId{4});
}

TEST(Subcluster, PlansAreThoseOfTheWhole) {
  const Cluster all = whole();
  const Subcluster part = without(all, devices_named(all, "a100-z1-0"));
  Plan plan;
  plan.tasks["t"].replicas = {{1.0, {{4, {DeviceId{0}, DeviceId{7}}}}}};
  EXPECT_EQ(part.on_whole(plan).tasks.at("t").devices(), (std::set<DeviceId>{DeviceId{4}, DeviceId{11}}));
}

TEST(Subcluster, NamesOfNodesDevicesZonesAndRegions) {
  const Cluster all = whole();
  EXPECT_EQ(devices_named(all, "a100-z1-1/2"), (std::set<DeviceId>{DeviceId{6}}));
  EXPECT_EQ(devices_named(all, "l4-z2-0").size(), 4U);
  EXPECT_EQ(devices_named(all, "z1").size(), 8U);
  EXPECT_EQ(devices_named(all, "r1").size(), 12U);
  EXPECT_THROW((void)devices_named(all, "a100-z1-1/9"), Error);
  EXPECT_THROW((void)without(all, devices_named(all, "r1")), Error);
}

}  // namespace
}  // namespace sextant::test
