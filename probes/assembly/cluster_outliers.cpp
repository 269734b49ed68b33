#include "probes/assembly/cluster_outliers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "probes/outliers/outlier_links.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

// Members of a zone or of a node, and what was measured between each two.
struct Equals {
  std::vector<std::string> names;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<AlphaBeta>> fits;

  std::size_t number_of(const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) names.push_back(name);
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  void add(const std::string& low, const std::string& high, const AlphaBeta& fit) {
    const std::size_t a = number_of(low), b = number_of(high);
    fits[std::minmax(a, b)].push_back(fit);
  }
};

struct Measure {
  const char* name;
  double AlphaBeta::*value;
  double AlphaBeta::*spread;
};

constexpr Measure kMeasures[] = {
    {"bandwidth", &AlphaBeta::bytes_per_s, &AlphaBeta::bytes_per_s_spread_fraction},
    {"latency", &AlphaBeta::latency_s, &AlphaBeta::latency_spread_fraction}};

void describe(const Equals& equals, const Measure& measure, const std::string& where,
              std::vector<std::string>& sentences) {
  std::vector<PairRate> rates;
  for (const auto& [pair, fits] : equals.fits) {
    std::vector<double> values, spreads;
    for (const AlphaBeta& fit : fits) {
      values.push_back(fit.*measure.value);
      spreads.push_back(fit.*measure.spread);
    }
    rates.push_back({pair.first, pair.second, median(values), median(spreads)});
  }
  for (const OddLink& odd : find_odd_links(equals.names, rates)) {
    sentences.push_back(std::string(measure.name) + " in " + where + ": " + describe(odd));
  }
}

}  // namespace

std::vector<std::string> describe_odd_links(const std::vector<PlacedRank>& ranks,
                                            const std::vector<LinkMeasurement>& measurements) {
  std::map<std::string, Equals> all;
  for (const LinkMeasurement& link : measurements) {
    if (!link.fit) continue;
    const PlacedRank& low = ranks[static_cast<std::size_t>(link.pair.low)];
    const PlacedRank& high = ranks[static_cast<std::size_t>(link.pair.high)];
    if (low.node == high.node) {
      all["node " + low.node].add(low.device, high.device, *link.fit);
    } else if (low.zone == high.zone && low.region == high.region) {
      all["zone " + low.zone].add(low.node, high.node, *link.fit);
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [where, equals] : all) {
    for (const Measure& measure : kMeasures) describe(equals, measure, where, sentences);
  }
  return sentences;
}

}  // namespace sextant
