// Splits numbers of pairs of hosts into each host's effect on all its pairs and the remainder of each pair.
//
//   hosts  h_i = median over partners of y_ij; a host is an outlier if its h is one (outlier_statistics.h).
//          One bad pair does not move a median of three or more, so hosts with fewer pairs are not judged.
//   pairs  the residuals of y_ij without the hosts' effects (one sweep of median polish, Tukey 1977) are
//          compared with those of all pairs. An outlier host's effect is removed whole; between two slow
//          hosts the slower one counts, because their adapters lie in one path.
//          The effects of the other hosts are shrunk by the part of their variance that chance explains
//          (as James and Stein 1961 do), so that the polishing does not invent structure.
//
// An outlier differs by more than a minimum that matters and with enough confidence (Oddness).
#pragma once

#include <cstddef>
#include <vector>

#include "probes/outliers/outlier_statistics.h"

namespace sextant::inline probes {

// How a pair's number appears from its other host: the same (a rate), or with the opposite sign (the difference
// of the two directions).
enum class PairSymmetry { same, opposite };

struct PairNumber {
  std::size_t low = 0;  // the host from which `number` is seen
  std::size_t high = 0;
  NoisyNumber number;
};

inline constexpr std::size_t kMinPairs = 3;  // per host, so that one bad pair does not move its median

struct HostEffect {
  double off = 0;         // difference from the median of the hosts that are not outliers
  std::size_t pairs = 0;  // pairs of the median; with too few, off is 0
  double sure = 0;        // confidence of being an outlier; 0 unless it is one
  [[nodiscard]] bool is_judged() const { return pairs >= kMinPairs; }
  [[nodiscard]] bool is_odd() const { return sure > 0; }
};

struct HostsAndPairs {
  std::vector<HostEffect> hosts;
  std::vector<Deviant> pairs;  // outliers, by their position in the input
};

// The criterion of an outlier: off by more than min_off, with at least this confidence over `tests` tests.
struct Oddness {
  double min_off = 0;
  double min_sureness = 0;  // > 0
  double min_deviation = 0;
  int tests = 1;
  // Returns 0 if it is not far enough off.
  [[nodiscard]] double sure_among_tests(const Deviant& deviant) const;
};

[[nodiscard]] HostsAndPairs take_apart(std::size_t hosts, const std::vector<PairNumber>& pairs,
                                       PairSymmetry symmetry, const Oddness& oddness);

}  // namespace sextant::inline probes
