#include "probes/estimates/pair_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sextant/error.h"
#include "sextant/statistics.h"
#include "tests/probes/assembly/simulated_fleet.h"

namespace sextant {
namespace {

struct World {
  const char* name;
  FleetTraits traits;

  friend void PrintTo(const World& world, std::ostream* out) { *out << world.name; }
};

const std::vector<World>& worlds() {
  static const std::vector<World> all{
      {"homogeneous", {}},
      {"slow_adapters", {.slow_fraction = 0.03}},
      {"three_generations", {.adapters_bytes_per_s = {1.2e9, 3e9, 12e9}}},
      {"distances", {.regions = 5, .zones_per_region = 2, .has_distances = true}},
      {"crowded_zones", {.hosts = 600, .zones_per_region = 10, .crowded_zones = 0.4}},
      {"slips", {.slow_fraction = 0.02, .noise_sigma = 0.08, .slip_fraction = 0.1}},
      {"racks", {.hosts = 1000, .zones_per_region = 125, .slow_fraction = 0.02, .crowded_zones = 0.2}},
      {"all_of_it",
       {.hosts = 900,
        .regions = 3,
        .zones_per_region = 4,
        .adapters_bytes_per_s = {3e9, 12e9},
        .slow_fraction = 0.02,
        .has_distances = true,
        .crowded_zones = 0.2,
        .slip_fraction = 0.02}},
  };
  return all;
}

double measured_value(const SimulatedFleet& fleet, const RankPair& pair, PairQuantity quantity) {
  return quantity == PairQuantity::latency_s ? fleet.measured_latency_s(pair)
                                             : fleet.measured_bytes_per_s(pair);
}

struct Outcome {
  PairRule rule = PairRule::places;
  double coverage = 0;
  double median_error = 0;
};

// Against what measuring each pair would give.
Outcome outcome(const FleetTraits& traits, PairQuantity quantity) {
  const SimulatedFleet fleet(traits);
  const std::vector<RankPair> pairs = all_of(schedule_pairs(fleet.places));
  const PairModel model = PairModel::fit(fleet.places, measure(fleet, pairs, quantity), quantity);
  constexpr int kPairs = 20000;
  int covered = 0;
  std::vector<double> errors;
  for (const RankPair& pair : never_measured(fleet, pairs, kPairs)) {
    const double error = std::abs(std::log(model.predict(pair) / measured_value(fleet, pair, quantity)));
    covered += error <= model.log_error_90(fleet.groups.level_of(pair)).value_or(0);
    errors.push_back(error);
  }
  return {model.rule(), covered / static_cast<double>(kPairs), median(errors)};
}

std::vector<HostPlace> one_zone(int hosts) {
  std::vector<HostPlace> places(static_cast<std::size_t>(hosts), {"", "r", "z"});
  for (int host = 0; host < hosts; ++host)
    places[static_cast<std::size_t>(host)].name = "h" + std::to_string(host);
  return places;
}

class Worlds : public testing::TestWithParam<World> {};

// A perfect estimate has a median error of 0.0243 where scatter and noise are as usual, 0.0556 with the slips'
// noise.
TEST_P(Worlds, NinetyPercentOfUnmeasuredPairsKeepTheStatedError) {
  for (const PairQuantity quantity : {PairQuantity::latency_s, PairQuantity::bytes_per_s}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      FleetTraits traits = GetParam().traits;
      traits.seed = seed;
      const Outcome found = outcome(traits, quantity);
      const std::string what = quantity == PairQuantity::latency_s ? "latency, seed " : "rate, seed ";
      EXPECT_GE(found.coverage, 0.85) << what << seed;
      EXPECT_LE(found.coverage, 0.95) << what << seed;
      EXPECT_LT(found.median_error, traits.slip_fraction > 0.05 ? 0.075 : 0.03) << what << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PairModel, Worlds, testing::ValuesIn(worlds()),
                         [](const auto& world) { return std::string(world.param.name); });

TEST(PairModel, ChoosesTheRuleOfThePhysics) {
  const FleetTraits like{.seed = 1};
  EXPECT_EQ(outcome(like, PairQuantity::bytes_per_s).rule, PairRule::places);
  const FleetTraits mixed{.adapters_bytes_per_s = {1.2e9, 3e9, 12e9}, .slow_fraction = 0.05};
  EXPECT_EQ(outcome(mixed, PairQuantity::bytes_per_s).rule, PairRule::slowest_part);
  EXPECT_EQ(outcome(mixed, PairQuantity::latency_s).rule, PairRule::sum_of_parts);
}

// Without scatter and noise the parts are found as they are.
TEST(PairModel, FindsAdaptersOfThreeGenerations) {
  const SimulatedFleet fleet(
      {.hosts = 300, .adapters_bytes_per_s = {1.2e9, 3e9, 12e9}, .pair_sigma = 0, .noise_sigma = 0});
  const std::vector<RankPair> pairs = all_of(schedule_pairs(fleet.places));
  const PairModel model =
      PairModel::fit(fleet.places, measure(fleet, pairs, PairQuantity::bytes_per_s), PairQuantity::bytes_per_s);
  EXPECT_EQ(model.rule(), PairRule::slowest_part);
  int wrong = 0;
  for (int host = 0; host < 300; ++host) {
    wrong += std::abs(model.with_usual_neighbour(host) / fleet.adapter(host) - 1) > 1e-9;
    EXPECT_NEAR(model.between_usual_neighbours(host), 12e9, 1);
  }
  // A fast host that met no other fast one cannot be told from a middling one: 9 partners, (2/3)^9 = 2.6 % of a
  // third.
  EXPECT_LE(wrong, 6);
}

TEST(PairModel, AddsTheLatenciesOfHosts) {
  // Twelve hosts, all pairs: 10 us between hosts, and 20 us more at host 3.
  const std::vector<HostPlace> places = one_zone(12);
  std::vector<PairSample> samples;
  for (const RankPair& pair : all_of(tournament_rounds(12))) {
    const bool is_third = pair.low == 3 || pair.high == 3;
    samples.push_back({pair, is_third ? 30e-6 : 10e-6, 0.01});
  }
  const PairModel model = PairModel::fit(places, samples, PairQuantity::latency_s);
  EXPECT_NEAR(model.predict({0, 1}), 10e-6, 1e-9);
  EXPECT_NEAR(model.predict({3, 7}), 30e-6, 1e-7);
  EXPECT_NEAR(model.predict_without_hosts({3, 7}), 10e-6, 1e-9);
  EXPECT_NEAR(model.with_usual_neighbour(3), 30e-6, 1e-7);
}

TEST(PairModel, CountsNoisyMeasurementsForLess) {
  const std::vector<HostPlace> places = one_zone(12);
  const auto median_with = [&places](double spread_of_high) {
    std::vector<PairSample> samples;
    for (const RankPair& pair : all_of(tournament_rounds(12))) {
      // Seven of twelve are high; they are noisy or not.
      const bool is_high = (pair.low + pair.high) % 12 < 7;
      samples.push_back({pair, is_high ? 2.0 : 1.0, is_high ? spread_of_high : 0.01});
    }
    // Half of the spreads must be small, for the usual one is their median.
    for (std::size_t i = 0; i < samples.size(); i += 4) samples[i].spread_fraction = 0.01;
    return PairModel::fit(places, samples, PairQuantity::latency_s).predict_without_hosts({0, 1});
  };
  EXPECT_EQ(median_with(0.01), 2.0);
  EXPECT_EQ(median_with(0.5), 1.0);
}

TEST(PairModel, TakesANeighbouringLevelWhereNoneWasMeasured) {
  const std::vector<HostPlace> places{
      {"a", "east", "e1"}, {"b", "east", "e1"}, {"c", "east", "e2"}, {"d", "west", "w1"}};
  const std::vector<PairSample> near{{{0, 1}, 5.0, 0}};
  const PairModel inner = PairModel::fit(places, near, PairQuantity::latency_s);
  EXPECT_EQ(inner.predict({0, 2}), 5.0);
  EXPECT_EQ(inner.predict({0, 3}), 5.0);
  EXPECT_FALSE(inner.log_error_90(LinkLevel::within_zone));
  const std::vector<PairSample> both{{{0, 1}, 5.0, 0}, {{0, 3}, 70.0, 0}};
  EXPECT_EQ(PairModel::fit(places, both, PairQuantity::latency_s).predict({0, 2}), 70.0);
}

TEST(PairModel, StatesNoErrorFromFewerThanNinePairs) {
  const std::vector<HostPlace> places = one_zone(20);
  std::vector<PairSample> samples;
  for (int host = 1; host < 9; ++host) samples.push_back({{0, host}, 1.0 + 0.01 * host, 0});
  const auto error = [&] {
    return PairModel::fit(places, samples, PairQuantity::latency_s).log_error_90(LinkLevel::within_zone);
  };
  EXPECT_FALSE(error());
  samples.push_back({{0, 9}, 1.0, 0});
  EXPECT_TRUE(error());
}

TEST(PairModel, IsTheSameForTheSameSeed) {
  const SimulatedFleet fleet({.hosts = 200, .slow_fraction = 0.05});
  const std::vector<RankPair> pairs = all_of(schedule_pairs(fleet.places));
  const std::vector<PairSample> samples = measure(fleet, pairs, PairQuantity::latency_s);
  const auto fit = [&](std::uint64_t seed) {
    return PairModel::fit(fleet.places, samples, PairQuantity::latency_s, seed);
  };
  EXPECT_EQ(fit(1).log_error_90(LinkLevel::within_zone), fit(1).log_error_90(LinkLevel::within_zone));
  EXPECT_NE(fit(1).log_error_90(LinkLevel::within_zone), fit(2).log_error_90(LinkLevel::within_zone));
}

TEST(PairModel, RefusesWhatNoPairCanHave) {
  const std::vector<HostPlace> places{{"a", "r", "z"}, {"b", "r", "z"}};
  const auto fit = [&places](const PairSample& sample) {
    (void)PairModel::fit(places, std::vector<PairSample>{sample}, PairQuantity::bytes_per_s);
  };
  EXPECT_NO_THROW(fit({{0, 1}, 1e9, 0.1}));
  EXPECT_THROW(fit({{0, 2}, 1e9, 0.1}), Error);
  EXPECT_THROW(fit({{1, 0}, 1e9, 0.1}), Error);
  EXPECT_THROW(fit({{0, 1}, 0, 0.1}), Error);
  EXPECT_THROW(fit({{0, 1}, std::nan(""), 0.1}), Error);
  EXPECT_THROW(fit({{0, 1}, 1e9, -1}), Error);
  EXPECT_THROW((void)PairModel::fit(places, {}, PairQuantity::bytes_per_s), Error);
}

}  // namespace
}  // namespace sextant
