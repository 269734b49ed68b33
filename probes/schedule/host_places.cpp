#include "probes/schedule/host_places.h"

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

std::string_view short_name(const std::string& host) {
  return std::string_view(host).substr(0, host.find('.'));
}

}  // namespace

HostPlace HostPlaces::of(const std::string& host) const {
  if (hosts_.empty()) return {host, region_, zone_};
  for (const HostPlace& place : hosts_) {
    if (place.name == host) return {host, place.region, place.zone};
  }
  for (const HostPlace& place : hosts_) {
    if (short_name(place.name) == short_name(host)) return {host, place.region, place.zone};
  }
  throw_bad_input("the places file has no line for host " + host + ", on which a rank runs");
}

std::vector<HostPlace> HostPlaces::of(std::span<const std::string> hosts) const {
  std::vector<HostPlace> places;
  places.reserve(hosts.size());
  for (const std::string& host : hosts) places.push_back(of(host));
  return places;
}

}  // namespace sextant::inline probes
