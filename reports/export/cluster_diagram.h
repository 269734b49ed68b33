// A cluster drawn by other programs: Mermaid, which Markdown pages of GitHub and GitLab show, and Graphviz.
//
// Regions hold zones, and zones hold nodes. Nodes that are alike are one box, except those whose links differ from the
// others'. The network of a zone is a point to which its nodes are joined, and zones and regions are joined in the same
// way; every line has the rate and the latency of one device. Links that differ are dashed lines of their own.
#pragma once

#include <string>

#include "sextant/cluster.h"

namespace sextant::inline reports {

[[nodiscard]] std::string cluster_as_mermaid(const Cluster& cluster);
[[nodiscard]] std::string cluster_as_graphviz(const Cluster& cluster);

}  // namespace sextant::inline reports
