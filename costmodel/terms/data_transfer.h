// Transfers of data between zones, from the task that makes it to the task that needs it.
//
// Both tasks hold the sequences of an iteration evenly over their devices, and sequences stay in their zone as
// far as they can. With B bytes for all sequences, of which zone z makes the part s_z and needs the part t_z, a
// zone lacks max(0, t_z - s_z) or has max(0, s_z - t_z) in excess; the data flows from the latter zones to the
// former in proportion. A flow of b bytes between two zones takes
//   alpha + b / min(min(1, e) C, e min(devices there, devices here) beta)
// with their link's latency alpha, rate beta and, if it has one, capacity C, and e = network_efficiency.
// Flows run at the same time, so the longest counts.
//
// Transfers inside a zone are part of the controller's time per sequence (sequence_overhead_s), which was
// fitted to runs in one zone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"

namespace sextant::terms {

// A zone with devices of either task.
struct DataZone {
  double made = 0, needed = 0;            // numbers of devices
  DeviceId made_example, needed_example;  // the first of each
};

// Returns zones in the order in which the devices name them, those that make data first.
[[nodiscard]] std::vector<DataZone> data_zones(const Cluster& cluster, std::span<const DeviceId> made,
                                               std::span<const DeviceId> needed);

// Returns seconds. Both sets are ascending and not empty. bytes: for all sequences.
template <typename T>
[[nodiscard]] T data_transfer_s(const Problem<T>& problem, std::span<const DeviceId> made,
                                std::span<const DeviceId> needed, double bytes) {
  T longest(0.0);
  const Cluster& cluster = problem.cluster();
  const std::vector<DataZone> zones = data_zones(cluster, made, needed);
  if (zones.size() < 2) return longest;
  const double makers = static_cast<double>(made.size()), users = static_cast<double>(needed.size());
  const auto lacks = [&](const DataZone& zone) { return zone.needed / users - zone.made / makers; };
  double all = 0;
  for (const DataZone& zone : zones) all += std::max(0.0, lacks(zone));
  for (const DataZone& to : zones) {
    for (const DataZone& from : zones) {
      const double flow = std::max(0.0, lacks(to)) * std::max(0.0, -lacks(from));
      if (flow <= 0) continue;
      const LinkCost<T> link = problem.hardware.link(from.made_example, to.needed_example);
      T rate = std::min(from.made, to.needed) * link.bytes_per_s *
               problem.coefficient(CoefficientId::network_efficiency);
      if (const auto trunk = cluster.trunk(from.made_example, to.needed_example)) {
        const T capacity = capacity_share(problem) * trunk->bytes_per_s;
        if (capacity < rate) rate = capacity;
      }
      const T time =
          problem.coefficient(CoefficientId::link_latency_scale) * link.latency_s + bytes * flow / all / rate;
      if (longest < time) longest = time;
    }
  }
  return longest;
}

}  // namespace sextant::terms
