// Cost of one step of a collective around the best ring, shared by the tensor-parallel, data-parallel,
// resharding and synchronization terms: min over rings r of max over edges in r of (alpha + cv / beta).
//
// Beyond the appendix, each neutral by default: a ring of n members takes 2 (n - 1) steps and pays the link's
// latency for each, a tree 2 log2(n) (collective_step_weight: share of the smaller number that is paid beyond
// the one latency of the appendix), inside nodes at the latency of their links; groups that leave a node
// together share its network adapters, and groups that leave a node, zone or region share the capacity of the
// link there (Trunk); a group with several members in a node can leave it on as many rails (rail_weight: share
// of the further ones it uses), and then works by nodes: m nodes exchange (m - 1) / m of the reduced data, not
// the (n - 1) / n of a flat ring (NCCL's trees; the same share), while the links inside the nodes carry all of
// it at the same time, so that the slower of the two counts; links between nodes reach less of their rate than
// links inside (network_efficiency).
//
// NCCL sends small messages with a flag next to every word, at half the rate and without waiting, and large
// ones at the whole rate after a longer start (LL and Simple of its protocols; it takes the faster). With the
// start r times the latency alpha longer (collective_ramp_weight r) the message of cv bytes takes alpha + cv /
// beta + 1 / (1 / (r alpha) + beta / cv): twice cv / beta when small, r alpha more when large. On measured
// all-reduces from 512 B to 1 GiB in a node its error is 5 %, that of alpha + cv / beta 12 %, with r from 2 to
// 6 (data/public/kernels/collectives.csv).
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <type_traits>

#include "costmodel/problem/hardware.h"
#include "costmodel/problem/problem.h"
#include "costmodel/problem/ring.h"
#include "costmodel/problem/symmetry.h"

namespace sextant::terms {

// Plain value of a scalar: of a double itself, of a dual number such as ceres::Jet its real part `a`.
[[nodiscard]] inline double plain_value(double value) { return value; }
template <typename Jet>
[[nodiscard]] double plain_value(const Jet& value) {
  return value.a;
}

// Returns false for a weight that multiplies its term by zero; a dual number's derivative always counts.
[[nodiscard]] inline bool counts(double weight) { return weight != 0; }
template <typename Jet>
[[nodiscard]] bool counts(const Jet& /*weight*/) {
  return true;
}

// Steps of an all-reduce over n members after the first: the shorter of ring and double tree.
[[nodiscard]] inline double further_steps(double n) {
  return std::max(0.0, std::min(2.0 * (n - 1.0), 2.0 * std::ceil(std::log2(n))) - 1.0);
}

// Returns the slowest edge of the ring that makes its slowest edge fastest. edge_s(from, to): seconds. Farther
// links are slower, unless coefficients make those inside a node slower still.
template <typename Edge>
[[nodiscard]] RingEdge slowest_ring_edge(const Cluster& cluster, std::span<const DeviceId> members,
                                         Edge edge_s) {
  if (const auto edge = outermost_edge(cluster, members)) {
    if (cluster.is_one_island(edge->from, edge->to)) return *edge;
    const auto inside = edge_inside(cluster, members);
    return inside && edge_s(edge->from, edge->to) < edge_s(inside->from, inside->to) ? *inside : *edge;
  }
  if (!cluster.has_links_of_devices() && are_on_one_node(cluster, members)) return {members[0], members[1]};
  std::vector<int> block_of;
  for (const DeviceId member : members)
    block_of.push_back(cluster.has_links_of_devices() ? member.value : cluster.node_of(member).value);
  const BottleneckRing ring = find_bottleneck_ring(members, block_of, edge_s);
  return {ring.from, ring.to};
}

// The network resources of a collective between nodes.
struct NetworkUse {
  Leaving leaving = {};
  RingNodes nodes = {};
};

// Share of a link's bandwidth that a collective reaches: within a node, and between nodes beyond
// network_efficiency. The loss of kernels on links inside a node says nothing about the network.
template <typename T>
struct LinkEfficiency {
  LinkEfficiency(const T& everywhere)
      : within(everywhere), between(everywhere) {}  // NOLINT: a share is the usual case
  LinkEfficiency(const T& in_node, const T& outside) : within(in_node), between(outside) {}
  T within;
  T between;
  // Networks below this rate, in bytes/s, lose no more time for each byte than one of this rate does; 0: they do.
  double slowest_measured = 0;
};
template <typename T>
[[nodiscard]] LinkEfficiency<T> within_nodes(const T& share) {
  return {share, T(1.0)};
}

// The usual rate of the network from a device to other nodes, in bytes/s: that inside a zone, but no more than one
// adapter of 400 Gbit/s for each device (HGX H100, GB200 NVL72), because a rack's NVLink is no network. 0 if the
// cluster does not state it.
[[nodiscard]] inline double usual_network_bytes_per_s(const Cluster& cluster) {
  constexpr double kAdapter = 400e9 / 8;
  const auto zone = cluster.levels().find(LinkLevel::within_zone);
  return zone == cluster.levels().end() ? 0.0 : std::min(kAdapter, zone->second.bytes_per_s.value);
}

// Share of a connection's stated capacity that all its transfers together reach: network_efficiency, but at most
// all of it. Fits to clusters whose datasheets understate the network are above 1.
template <typename T>
[[nodiscard]] T capacity_share(const Problem<T>& problem) {
  const T& network = problem.coefficient(CoefficientId::network_efficiency);
  return network < T(1.0) ? network : T(1.0);
}

// Extra time of a transfer for what software does with each byte, as a fraction of its time on a usual link.
template <typename T>
[[nodiscard]] T software_loss(const T& efficiency) {
  return efficiency < T(1.0) ? T(1.0 / efficiency - 1.0) : T(0.0);
}

// The rates of a group's data between two members, in bytes/s.
template <typename T>
struct GroupRates {
  T path;                  // from one to the other
  std::optional<T> inner;  // between members of a node, if the data passes such links

