// The links of two clusters side by side: levels, nodes' own links, and every exception of either.
//
// An exception is compared with what holds between the same two in the other cluster by its hierarchical rule
// (sextant/cluster.h), so that a cable gone bad is a pair that was like its level and is an
// exception now. Both directions are looked at; where they are alike they are one line, "link a - b".
// Exceptions whose ends the other cluster lacks are left out: its missing nodes say it.
#pragma once

#include <vector>

#include "probes/fleet/compare/value_change.h"
#include "sextant/cluster.h"

namespace sextant {

[[nodiscard]] std::vector<ValuePair> compare_links(const Cluster& before, const Cluster& after);

}  // namespace sextant
