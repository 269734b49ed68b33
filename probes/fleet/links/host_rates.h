// Hosts that are slower than what is between them: the rates of their adapters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/fleet/links/pair_model.h"

namespace sextant {

struct HostRates {
  std::vector<std::optional<double>> network_bytes_per_s;  // by host; nothing: not slower than others
  std::vector<std::string> warnings;
};

// Hosts that reach less than 1 - kOddLinkFraction of what usual hosts of their place do. Rates within 25 % of
// each other become one, their median, so that a cluster keeps few classes of nodes.
[[nodiscard]] HostRates find_slow_hosts(std::span<const HostPlace> places, const PairModel& bandwidth);

}  // namespace sextant
