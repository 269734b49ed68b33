// Hosts that are slower than the network between them: the rates of their adapters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/estimates/pair_model.h"

namespace sextant::inline probes {

struct HostRates {
  std::vector<std::optional<double>> network_bytes_per_s;  // by host; nullopt: not slower than others
  std::vector<std::string> warnings;
};

// Returns the hosts below 1 - kOddLinkFraction of the usual rate of hosts in their place. Rates within 25 % of
// each other become one, their median, so that a cluster keeps few classes of nodes.
[[nodiscard]] HostRates find_slow_hosts(std::span<const HostPlace> places, const PairModel& bandwidth);

}  // namespace sextant::inline probes
