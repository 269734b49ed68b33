// The transfer of weights from trainers to engines on devices of their own.
//
// Every device d of generation that does not train gets x bytes from trainers, all at the same time. Over links
// l from trainers to d, with n trainers and the network N of a node:
//   time = max( max over d of min over l of alpha_l + x / beta_l         each has one link,
//               alpha + x (sum over d of 1 / (max over l of beta_l)) / n  trainers send to one at a time,
//               alpha + x max over nodes of receivers / N                 what arrives at a node,
//               alpha + x (crossing receivers) / sum of N                 what leaves the trainers' nodes,
//               alpha + x max over trunks of receivers / capacity )       what a shared link carries
// with alpha = max over d of min over l of alpha_l. The third and the fourth count receivers on nodes without
// trainers, if nodes state the rate of their network; a trunk is that of the receiver's fastest link. Rates are
// reduced by weight_sync_efficiency and network_efficiency, a trunk's capacity by the latter alone, if
// it is below 1 (collective.h).
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "costmodel/problem/problem.h"
#include "costmodel/terms/collective.h"
#include "costmodel/terms/weight_ways.h"

namespace sextant::terms {

// Devices of generation that all trainers reach equally: on one node, or on nodes of one class in one zone.
struct ReceivingPlace {
  DeviceId example;
  std::vector<DeviceId> senders;  // trainers with distinct links; the fastest is among them
  double devices = 0;
  double max_per_node = 0;
  bool has_trainers = false;  // on its node, which is then a single one
};

// Returns the places of the devices that generate and do not train. Both pools are ascending.
[[nodiscard]] std::vector<ReceivingPlace> receiving_places(const Cluster& cluster,
                                                           std::span<const DeviceId> training,
                                                           std::span<const DeviceId> generation);

// Sum of network_bytes_per_s over the nodes of the devices; infinity if a node does not state it.
[[nodiscard]] double network_of_nodes(const Cluster& cluster, std::span<const DeviceId> devices);

// Counts the receivers over each trunk at the same time.
class TrunkUsers {
 public:
  void add(const Cluster& cluster, DeviceId from, DeviceId to, double receivers) {
    if (const auto trunk = cluster.trunk(from, to)) users_[*trunk] += receivers;
  }
  // Seconds per byte when all users of a trunk receive at once, for the slowest trunk; zero without trunks.
  [[nodiscard]] double max_s_per_byte() const {
    double max = 0;
    for (const auto& [trunk, users] : users_) max = std::max(max, users / trunk.bytes_per_s);
    return max;
  }

 private:
  std::map<Trunk, double> users_;
};

// The formula above for two pools: rates in bytes/s, times in s.
template <typename T>
class Fetching {
 public:
  // The problem must outlive it. Both pools are ascending. efficiency: the share of the links' rates that
  // transfers reach, for links between nodes in addition to network_efficiency.
  Fetching(const Problem<T>& problem, std::span<const DeviceId> training, std::span<const DeviceId> generation,
           const T& efficiency)
      : senders_(static_cast<double>(training.size())) {
    const Cluster& cluster = problem.cluster();
    const LinkEfficiency<T> reached(efficiency);
    const T crossing_share = problem.coefficient(CoefficientId::network_efficiency) * reached.between;
    double crossing = 0;
    TrunkUsers users;
    for (const ReceivingPlace& place : receiving_places(cluster, training, generation)) {
      std::vector<Link> links;
      T max_rate(0.0), min_latency_s(0.0);
      DeviceId fastest = place.senders.front();
      for (const DeviceId sender : place.senders) {
        const LinkCost<T> link = problem.hardware.link(sender, place.example);
        const T rate = group_bytes_per_s(problem, sender, place.example, link, reached, NetworkUse{});
        const T latency_s = problem.coefficient(CoefficientId::link_latency_scale) * link.latency_s;
        if (links.empty() || latency_s < min_latency_s) min_latency_s = latency_s;
        if (max_rate < rate) {
          max_rate = rate;
          fastest = sender;
        }
        links.push_back({latency_s, rate});
      }
      users.add(cluster, fastest, place.example, place.devices);
      if (latency_s_ < min_latency_s) latency_s_ = min_latency_s;
      links_.push_back(std::move(links));
      sending_s_per_byte_ += place.devices / max_rate;
      if (place.has_trainers || cluster.is_one_island(fastest, place.example)) continue;
      crossing += place.devices;
      const auto& network = cluster.nodes()[cluster.node_of(place.example).index()].network_bytes_per_s;
      if (network) limit(T(place.max_per_node / (crossing_share * *network)));
    }
    if (senders_ > 0) limit(T(sending_s_per_byte_ / senders_));
    const double network = crossing > 0 ? network_of_nodes(cluster, training) : kNoLimit;
    if (network < kNoLimit) limit(T(crossing / (crossing_share * network)));
    limit(T(users.max_s_per_byte() / capacity_share(problem)));
  }

