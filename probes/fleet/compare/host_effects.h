// Numbers of pairs of hosts, taken apart into what each host does to all its pairs and what is a pair's own.
//
//   hosts  h_i = median over partners of y_ij; a host is odd when its h is among those of all (outlier_statistics.h). One
//   bad
//          pair does not move a median of three or more, so hosts with fewer pairs are not judged.
//   pairs  what is left of y_ij without the hosts' effects (one sweep of median polish, Tukey 1977) is held
//   against
//          that of all pairs. An odd host's effect is taken out whole; between two slow hosts the slower one
//          counts, as their adapters lie in one path. The effects of the others are shrunk by the part of their
//          variance that chance explains (as James and Stein 1961 do), so that polishing does not make up
//          structure.
#pragma once

#include <cstddef>
#include <vector>

#include "probes/fleet/compare/outlier_statistics.h"

namespace sextant {

// What a pair's number is when seen from its other host: the same (a rate), or with the other sign (one
// direction's less the other's).
enum class PairSymmetry { same, opposite };

struct PairNumber {
  std::size_t low = 0;  // the host from which `number` is seen
  std::size_t high = 0;
  NoisyNumber number;
};

inline constexpr std::size_t kMinPairs = 3;  // of a host, so that one bad pair does not move its median

struct HostEffect {
  double off = 0;         // from the median of the hosts that are not odd
  std::size_t pairs = 0;  // that it is the median of; too few: off is 0
  double sure = 0;        // of being odd; 0 unless it is
  [[nodiscard]] bool is_judged() const { return pairs >= kMinPairs; }
  [[nodiscard]] bool is_odd() const { return sure > 0; }
};

struct HostsAndPairs {
  std::vector<HostEffect> hosts;
  std::vector<Deviant> pairs;  // the odd ones, by their place in what was given
};

// Odd is what is off by more than min_off, with at least the certainty asked after `tests` such questions.
struct Oddness {
  double min_off = 0;
  double min_sureness = 0;  // > 0
  double min_deviation = 0;
  int tests = 1;
  // 0 for what is not far enough off.
  [[nodiscard]] double sure_among_tests(const Deviant& deviant) const;
};

[[nodiscard]] HostsAndPairs take_apart(std::size_t hosts, const std::vector<PairNumber>& pairs,
                                       PairSymmetry symmetry, const Oddness& oddness);

}  // namespace sextant
