// The outliers of a campaign: a slow GPU, a bad cable, a host or one direction, each with its deviation from its
// equals and a confidence (probes/outliers).
#pragma once

#include <string>
#include <vector>

#include "probes/assembly/cluster_links.h"
#include "probes/link/link_probe.h"
#include "probes/report/fleet_record.h"

namespace sextant::inline probes {

// Links among a job's ranks. Pairs of nodes of a zone (each the median of its pairs of ranks) are compared with
// each other, and so are pairs of devices of a node, by bandwidth and by latency. Outlier devices of ranks are in
// the warnings of their type (device_types.h).
[[nodiscard]] std::vector<std::string> describe_odd_links(const std::vector<PlacedRank>& ranks,
                                                          const std::vector<LinkMeasurement>& measurements);

// Devices and links of many hosts, devices first: "GEMM bf16 of nvidia-h100: va-3/2 is 15.2 % below the others
// (99.8 % sure)". Equals are devices of one type on all hosts, and pairs within a zone or between the same two
// zones, by bandwidth and by round trip, if there are enough of them.
[[nodiscard]] std::vector<std::string> describe_outliers(const FleetRecord& fleet);

}  // namespace sextant::inline probes