  // bytes: x, the bytes that each device receives.
  [[nodiscard]] T time_s(double bytes) const {
    T slowest = latency_s_ + bytes * s_per_byte_;
    for (const std::vector<Link>& links : links_) {
      T fastest = links.front().time_s(bytes);
      for (const Link& link : links) {
        const T time = link.time_s(bytes);
        if (time < fastest) fastest = time;
      }
      if (slowest < fastest) slowest = fastest;
    }
    return slowest;
  }

 private:
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  struct Link {
    T latency_s, bytes_per_s;
    [[nodiscard]] T time_s(double bytes) const { return latency_s + bytes / bytes_per_s; }
  };
  void limit(const T& s_per_byte) {
    if (s_per_byte_ < s_per_byte) s_per_byte_ = s_per_byte;
  }

  double senders_;
  T sending_s_per_byte_ = T(0.0), latency_s_ = T(0.0), s_per_byte_ = T(0.0);
  std::vector<std::vector<Link>> links_;  // by place
};

// HetRL B.2, for each replica of generation: the fastest transfer of a whole copy from any trainer to any of
// its devices, all replicas at once. A replica with a trainer's device has its copy. Nodes that state their
// network rate share it among the copies that they receive or send, and so do links with a capacity.
template <typename T>
[[nodiscard]] T copies_to_replicas_s(const Problem<T>& problem, std::span<const DeviceId> training,
                                     const TaskPlan& generation, double bytes) {
  const Cluster& cluster = problem.cluster();
  const T crossing_share = problem.coefficient(CoefficientId::network_efficiency) *
                           problem.coefficient(CoefficientId::weight_sync_efficiency);
  const T& efficiency = problem.coefficient(CoefficientId::weight_sync_efficiency);
  T slowest(0.0);
  double crossing = 0;
  std::map<NodeId, double> copies_of_node;
  TrunkUsers users;
  for (const Replica& replica : generation.replicas) {
    const std::vector<DeviceId> devices = replica.devices();
    const std::span<const DeviceId> to(devices);
    const RingEdge way = fastest_link(problem, training, to, bytes, efficiency);
    if (way.from == way.to) continue;
    const T cost = transfer_s(problem, way, bytes, efficiency);
    if (slowest < cost) slowest = cost;
    if (cluster.is_one_island(way.from, way.to)) continue;
    crossing += 1;
    copies_of_node[cluster.node_of(way.to)] += 1;
    users.add(cluster, way.from, way.to, 1);
  }
  for (const auto& [node, copies] : copies_of_node) {
    const auto& network = cluster.nodes()[node.index()].network_bytes_per_s;
    if (!network) continue;
    const T cost = copies * bytes / (crossing_share * *network);
    if (slowest < cost) slowest = cost;
  }
  if (crossing == 0) return slowest;
  const T shared = bytes * users.max_s_per_byte() / capacity_share(problem);
  if (slowest < shared) slowest = shared;
  const T sent = crossing * bytes / (crossing_share * network_of_nodes(cluster, training));
  return slowest < sent ? sent : slowest;
}

}  // namespace sextant::terms
