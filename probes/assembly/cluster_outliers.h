// The outlier links among a job's ranks: a bad cable, a host or a device whose links are all slow, with
// deviation and confidence (fleet/compare/outlier_links.h).
#pragma once

#include <string>
#include <vector>

#include "probes/assembly/cluster_links.h"
#include "probes/link/link_probe.h"

namespace sextant {

// Pairs of nodes of a zone (each the median of its pairs of ranks) are compared with each other, and so are
// pairs of devices of a node, by bandwidth and by latency. "bandwidth in zone use1a: the links of va-3 are 48.0
// % below the others (99.9 % sure)".
[[nodiscard]] std::vector<std::string> describe_odd_links(const std::vector<PlacedRank>& ranks,
                                                          const std::vector<LinkMeasurement>& measurements);

}  // namespace sextant
