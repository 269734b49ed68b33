// The last line of a probe: whether the cluster is as fast as its hardware should be.
#pragma once

#include "sextant/cluster.h"

namespace sextant::cli {

// Prints the sentence of ask/measured/cluster_verdict.h; nothing without a data folder.
void print_verdict(const Cluster& cluster);

}  // namespace sextant::cli
