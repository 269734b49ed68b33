// Where the hosts of a job are, as its user wrote it down.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "probes/report/host_place.h"

namespace sextant {

class HostPlaces {
 public:
  // All hosts in one zone, whatever they are called.
  HostPlaces() = default;
  HostPlaces(std::string region, std::string zone) : region_(std::move(region)), zone_(std::move(zone)) {}
  // These hosts alone.
  explicit HostPlaces(std::vector<HostPlace> hosts) : hosts_(std::move(hosts)) {}

  // By the whole name, else by what is before the first dot of both. Error(bad_input) for a host that is not
  // among them.
  [[nodiscard]] HostPlace of(const std::string& host) const;
  [[nodiscard]] std::vector<HostPlace> of(std::span<const std::string> hosts) const;

 private:
  std::vector<HostPlace> hosts_;
  std::string region_ = "local", zone_ = "local";
};

}  // namespace sextant
