// The place of a host in a fleet.
#pragma once

#include <string>

namespace sextant::inline probes {

// Hosts are numbered by their position in a list of places. Two zones of one name in different regions are
// different zones.
struct HostPlace {
  std::string name;
  std::string region;
  std::string zone;

  friend bool operator==(const HostPlace&, const HostPlace&) = default;
};

}  // namespace sextant::inline probes
