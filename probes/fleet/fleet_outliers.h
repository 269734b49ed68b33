// The outliers among a fleet's hosts: a slow GPU, a bad cable, a host or one direction, each with its deviation
// from its equals and a confidence. Equals are devices of one type on all hosts, and pairs within a zone or
// between the same two zones, by bandwidth and by round trip, if there are enough of them.
#pragma once

#include <string>
#include <vector>

#include "probes/fleet/fleet_probe.h"

namespace sextant {

// Sentences, devices first: "GEMM bf16 of nvidia-h100: va-3/2 is 15.2 % below the others (99.8 % sure)".
[[nodiscard]] std::vector<std::string> describe_oddities(const FleetOutcome& outcome);

}  // namespace sextant
