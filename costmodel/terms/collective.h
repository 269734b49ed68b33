// Cost of one step of a collective around the best ring, shared by the tensor-parallel, data-parallel,
// resharding and synchronization terms: min over rings r of max over edges in r of (alpha + cv / beta).
//
// Beyond the appendix, each neutral by default: a ring of n members takes 2 (n - 1) steps and pays the link's
// latency for each, a tree 2 log2(n) (collective_step_weight: share of the fewer of the two that is paid beyond
// the one latency of the appendix); groups that leave a node together share its network adapters; a group with
// several members in a node can leave it on as many rails (rail_weight: share of the further ones it uses);
// links between nodes reach less of their rate than those within (network_efficiency).
#pragma once

#include <algorithm>
#include <cmath>
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

// Steps of an all-reduce over n members after the first: the shorter of ring and double tree.
[[nodiscard]] inline double further_steps(double n) {
  return std::max(0.0, std::min(2.0 * (n - 1.0), 2.0 * std::ceil(std::log2(n))) - 1.0);
}

// The pair of members whose link is slowest on the best ring.
struct RingEdge {
  DeviceId from;
  DeviceId to;
};

namespace detail {

// Members of different nodes, zones or regions, as far apart as any two; nothing where one cannot tell.
[[nodiscard]] inline RingEdge farthest_pair(const Cluster& cluster, std::span<const DeviceId> members) {
  RingEdge edge{members[0], members[1]};
  LinkLevel farthest = cluster.level_between(edge.from, edge.to);
  for (std::size_t i = 2; i < members.size(); ++i) {
    const LinkLevel level = cluster.level_between(members[0], members[i]);
    if (level > farthest) {
      farthest = level;
      edge.to = members[i];
    }
  }
  return edge;
}

}  // namespace detail

// Slowest edge of the ring that makes its slowest edge fastest. edge_s(from, to): seconds.
//
// Where links depend on the level alone, every ring must cross the outermost level that the members span, and
// some ring crosses nothing slower as long as inner links are not slower than outer ones: no search is needed.
template <typename Edge>
[[nodiscard]] RingEdge slowest_ring_edge(const Cluster& cluster, std::span<const DeviceId> members, Edge edge_s) {
  if (cluster.has_uniform_links()) {
    const RingEdge far = detail::farthest_pair(cluster, members);
    const double far_s = edge_s(far.from, far.to);
    bool inner_faster = true;
    for (std::size_t i = 0; inner_faster && i < members.size(); ++i) {
      inner_faster = edge_s(members[i], members[(i + 1) % members.size()]) <= far_s;
    }
    if (inner_faster) return far;
  }
  const BottleneckRing ring = find_bottleneck_ring(members, edge_s);
  return {ring.from, ring.to};
}

// What a collective between nodes has at its disposal.
struct NetworkUse {
  double sharing = 1;  // groups like this one that leave a node at once
  double rails = 1;    // members that the group has in a node: rings that can leave it side by side
};

[[nodiscard]] inline double members_in_node(const Cluster& cluster, std::span<const DeviceId> members,
                                            DeviceId device) {
  return static_cast<double>(std::count_if(members.begin(), members.end(), [&](DeviceId other) {
    return cluster.node_of(other) == cluster.node_of(device);
  }));
}

// Bandwidth between two members: the link's own; between nodes times the rails that are used, at most what
// the adapters of a node give each group.
template <typename T>
[[nodiscard]] T group_bytes_per_s(const Problem<T>& problem, DeviceId from, DeviceId to, const LinkCost<T>& link,
                                  const NetworkUse& use) {
  const Cluster& cluster = problem.cluster();
  if (cluster.level_between(from, to) == LinkLevel::within_node) return link.bytes_per_s;
  T rate = link.bytes_per_s;
  if (use.rails > 1) rate *= 1.0 + (use.rails - 1.0) * problem.coefficient(CoefficientId::rail_weight);
  for (const DeviceId device : {from, to}) {
    const auto& network = cluster.nodes()[cluster.node_of(device).index()].network_bytes_per_s;
    if (network && T(*network / use.sharing) < rate) rate = T(*network / use.sharing);
  }
  return problem.coefficient(CoefficientId::network_efficiency) * rate;
}

// volume_bytes: what a pair of neighbours exchanges (cv). efficiency: share of the bandwidth reached. sharing:
// groups like this one that use a node's network at once. Zero for fewer than two members.
template <typename T>
[[nodiscard]] T ring_step_s(const Problem<T>& problem, std::span<const DeviceId> members, double volume_bytes,
                            const T& efficiency, double sharing = 1) {
  if (members.size() < 2) return T(0.0);
  const T latency_scale =
      problem.coefficient(CoefficientId::link_latency_scale) *
      (1.0 + further_steps(static_cast<double>(members.size())) *
                 problem.coefficient(CoefficientId::collective_step_weight));
  const auto edge = [&](DeviceId from, DeviceId to) {
    const LinkCost<T> link = problem.hardware.link(from, to);
    const NetworkUse use{sharing, members_in_node(problem.cluster(), members, from)};
    return T(latency_scale * link.latency_s +
             volume_bytes / (efficiency * group_bytes_per_s(problem, from, to, link, use)));
  };
  if (members.size() == 2) {
    const T there = edge(members[0], members[1]), back = edge(members[1], members[0]);
    return there < back ? back : there;
  }
  const double scale = plain_value(latency_scale), share = plain_value(efficiency);
  const RingEdge slowest =
      slowest_ring_edge(problem.cluster(), members, [&](DeviceId from, DeviceId to) {
        const LinkRate& link = problem.cluster().link(from, to);
        return scale * link.latency_s.value + volume_bytes / (share * link.bytes_per_s.value);
      });
  return edge(slowest.from, slowest.to);
}

// The fastest way from any of `from` to any of `to`: min over pairs of (alpha + bytes / beta). Zero where a
// device is in both.
template <typename T>
[[nodiscard]] T fastest_transfer_s(const Problem<T>& problem, std::span<const DeviceId> from,
                                   std::span<const DeviceId> to, double bytes, const T& efficiency) {
  const T& latency_scale = problem.coefficient(CoefficientId::link_latency_scale);
  const double scale = plain_value(latency_scale), share = plain_value(efficiency);
  bool found = false;
  double best_s = 0;
  RingEdge best{};
  for (const DeviceId a : from) {
    for (const DeviceId b : to) {
      if (a == b) return T(0.0);
      const LinkRate& link = problem.cluster().link(a, b);
      const double cost = scale * link.latency_s.value + bytes / (share * link.bytes_per_s.value);
      if (!found || cost < best_s) {
        best_s = cost;
        best = {a, b};
      }
      found = true;
    }
  }
  const LinkCost<T> link = problem.hardware.link(best.from, best.to);
  return latency_scale * link.latency_s +
         bytes / (efficiency * group_bytes_per_s(problem, best.from, best.to, link, {}));
}

}  // namespace sextant::terms
