#include "probes/assembly/cluster_outliers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/report/fleet_fixture.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RankOutliers, ABadHostAndABadCableAreNamedWithHowFarOffAndHowSure) {
  std::vector<PlacedRank> ranks;
  for (int host = 0; host < 8; ++host) ranks.push_back({"h" + std::to_string(host), "", "z", "r"});
  std::vector<LinkMeasurement> measured;
  int number = 0;
  for (int low = 0; low < 8; ++low) {
    for (int high = low + 1; high < 8; ++high) {
      const double noise = 1 + 0.002 * (++number % 5 - 2);
      LinkMeasurement one{{low, high}, {}, AlphaBeta(), ""};
      one.fit->bytes_per_s = noise * (low == 2 || high == 2 ? 5e9 : 10e9);
      one.fit->latency_s = noise * (low == 4 && high == 6 ? 9e-6 : 1e-6);
      measured.push_back(one);
    }
  }
  const auto sentences = describe_odd_links(ranks, measured);
  EXPECT_THAT(sentences, Contains(::testing::AllOf(HasSubstr("bandwidth in zone z: the links of h2 are 49.9 %"),
                                                   HasSubstr("below the others"), HasSubstr("% sure"))));
  EXPECT_THAT(sentences, Contains(::testing::AllOf(HasSubstr("latency in zone z: the link h4 - h6 is"),
                                                   HasSubstr("above"))));
  EXPECT_EQ(sentences.size(), 2U);
}

constexpr int kHosts = 8;

class FleetOutliers : public ::testing::Test {
 protected:
  FleetOutliers() {
    for (int i = 0; i < kHosts; ++i) {
      fleet_.hosts.push_back(test::host("h" + std::to_string(i), healthy(i)));
      for (int j = 0; j < i; ++j) {
        fleet_.pairs.push_back(
            test::pair("h" + std::to_string(j), "h" + std::to_string(i), healthy(i + 3 * j)));
      }
    }
  }

  // Equals are never quite equal.
  [[nodiscard]] static double healthy(int i) { return 1 + 0.01 * ((i * 7) % 5 - 2); }

  FleetRecord fleet_;
};

TEST_F(FleetOutliers, HealthyHostsAreNotNamed) { EXPECT_THAT(describe_outliers(fleet_), IsEmpty()); }

TEST_F(FleetOutliers, NamesASlowDevice) {
  fleet_.hosts[3] = test::host("h3", 0.75);
  EXPECT_THAT(describe_outliers(fleet_),
              Contains(::testing::AllOf(HasSubstr("GEMM bf16 of gpu: h3 is "), HasSubstr("below the others"),
                                        HasSubstr("% sure"))));
}

// One of a host's four: its host's median does not show it.
TEST_F(FleetOutliers, NamesTheSlowDeviceOfAHost) {
  constexpr int kDevices = 4;
  for (int i = 0; i < kHosts; ++i) {
    for (int device = 0; device < kDevices; ++device) {
      const double speed = i == 3 && device == 2 ? 0.75 : healthy(i + device);
      fleet_.hosts[static_cast<std::size_t>(i)].devices->results.push_back(
          test::result("gemm/bf16/8192", "flop/s", test::kFlop_per_s * speed, device));
    }
  }
  EXPECT_THAT(describe_outliers(fleet_), ElementsAre(::testing::AllOf(HasSubstr("GEMM bf16 of gpu: h3/2 is "),
                                                                      HasSubstr("below the others"))));
}

TEST_F(FleetOutliers, NamesABadCable) {
  fleet_.pairs[10] = test::pair(fleet_.pairs[10].from, fleet_.pairs[10].to, 0.5);
  const auto found = describe_outliers(fleet_);
  EXPECT_THAT(found,
              ElementsAre(::testing::AllOf(HasSubstr("bandwidth in zone z: the link "),
                                           HasSubstr(fleet_.pairs[10].from), HasSubstr(fleet_.pairs[10].to))));
}

TEST_F(FleetOutliers, NamesABadHost) {
  for (PairMeasurement& pair : fleet_.pairs) {
    if (pair.from == "h5" || pair.to == "h5") pair = test::pair(pair.from, pair.to, 0.5);
  }
  EXPECT_THAT(describe_outliers(fleet_), ElementsAre(HasSubstr("the links of h5 are")));
}

TEST_F(FleetOutliers, NamesALongWay) {
  PairMeasurement& pair = fleet_.pairs[10];
  for (PairMeasurement& one : fleet_.pairs) one.round_trips.spread_fraction = 0.01;
  pair.round_trips.median_s *= 3;
  EXPECT_THAT(describe_outliers(fleet_),
              ElementsAre(::testing::AllOf(HasSubstr("round trip in zone z: the link "), HasSubstr(pair.from),
                                           HasSubstr(pair.to), HasSubstr("above the others"))));
}

// Between two zones all pairs are equals too.
TEST_F(FleetOutliers, NamesABadHostBetweenZones) {
  for (HostOutcome& host : fleet_.hosts) {
    if (host.host.name < "h4") host.host.zone = "y";
  }
  for (PairMeasurement& pair : fleet_.pairs) {
    if ((pair.from < "h4") == (pair.to < "h4")) continue;
    pair = test::pair(pair.from, pair.to, pair.to == "h5" ? 0.3 : 1);
  }
  EXPECT_THAT(describe_outliers(fleet_),
              Contains(HasSubstr("bandwidth between zones y and z: the links of h5 are")));
}

// Far pairs are slower by nature: only those of one zone are equals.
TEST_F(FleetOutliers, ZonesAreNotComparedWithEachOther) {
  for (HostOutcome& host : fleet_.hosts) {
    if (host.host.name < "h4") host.host.zone = "y";
  }
  for (PairMeasurement& pair : fleet_.pairs) {
    if ((pair.from < "h4") != (pair.to < "h4")) pair = test::pair(pair.from, pair.to, 0.01);
  }
  EXPECT_THAT(describe_outliers(fleet_), IsEmpty());
}

}  // namespace
}  // namespace sextant
