// A fleet with known links, to compare estimates with. The seed determines all of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "probes/estimates/pair_model.h"
#include "probes/schedule/host_groups.h"
#include "probes/schedule/host_schedule.h"

namespace sextant {

struct FleetTraits {
  int hosts = 400;
  int regions = 1;
  int zones_per_region = 1;
  std::vector<double> adapters_bytes_per_s = {3e9};  // generations, equally frequent
  double slow_fraction = 0;                          // hosts with a tenth of their adapter's rate
  bool has_distances = false;                        // regions lie in a plane
  double crowded_zones = 0;                          // share of the zones with a narrow uplink
  double pair_sigma = 0.02;                          // log scatter between pairs
  double noise_sigma = 0.03;                         // log scatter of a measurement
  double slip_fraction = 0;                          // disturbed measurements
  std::uint64_t seed = 1;
};

class SimulatedFleet {
 public:
  explicit SimulatedFleet(const FleetTraits& traits) : traits_(traits), random_(traits.seed) {
    for (int region = 0; region < traits.regions; ++region) {
      east_.push_back(uniform());
      north_.push_back(uniform());
    }
    for (int zone = 0; zone < traits.regions * traits.zones_per_region; ++zone) {
      uplink_.push_back(uniform() < traits.crowded_zones ? 4e8 : 1e12);
    }
    for (int host = 0; host < traits.hosts; ++host) {
      const int zone = static_cast<int>(uniform() * traits.regions * traits.zones_per_region);
      const int region = zone / traits.zones_per_region;
      places.push_back(
          {"host" + std::to_string(host), "region" + std::to_string(region), "zone" + std::to_string(zone)});
      zone_.push_back(zone);
      region_.push_back(region);
      const auto generation =
          static_cast<std::size_t>(uniform() * static_cast<double>(traits.adapters_bytes_per_s.size()));
      const double slow = uniform() < traits.slow_fraction ? 0.1 : 1.0;
      adapter_.push_back(traits.adapters_bytes_per_s[generation] * slow);
      access_s_.push_back(slow < 1 ? 40e-6 : 2e-6 + 2e-6 * uniform());
    }
    groups = group_hosts(places);
  }

  std::vector<HostPlace> places;
  HostGroups groups;

  [[nodiscard]] double bytes_per_s(const RankPair& pair) const {
    const auto a = static_cast<std::size_t>(pair.low), b = static_cast<std::size_t>(pair.high);
    double rate = std::min(adapter_[a], adapter_[b]);
    if (zone_[a] != zone_[b]) rate = std::min({rate, uplink(a), uplink(b), 2e9});
    if (region_[a] != region_[b]) rate = std::min(rate, 5e8 / (1 + 4 * distance(pair)));
    return rate * std::exp(traits_.pair_sigma * normal(pair, 1));
  }
  [[nodiscard]] double latency_s(const RankPair& pair) const {
    const auto a = static_cast<std::size_t>(pair.low), b = static_cast<std::size_t>(pair.high);
    double latency_s = 15e-6 + access_s_[a] + access_s_[b];
    if (zone_[a] != zone_[b]) latency_s += 200e-6;
    if (region_[a] != region_[b]) latency_s += 10e-3 + 60e-3 * distance(pair);
    return latency_s * std::exp(traits_.pair_sigma * normal(pair, 2));
  }
  // The measured rate: with noise, and slower if disturbed.
  [[nodiscard]] double measured_bytes_per_s(const RankPair& pair) const {
    return bytes_per_s(pair) / noise(pair, 3);
  }
  [[nodiscard]] double measured_latency_s(const RankPair& pair) const {
    return latency_s(pair) * noise(pair, 6);
  }

  [[nodiscard]] bool is_slow(int host) const { return access_s_[static_cast<std::size_t>(host)] > 10e-6; }
  [[nodiscard]] double adapter(int host) const { return adapter_[static_cast<std::size_t>(host)]; }

 private:
  [[nodiscard]] double uplink(std::size_t host) const { return uplink_[static_cast<std::size_t>(zone_[host])]; }
  [[nodiscard]] double distance(const RankPair& pair) const {
    if (!traits_.has_distances) return 0.3;
    const auto a = static_cast<std::size_t>(region_[static_cast<std::size_t>(pair.low)]);
    const auto b = static_cast<std::size_t>(region_[static_cast<std::size_t>(pair.high)]);
    return std::hypot(east_[a] - east_[b], north_[a] - north_[b]);
  }
  double uniform() { return std::uniform_real_distribution<double>()(random_); }

  // A random number of a pair, the same at every call (splitmix64 by Steele, Lea and Flood, 2014).
  [[nodiscard]] double share(const RankPair& pair, std::uint64_t stream) const {
    std::uint64_t x = traits_.seed * 0x9e3779b97f4a7c15U + stream * 0xd1b54a32d192ed03U +
                      (static_cast<std::uint64_t>(pair.low) << 32U) + static_cast<std::uint64_t>(pair.high);
    for (int i = 0; i < 2; ++i) {
      x += 0x9e3779b97f4a7c15U;
      x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
      x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
      x ^= x >> 31U;
    }
    return (static_cast<double>(x >> 11U) + 0.5) / 9007199254740992.0;
  }
  [[nodiscard]] double normal(const RankPair& pair, std::uint64_t stream) const {
    return std::sqrt(-2 * std::log(share(pair, 2 * stream))) *
           std::cos(2 * std::numbers::pi * share(pair, 2 * stream + 1));
  }
  [[nodiscard]] double noise(const RankPair& pair, std::uint64_t stream) const {
    const double slip =
        share(pair, 100 + stream) < traits_.slip_fraction ? std::abs(normal(pair, stream + 1)) : 0.0;
    return std::exp(traits_.noise_sigma * normal(pair, stream) + slip);
  }

  FleetTraits traits_;
  std::mt19937_64 random_;
  std::vector<double> east_, north_;  // by region
  std::vector<double> uplink_;        // by zone
  std::vector<int> zone_, region_;    // by host
  std::vector<double> adapter_, access_s_;
};

[[nodiscard]] inline std::vector<RankPair> all_of(const PairRounds& rounds) {
  std::vector<RankPair> pairs;
  for (const auto& round : rounds) pairs.insert(pairs.end(), round.begin(), round.end());
  return pairs;
}

[[nodiscard]] inline std::vector<PairSample> measure(const SimulatedFleet& fleet,
                                                     const std::vector<RankPair>& pairs,
                                                     PairQuantity quantity) {
  std::vector<PairSample> samples;
  samples.reserve(pairs.size());
  for (const RankPair& pair : pairs) {
    const bool is_latency = quantity == PairQuantity::latency_s;
    samples.push_back(
        {pair, is_latency ? fleet.measured_latency_s(pair) : fleet.measured_bytes_per_s(pair), 0.02});
  }
  return samples;
}

// Random pairs that were not measured.
[[nodiscard]] inline std::vector<RankPair> never_measured(const SimulatedFleet& fleet,
                                                          const std::vector<RankPair>& measured, int count) {
  const std::set<RankPair> known(measured.begin(), measured.end());
  std::mt19937_64 random(99);
  std::uniform_int_distribution<int> host(0, fleet.groups.host_count() - 1);
  std::vector<RankPair> pairs;
  while (static_cast<int>(pairs.size()) < count) {
    const int a = host(random), b = host(random);
    if (a != b && !known.contains(pair_of(a, b))) pairs.push_back(pair_of(a, b));
  }
  return pairs;
}

}  // namespace sextant
