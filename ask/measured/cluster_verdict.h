// Is a measured cluster as fast as its hardware should be?
#pragma once

#include "calibrate/import/records/facts.h"
#include "reports/content/cluster_verdict.h"
#include "sextant/cluster.h"

namespace sextant::inline ask {

// Compares measured rates with the datasheets of data/gpus.json. Matrix products are low below the shares of their
// datasheets that published measurements of GPUs of the same vendor reach; links of a node are low below kLowLink.
// Networks between nodes have no datasheet, as each site has its own. Links that are slower than the others of their
// kind are odd. A cluster without measured rates gets a sentence that says so.
[[nodiscard]] ClusterVerdict judge_cluster(const Cluster& cluster, const Facts& facts);

// A link below this share of its datasheet lost a lane, a cable or an adapter: protocols take far less.
inline constexpr double kLowLink = 0.6;

}  // namespace sextant::inline ask
