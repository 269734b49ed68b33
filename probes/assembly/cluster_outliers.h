// The odd links among a job's ranks: a bad cable, a host or a device whose links are all slow, with how far off
// and how sure (fleet/compare/odd_links.h).
#pragma once

#include <string>
#include <vector>

#include "probes/assembly/cluster_links.h"
#include "probes/link/link_probe.h"

namespace sextant {

// Equals are the pairs of nodes of a zone (each the median of its pairs of ranks), and the pairs of devices of
// a node; both by bandwidth and by latency. "bandwidth in zone use1a: the links of va-3 are 48.0 % below the
// others (99.9 % sure)".
[[nodiscard]] std::vector<std::string> describe_odd_links(const std::vector<PlacedRank>& ranks,
                                                          const std::vector<LinkMeasurement>& measurements);

}  // namespace sextant
