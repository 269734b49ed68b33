// Assembles a cluster document from a probe of many hosts: one node per host, device types merged, links from
// pairs.
//
// Hosts that were lost or whose devices were not measured are left out, with a warning. A device type that
// several hosts have gets the median of their rates. Latency is half the median round trip; bandwidth is NCCL's
// over TCP: that of one stream, or with more sockets the slowest of as many streams times their number, in the
// slower direction. Capacities shared by devices or hosts: link_capacities.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/assembly/fleet_links.h"
#include "probes/report/fleet_record.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

struct FleetCluster {
  // nullopt if no host has devices, or no two of several were measured together; `failure_reason` says why.
  std::optional<Cluster> cluster;
  std::string failure_reason;
  std::vector<std::string> warnings;
  // The models that give the expected error of pairs that were never measured; nullopt if all were measured.
  std::optional<PairModel> latency, bandwidth;
};

// `sockets`: number that NCCL opens to one peer (NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD).
[[nodiscard]] FleetCluster assemble_fleet_cluster(const std::string& name, const FleetRecord& outcome,
                                                  int sockets);

// Returns the link of one measured pair; nullopt if this number of streams was not measured.
[[nodiscard]] std::optional<LinkRate> link_rate(const PairMeasurement& pair, int sockets);

// Returns the medians of one type's measurements on several hosts.
[[nodiscard]] DeviceType merge_device_types(const std::vector<DeviceType>& types);

}  // namespace sextant::inline probes
