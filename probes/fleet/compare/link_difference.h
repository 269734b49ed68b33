// Compares the links of two clusters: levels, nodes' own links, and every exception of either.
//
// An exception is compared with the link between the same two ends in the other cluster by its hierarchical
// rule (sextant/cluster.h): a cable that became bad is a pair that was like its level and is an exception now.
// Both directions are compared; if they are alike they are one line, "link a - b". Exceptions whose ends the
// other cluster lacks are left out, because its missing nodes are reported.
#pragma once

#include <vector>

#include "probes/fleet/compare/value_change.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

[[nodiscard]] std::vector<ValuePair> compare_links(const Cluster& before, const Cluster& after);

}  // namespace sextant::inline probes
