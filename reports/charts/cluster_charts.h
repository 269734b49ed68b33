// Heatmaps of the links of a cluster.
#pragma once

#include <string>
#include <vector>

#include "reports/content/content.h"
#include "sextant/cluster.h"
#include "sextant/ids.h"

namespace sextant::charts {

// A matrix is readable up to this many rows.
inline constexpr int kMaxLinkEnds = 64;

// A row and column of a link matrix: a device, or the first device of a node for the whole node.
struct LinkEnd {
  std::string label;
  DeviceId device;
};

enum class LinkProperty { latency, bandwidth };

// Needs at least two ends. Cells on the diagonal stay empty.
[[nodiscard]] Json link_matrix(const Cluster& cluster, const std::vector<LinkEnd>& ends, LinkProperty property);

}  // namespace sextant::charts