  // Returns the rate of data that passes both.
  [[nodiscard]] T of_all() const { return inner && *inner < path ? *inner : path; }
};

// Bandwidth between two members: the link's own; between nodes times the rails in use, limited by each group's
// part of the node's adapters and of the link's capacity. The links inside nodes that feed the rails have their
// own rate, because they may carry more of the data.
//
// An efficiency between nodes stands for software that handles each byte (packing, launching). Its time is that
// at the usual rate of the zone and does not grow if the link is slower: over a link or trunk of rate r below
// the rate R that the same devices have inside a zone, a byte takes 1 / (e_network r) + (1 / e - 1) /
// (e_network R) seconds. With r = R that is 1 / (e_network e R).
template <typename T>
[[nodiscard]] GroupRates<T> group_rates(const Problem<T>& problem, DeviceId from, DeviceId to,
                                        const LinkCost<T>& link, const LinkEfficiency<T>& reached,
                                        const NetworkUse& use) {
  const Cluster& cluster = problem.cluster();
  if (cluster.is_one_island(from, to)) return {reached.within * link.bytes_per_s, std::nullopt};
  T rate = link.bytes_per_s;
  const double zone = plain_value(reached.between) < 1 ? usual_network_bytes_per_s(cluster) : 0;
  T usual = rate < T(zone) ? T(zone) : rate;
  if (use.nodes.rails > 1) {
    const T rails = 1.0 + (use.nodes.rails - 1.0) * problem.coefficient(CoefficientId::rail_weight);
    rate *= rails;
    usual *= rails;
  }
  const auto limit = [](T& limited, double bytes_per_s) {
    if (T(bytes_per_s) < limited) limited = T(bytes_per_s);
  };
  const auto divide = [&](double bytes_per_s, double groups) {
    limit(rate, bytes_per_s / groups);
    limit(usual, bytes_per_s / groups);
  };
  divide(use.nodes.network_bytes_per_s, use.leaving.node);
  if (use.nodes.count < 2) {  // otherwise the nodes of the ring have counted already
    for (const DeviceId device : {from, to}) {
      const auto& network = cluster.nodes()[cluster.node_of(device).index()].network_bytes_per_s;
      if (network) divide(*network, use.leaving.node);
    }
  }
  const auto trunk = cluster.trunk(from, to);
  const double capacity = trunk ? trunk->bytes_per_s / use.leaving.of(trunk->scope) : 0;
  if (trunk) limit(rate, capacity);
  if (usual < T(reached.slowest_measured)) usual = T(reached.slowest_measured);
  if (rate < usual) {
    rate = capacity_share(problem) * rate / (1.0 + software_loss(reached.between) * rate / usual);
  } else {
    rate *= problem.coefficient(CoefficientId::network_efficiency) * reached.between;
    if (trunk) limit(rate, capacity);
  }
  if (std::isinf(use.nodes.inner_bytes_per_s)) return {rate, std::nullopt};
  // A ring avoids links inside nodes that are slower than those between them.
  return {rate, reached.within * std::max(plain_value(link.bytes_per_s), use.nodes.inner_bytes_per_s)};
}

template <typename T>
[[nodiscard]] T group_bytes_per_s(const Problem<T>& problem, DeviceId from, DeviceId to,
                                  const LinkCost<T>& link, const LinkEfficiency<T>& reached,
                                  const NetworkUse& use) {
  return group_rates(problem, from, to, link, reached, use).of_all();
}

// Share of a flat ring's volume that crosses between nodes when a group of n works by nodes.
template <typename T>
[[nodiscard]] T crossing_share(const Problem<T>& problem, double n, const RingNodes& nodes) {
  if (nodes.rails < 2 || nodes.count < 2) return T(1.0);
  const double by_nodes = (nodes.count - 1.0) / nodes.count * n / (n - 1.0);
  return 1.0 - problem.coefficient(CoefficientId::rail_weight) * (1.0 - by_nodes);
}

// Latency of all steps of a collective over n members that is paid. Members that share nodes reduce inside them
// first: only the steps from node to node have the network's latency.
template <typename T>
[[nodiscard]] T steps_latency_s(const Problem<T>& problem, const T& link_latency_s, double n,
                                const RingNodes& nodes) {
  const T& scale = problem.coefficient(CoefficientId::link_latency_scale);
  const T& further = problem.coefficient(CoefficientId::collective_step_weight);
  if (nodes.count < 2 || !nodes.inner) return scale * link_latency_s * (1.0 + further * further_steps(n));
  const T& inner_latency_s = problem.hardware.link(nodes.inner->from, nodes.inner->to).latency_s;
  return scale * (link_latency_s * (1.0 + further * further_steps(nodes.count)) +
                  inner_latency_s * further * (1.0 + further_steps(nodes.rails)));
}

// The extra time of a message beyond latency_s + moving_s, before its collective runs at the full rate.
template <typename T>
[[nodiscard]] T ramp_s(const Problem<T>& problem, const T& latency_s, const T& moving_s) {
  const T start_s = problem.coefficient(CoefficientId::collective_ramp_weight) * latency_s;
  if (!(plain_value(start_s) > 0) || !(plain_value(moving_s) > 0)) return T(0.0);
  return start_s * moving_s / (start_s + moving_s);
}

// Seconds of one edge of a ring of n members.
template <typename T>
[[nodiscard]] T edge_s(const Problem<T>& problem, const RingEdge& edge, double n, double volume_bytes,
                       const LinkEfficiency<T>& reached, const NetworkUse& use) {
  const LinkCost<T> link = problem.hardware.link(edge.from, edge.to);
  const GroupRates<T> rates = group_rates(problem, edge.from, edge.to, link, reached, use);
  const bool within = problem.cluster().is_one_island(edge.from, edge.to);
  const T latency_s = steps_latency_s(problem, link.latency_s, n, within ? RingNodes{} : use.nodes);
  T moving_s = volume_bytes * (within ? T(1.0) : crossing_share(problem, n, use.nodes)) / rates.path;
  if (rates.inner) {
    const T inner_s = volume_bytes / *rates.inner;
    if (moving_s < inner_s) moving_s = inner_s;
  }
  return latency_s + moving_s + ramp_s(problem, latency_s, moving_s);
}

// volume_bytes: the data that a pair of neighbours exchanges (cv). Zero for fewer than two members.
template <typename T>
[[nodiscard]] T ring_step_s(const Problem<T>& problem, std::span<const DeviceId> members, double volume_bytes,
                            const std::type_identity_t<LinkEfficiency<T>>& reached, const NetworkUse& use) {
  if (members.size() < 2) return T(0.0);
  const double n = static_cast<double>(members.size());
  const auto cost = [&](const RingEdge& edge) { return edge_s(problem, edge, n, volume_bytes, reached, use); };
  if (members.size() == 2) {
    const T there = cost({members[0], members[1]}), back = cost({members[1], members[0]});
    return there < back ? back : there;
  }
  return cost(slowest_ring_edge(problem.cluster(), members, [&](DeviceId from, DeviceId to) {
    return plain_value(cost({from, to}));
  }));
}

// sharing: groups like this one that leave the node at the same time.
template <typename T>
[[nodiscard]] T ring_step_s(const Problem<T>& problem, std::span<const DeviceId> members, double volume_bytes,
                            const std::type_identity_t<LinkEfficiency<T>>& reached, double sharing = 1) {
  if (members.size() < 2) return T(0.0);
  return ring_step_s(problem, members, volume_bytes, reached,
                     NetworkUse{Leaving::all(sharing), nodes_of_ring(problem.cluster(), members)});
}

// Same as above for a group whose ring was found once (symmetry.h).
template <typename T>
[[nodiscard]] T ring_step_s(const Problem<T>& problem, const GradientGroup& group, double volume_bytes,
                            const std::type_identity_t<LinkEfficiency<T>>& reached) {
  if (!group.ring) {
    const NetworkUse use{group.leaving, nodes_of_ring(problem.cluster(), group.members)};
    return ring_step_s(problem, std::span<const DeviceId>(group.members), volume_bytes, reached, use);
  }
  const NetworkUse use{group.leaving, group.nodes};
  const double n = static_cast<double>(group.members.size());
  const T between = edge_s(problem, *group.ring, n, volume_bytes, reached, use);
  if (!group.inside) return between;
  const T inside = edge_s(problem, *group.inside, n, volume_bytes, reached, use);
  return between < inside ? inside : between;
}

// Ends of the fastest link from any of `from` to any of `to`; the same device if one is in both. sharing: such
// transfers that leave a node at the same time.
template <typename T>
[[nodiscard]] RingEdge fastest_link(const Problem<T>& problem, std::span<const DeviceId> from,
                                    std::span<const DeviceId> to, double bytes, const T& efficiency,
                                    double sharing = 1) {
  if (const auto nearest = innermost_edge(problem.cluster(), from, to)) return *nearest;
  for (const DeviceId device : from) {
    if (std::find(to.begin(), to.end(), device) != to.end()) return {device, device};
  }
  const NetworkUse use{Leaving::all(sharing), {}};
  const T& latency_scale = problem.coefficient(CoefficientId::link_latency_scale);
  RingEdge best{};
  bool found = false;
  double best_s = 0;
  const std::vector<DeviceId> receivers = unlike_devices(problem.cluster(), to);
  for (const DeviceId a : unlike_devices(problem.cluster(), from)) {
    for (const DeviceId b : receivers) {
      const LinkCost<T> link = problem.hardware.link(a, b);
      const T rate = group_bytes_per_s(problem, a, b, link, LinkEfficiency<T>(efficiency), use);
      const double cost = plain_value(T(latency_scale * link.latency_s + bytes / rate));
      if (!found || cost < best_s) {
        best_s = cost;
        best = {a, b};
      }
      found = true;
    }
  }
  return best;
}

// Seconds of one transfer: alpha + bytes / beta. Zero from a device to itself.
template <typename T>
[[nodiscard]] T transfer_s(const Problem<T>& problem, const RingEdge& way, double bytes, const T& efficiency,
                           double sharing = 1) {
  if (way.from == way.to) return T(0.0);
  const LinkCost<T> link = problem.hardware.link(way.from, way.to);
  return problem.coefficient(CoefficientId::link_latency_scale) * link.latency_s +
         bytes / group_bytes_per_s(problem, way.from, way.to, link, LinkEfficiency<T>(efficiency),
                                   NetworkUse{Leaving::all(sharing), {}});
}

// The fastest transfer from any of `from` to any of `to`: min over pairs of (alpha + bytes / beta). Zero if a
// device is in both.
template <typename T>
[[nodiscard]] T fastest_transfer_s(const Problem<T>& problem, std::span<const DeviceId> from,
                                   std::span<const DeviceId> to, double bytes, const T& efficiency,
                                   double sharing = 1) {
  return transfer_s(problem, fastest_link(problem, from, to, bytes, efficiency, sharing), bytes, efficiency,
                    sharing);
}

}  // namespace sextant::terms
