// A cluster document of what a probe of many hosts found: one node a host, device types merged, links from
// pairs.
//
// Hosts that were lost or whose devices were not measured are left out, with a warning. A device type that
// several hosts have gets the median of their rates. Latency is half the median round trip; bandwidth what NCCL
// gets over TCP: that of one stream, or with more sockets the slowest of as many streams times their number, in
// the slower direction. What devices of two hosts, and hosts of two zones or regions, share: link_capacities.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/fleet/fleet_probe.h"
#include "probes/fleet/links/fleet_links.h"
#include "sextant/cluster.h"

namespace sextant {

struct FleetCluster {
  // Nothing when there is no host with devices, or none of several were measured together; `failure_reason` says it.
  std::optional<Cluster> cluster;
  std::string failure_reason;
  std::vector<std::string> warnings;
  // What pairs that were never measured are expected to be off by; nothing where all were measured.
  std::optional<PairModel> latency, bandwidth;
};

// `sockets`: that NCCL opens to one peer (NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD).
[[nodiscard]] FleetCluster assemble_fleet_cluster(const std::string& name, const FleetOutcome& outcome,
                                                  int sockets);

// Of one measured pair; nothing when so many streams were not measured.
[[nodiscard]] std::optional<LinkRate> link_rate(const PairMeasurement& pair, int sockets);

// One type of what several hosts measured of it: medians.
[[nodiscard]] DeviceType merge_device_types(const std::vector<DeviceType>& types);

}  // namespace sextant
