#include "probes/estimates/held_out.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

namespace sextant::inline probes {
namespace {

constexpr std::size_t kFolds = 5;
constexpr double kCoverage = 0.9;
constexpr std::size_t kFewestForCoverage = 9;  // of fewer not even the largest is surely beyond 90 %

std::vector<std::size_t> deal_folds(std::size_t samples, std::uint64_t seed) {
  std::vector<std::size_t> fold(samples);
  for (std::size_t i = 0; i < samples; ++i) fold[i] = i % kFolds;
  std::mt19937_64 random(seed);
  std::shuffle(fold.begin(), fold.end(), random);
  return fold;
}

std::vector<RankPair> pairs_of(std::span<const CostSample> samples) {
  std::vector<RankPair> pairs;
  pairs.reserve(samples.size());
  for (const CostSample& sample : samples) pairs.push_back(sample.pair);
  return pairs;
}

double pairs_between(const HostGroups& groups, int zone, int other) {
  const auto hosts = static_cast<double>(groups.hosts_of_zone[static_cast<std::size_t>(zone)].size());
  if (zone == other) return hosts * (hosts - 1) / 2;
  return hosts * static_cast<double>(groups.hosts_of_zone[static_cast<std::size_t>(other)].size());
}

// The smallest error below which lies 90 % of the weight, one more pair of the mean weight counted as beyond.
std::optional<double> weighted_bound(std::vector<std::pair<double, double>>& error_and_weight) {
  if (error_and_weight.size() < kFewestForCoverage) return std::nullopt;
  std::sort(error_and_weight.begin(), error_and_weight.end());
  double total = 0;
  for (const auto& [error, weight] : error_and_weight) total += weight;
  const double asked = kCoverage * total * (1 + 1 / static_cast<double>(error_and_weight.size()));
  double below = 0;
  for (const auto& [error, weight] : error_and_weight) {
    below += weight;
    if (below >= asked) return error;
  }
  return error_and_weight.back().first;
}

}  // namespace

void fill_levels(SegmentCosts& costs) {
  const std::vector<double> known(costs.of_part.begin(), costs.of_part.begin() + kFleetLevels);
  for (std::size_t level = 0; level < kFleetLevels; ++level) {
    double& cost = costs.of_part[level];
    for (std::size_t outer = level + 1; cost == 0 && outer < kFleetLevels; ++outer) cost = known[outer];
    for (std::size_t inner = level; cost == 0 && inner > 0; --inner) cost = known[inner - 1];
  }
}

std::vector<double> held_out_errors(const HostGroups& groups, std::span<const CostSample> samples,
                                    const FitKind& kind, std::uint64_t seed) {
  const std::vector<std::size_t> fold = deal_folds(samples.size(), seed);
  std::vector<double> errors(samples.size());
  for (std::size_t out = 0; out < std::min(kFolds, samples.size()); ++out) {
    std::vector<CostSample> seen;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (fold[i] != out || samples.size() < 2) seen.push_back(samples[i]);
    }
    const PartTable table(groups, pairs_of(seen));
    SegmentCosts costs = fit_costs(table, seen, kind);
    fill_levels(costs);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (fold[i] != out) continue;
      const double cost = costs.of_pair(table.classes(), table.parts_of(samples[i].pair));
      errors[i] = std::abs(std::log(cost / samples[i].cost));
    }
  }
  return errors;
}

std::array<std::optional<double>, kFleetLevels> errors_90(const HostGroups& groups,
                                                          std::span<const CostSample> samples,
                                                          std::span<const double> errors) {
  const auto zones_of = [&groups](const RankPair& pair) {
    return std::minmax({groups.zone_of[static_cast<std::size_t>(pair.low)],
                        groups.zone_of[static_cast<std::size_t>(pair.high)]});
  };
  std::map<std::pair<int, int>, double> samples_between;
  for (const CostSample& sample : samples) samples_between[zones_of(sample.pair)] += 1;
  std::array<std::vector<std::pair<double, double>>, kFleetLevels> of_level;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::pair<int, int> zones = zones_of(samples[i].pair);
    const double stands_for = pairs_between(groups, zones.first, zones.second) / samples_between[zones];
    const LinkLevel level = groups.level_of(samples[i].pair);
    of_level[static_cast<std::size_t>(level_class(level))].emplace_back(errors[i], stands_for);
  }
  std::array<std::optional<double>, kFleetLevels> bounds;
  for (std::size_t level = 0; level < bounds.size(); ++level) bounds[level] = weighted_bound(of_level[level]);
  return bounds;
}

}  // namespace sextant::inline probes
