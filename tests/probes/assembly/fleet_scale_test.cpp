// Ten thousand hosts: what the measurements grow like, and what they still tell of all other pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include "sextant/statistics.h"
#include "tests/probes/assembly/simulated_fleet.h"

namespace sextant {
namespace {

constexpr int kUnmeasured = 100000;

FleetTraits large(int hosts) {
  return {.hosts = hosts,
          .regions = 4,
          .zones_per_region = 8,
          .adapters_bytes_per_s = {3e9, 12e9},
          .slow_fraction = 0.01,
          .has_distances = true,
          .crowded_zones = 0.1,
          .slip_fraction = 0.01};
}

TEST(FleetScale, PairsGrowLikeHostsTimesTheirLogarithm) {
  for (const int hosts : {100, 1000, 10000}) {
    const SimulatedFleet fleet(large(hosts));
    const PairRounds rounds = schedule_pairs(fleet.places);
    const double n = hosts;
    EXPECT_LE(static_cast<double>(all_of(rounds).size()), 1.25 * n * std::log2(n));
    // All hosts are about as busy, so that rounds grow like the pairs of one host.
    EXPECT_LE(static_cast<double>(rounds.size()), 3 * (std::log2(n) + 7)) << hosts;
  }
}

TEST(FleetScale, EstimatesPairsOfTenThousandHosts) {
  const SimulatedFleet fleet(large(10000));
  const std::vector<RankPair> pairs = all_of(schedule_pairs(fleet.places));
  const PairModel model =
      PairModel::fit(fleet.places, measure(fleet, pairs, PairQuantity::bytes_per_s), PairQuantity::bytes_per_s);
  std::vector<double> errors;
  int covered = 0;
  for (const RankPair& pair : never_measured(fleet, pairs, kUnmeasured)) {
    errors.push_back(std::abs(std::log(model.predict(pair) / fleet.measured_bytes_per_s(pair))));
    covered += errors.back() <= model.log_error_90(fleet.groups.level_of(pair)).value_or(0);
  }
  EXPECT_LT(median(errors), 0.03);         // a perfect estimate has 0.0243, the noise alone
  EXPECT_LT(quantile(errors, 0.9), 0.08);  // 0.0593
  EXPECT_NEAR(covered / static_cast<double>(kUnmeasured), 0.9, 0.05);
}

}  // namespace
}  // namespace sextant
