// Finds bad cables, bad hosts and bad directions from the rates of pairs among equal hosts.
//
// The logarithms of the pairs' rates (the mean of both directions if both are given) are decomposed into hosts
// and pairs (host_effects.h), and so are the differences of the directions: a host whose pairs are all slow in
// one direction only sends or only receives badly, and a pair's own difference is one bad direction. Each of
// these four tests is corrected for the number of hosts or pairs in it, not for being one of four. Hosts are
// reported first, then pairs that remain outliers, the farthest first.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "probes/outliers/outliers.h"

namespace sextant::inline probes {

// A rate from host to host, by number; the other direction is a separate one, or not given.
struct PairRate {
  std::size_t from = 0;
  std::size_t to = 0;
  double rate = 0;                        // > 0
  std::optional<double> spread_fraction;  // half the 95 % interval of the median / median
};

enum class OddLinkKind { host, sending, receiving, pair, direction };

struct OddLink {
  OddLinkKind kind = OddLinkKind::pair;
  std::string from;         // or the host itself
  std::string to;           // empty for hosts
  double off_fraction = 0;  // from the value that the others' links imply; for a pair: that its two hosts imply
  double sure = 0;          // in [0, 1), corrected for the number of tests

  friend bool operator==(const OddLink&, const OddLink&) = default;
};

// Pairs may be missing. At most one rate per direction.
[[nodiscard]] std::vector<OddLink> find_odd_links(std::span<const std::string> hosts,
                                                  std::span<const PairRate> rates, const OddRule& rule = {});

// "the links of b are 48.0 % below the others (99.9 % sure)", "the link a - b is ...", "the link from a to b is
// ..."
[[nodiscard]] std::string describe(const OddLink& odd);

}  // namespace sextant::inline probes
