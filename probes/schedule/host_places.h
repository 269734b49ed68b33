// The places of a job's hosts, as its user lists them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probes/schedule/host_place.h"

namespace sextant::inline probes {

class HostPlaces {
 public:
  // Puts all hosts into one zone, whatever their names.
  HostPlaces() = default;
  HostPlaces(std::string region, std::string zone) : region_(std::move(region)), zone_(std::move(zone)) {}
  // Accepts these hosts only.
  explicit HostPlaces(std::vector<HostPlace> hosts) : hosts_(std::move(hosts)) {}

  // Matches the whole name, else the part before the first dot of both. Throws Error(bad_input) for a host that
  // is not in the list.
  [[nodiscard]] HostPlace of(const std::string& host) const;
  [[nodiscard]] std::vector<HostPlace> of(std::span<const std::string> hosts) const;

 private:
  std::vector<HostPlace> hosts_;
  std::string region_ = "local", zone_ = "local";
};

}  // namespace sextant::inline probes
