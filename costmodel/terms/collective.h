// Cost of one step of a collective around the best ring, shared by the tensor-parallel, data-parallel,
// resharding and synchronization terms: min over rings r of max over edges in r of (alpha + cv / beta).
#pragma once

#include <span>

#include "costmodel/hardware.h"
#include "costmodel/problem.h"
#include "costmodel/terms/ring.h"

namespace sextant::terms {

// Plain value of a scalar: of a double itself, of a dual number such as ceres::Jet its real part `a`.
[[nodiscard]] inline double plain_value(double value) { return value; }
template <typename Jet>
[[nodiscard]] double plain_value(const Jet& value) {
  return value.a;
}

// volume_bytes: what a pair of neighbours exchanges (cv). efficiency: share of the bandwidth reached. Zero
// for fewer than two members. With more than kExactRingSize members the ring is an upper bound (ring.h).
template <typename T>
[[nodiscard]] T ring_step_s(const Problem<T>& problem, std::span<const DeviceId> members, double volume_bytes,
                            const T& efficiency) {
  if (members.size() < 2) return T(0.0);
  const T& latency_scale = problem.coefficient(CoefficientId::link_latency_scale);
  const auto edge = [&](DeviceId from, DeviceId to) {
    const LinkCost<T> link = problem.hardware.link(from, to);
    return T(latency_scale * link.latency_s + volume_bytes / (efficiency * link.bytes_per_s));
  };
  if (members.size() == 2) {
    const T there = edge(members[0], members[1]), back = edge(members[1], members[0]);
    return there < back ? back : there;
  }
  const BottleneckRing ring =
      find_bottleneck_ring(members, [&](DeviceId from, DeviceId to) { return plain_value(edge(from, to)); });
  return edge(ring.from, ring.to);
}

// The fastest way from any of `from` to any of `to`: min over pairs of (alpha + bytes / beta). Zero where a
// device is in both.
template <typename T>
[[nodiscard]] T fastest_transfer_s(const Problem<T>& problem, std::span<const DeviceId> from,
                                   std::span<const DeviceId> to, double bytes, const T& efficiency) {
  const T& latency_scale = problem.coefficient(CoefficientId::link_latency_scale);
  bool found = false;
  T best(0.0);
  for (const DeviceId a : from) {
    for (const DeviceId b : to) {
      if (a == b) return T(0.0);
      const LinkCost<T> link = problem.hardware.link(a, b);
      const T cost = latency_scale * link.latency_s + bytes / (efficiency * link.bytes_per_s);
      if (!found || cost < best) best = cost;
      found = true;
    }
  }
  return best;
}

}  // namespace sextant::terms
