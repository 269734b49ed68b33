#include "probes/assembly/cluster_outliers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(ClusterOddities, ABadHostAndABadCableAreNamedWithHowFarOffAndHowSure) {
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
  EXPECT_THAT(sentences,
              testing::Contains(testing::AllOf(HasSubstr("bandwidth in zone z: the links of h2 are 49.9 %"),
                                               HasSubstr("below the others"), HasSubstr("% sure"))));
  EXPECT_THAT(sentences, testing::Contains(testing::AllOf(HasSubstr("latency in zone z: the link h4 - h6 is"),
                                                          HasSubstr("above"))));
  EXPECT_EQ(sentences.size(), 2U);
}

}  // namespace
}  // namespace sextant
