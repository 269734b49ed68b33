#include "costmodel/symmetry.h"

#include <algorithm>
#include <map>
#include <set>

namespace sextant {
namespace {

// Numbers places in the order in which they appear.
class Places {
 public:
  explicit Places(const Cluster& cluster) : cluster_(cluster) {}

  // Appends what the formulas can see of a device.
  void append(DeviceId device, std::vector<int>& signature) {
    const NodeId node = cluster_.node_of(device);
    signature.push_back(cluster_.node_class(node));
    signature.push_back(number(nodes_, node.value));
    signature.push_back(number(zones_, cluster_.zone_number(node)));
    signature.push_back(number(regions_, cluster_.region_number(node)));
  }

 private:
  static int number(std::map<int, int>& numbers, int key) {
    return numbers.emplace(key, static_cast<int>(numbers.size())).first->second;
  }

  const Cluster& cluster_;
  std::map<int, int> nodes_, zones_, regions_;
};

std::vector<int> signature_of(const Replica& replica, const ReplicaWork& work, const Cluster& cluster) {
  std::vector<int> signature{static_cast<int>(work.sequences), replica.length_rank};
  Places places(cluster);
  for (const Stage& stage : replica.stages) {
    signature.push_back(stage.layers);
    signature.push_back(stage.width());
    for (const DeviceId device : stage.devices) places.append(device, signature);
  }
  return signature;
}

// Layers [first, first + layers) that lie in one stage of every replica.
struct Segment {
  int first = 0;
  int layers = 0;
  std::vector<int> stage_of;  // by replica
};

std::vector<Segment> common_segments(const TaskPlan& plan) {
  std::vector<int> cuts{0};  // first layers of segments, then the total
  for (const Replica& replica : plan.replicas) {
    int end = 0;
    for (const Stage& stage : replica.stages) cuts.push_back(end += stage.layers);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Segment> segments;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    Segment segment{cuts[c], cuts[c + 1] - cuts[c], {}};
    for (const Replica& replica : plan.replicas) {
      int stage = 0, end = replica.stages.front().layers;
      while (end <= segment.first) end += replica.stages[static_cast<std::size_t>(++stage)].layers;
      segment.stage_of.push_back(stage);
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

bool share_a_stage(const Segment& a, const Segment& b) {
  for (std::size_t i = 0; i < a.stage_of.size(); ++i) {
    if (a.stage_of[i] == b.stage_of[i]) return true;
  }
  return false;
}

// Groups of one segment whose rings leave a node of this group's first member.
double groups_sharing_network(const std::vector<GradientGroup>& groups, const GradientGroup& group,
                              const Cluster& cluster) {
  const auto leaves_node = [&](const GradientGroup& g) {
    return std::any_of(g.members.begin(), g.members.end(), [&](DeviceId device) {
      return cluster.node_of(device) != cluster.node_of(g.members.front());
    });
  };
  if (!leaves_node(group)) return 1;
  double sharing = 0;
  for (const GradientGroup& other : groups) {
    const bool same_node = std::any_of(other.members.begin(), other.members.end(), [&](DeviceId device) {
      return cluster.node_of(device) == cluster.node_of(group.members.front());
    });
    if (same_node && leaves_node(other)) sharing += 1;
  }
  return std::max(1.0, sharing);
}

std::vector<GradientGroup> groups_of(const Segment& segment, const TaskPlan& plan) {
  std::vector<const Stage*> stages;
  int most = 1, fewest = 0;
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    stages.push_back(&plan.replicas[i].stages[static_cast<std::size_t>(segment.stage_of[i])]);
    const int degree = plan.tensor_parallel(*stages.back());
    most = std::max(most, degree);
    fewest = i == 0 ? degree : std::min(fewest, degree);
  }
  std::vector<GradientGroup> groups;
  for (int k = 0; k < most; ++k) {
    GradientGroup group;
    group.first_layer = segment.first;
    group.layers = segment.layers;
    group.tensor_parallel = fewest;
    for (const Stage* stage : stages) {
      const int degree = plan.tensor_parallel(*stage);
      for (int part = 0; part < plan.execution.context_parallel; ++part) {
        const int shard = part * degree + k * degree / most;
        group.members.push_back(stage->devices[static_cast<std::size_t>(shard)]);
      }
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::vector<DeviceId> unlike_devices(const Cluster& cluster, std::span<const DeviceId> devices) {
  if (cluster.has_links_of_devices()) return {devices.begin(), devices.end()};
  std::vector<DeviceId> unlike;
  for (const DeviceId device : devices) {
    const NodeId node = cluster.node_of(device);
    const bool is_new = std::none_of(unlike.begin(), unlike.end(),
                                     [&](DeviceId other) { return cluster.node_of(other) == node; });
    if (is_new) unlike.push_back(device);
  }
  return unlike;
}

std::optional<RingEdge> outermost_edge(const Cluster& cluster, std::span<const DeviceId> members) {
  if (members.size() < 2 || !cluster.has_monotone_links()) return std::nullopt;
  // Levels nest, so the farthest from the first member are as far apart as any two.
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

namespace {

// Members of a group that are on one node, the first two of them.
struct NodeMembers {
  NodeId node;
  std::size_t count = 0;
  DeviceId first, second;
};

// In the order of the nodes, which members mostly have already.
std::vector<NodeMembers> by_node(const Cluster& cluster, std::span<const DeviceId> members) {
  std::vector<NodeMembers> nodes;
  for (const DeviceId device : members) {
    const NodeId node = cluster.node_of(device);
    auto at = nodes.empty() || nodes.back().node < node ? nodes.end() : nodes.end() - 1;
    if (at != nodes.end() && at->node != node)
      at = std::lower_bound(nodes.begin(), nodes.end(), node,
                            [](const NodeMembers& of, NodeId other) { return of.node < other; });
    if (at == nodes.end() || at->node != node) at = nodes.insert(at, {node, 0, device, device});
    if (++at->count == 2) at->second = device;
  }
  return nodes;
}

bool are_on(const Cluster& cluster, NodeId node, std::span<const DeviceId> devices) {
  return std::all_of(devices.begin(), devices.end(),
                     [&](DeviceId device) { return cluster.node_of(device) == node; });
}

}  // namespace

std::optional<RingEdge> edge_inside(const Cluster& cluster, std::span<const DeviceId> members) {
  const std::vector<NodeMembers> nodes = by_node(cluster, members);
  if (nodes.size() < 2) return std::nullopt;
  for (const NodeMembers& node : nodes) {
    if (2 * node.count > members.size()) return RingEdge{node.first, node.second};
  }
  return std::nullopt;
}

std::optional<RingEdge> innermost_edge(const Cluster& cluster, std::span<const DeviceId> from,
                                       std::span<const DeviceId> to) {
  if (!cluster.has_monotone_links() || from.empty() || to.empty()) return std::nullopt;
  // Most often each is on one node.
  const NodeId sender = cluster.node_of(from.front()), receiver = cluster.node_of(to.front());
  if (sender != receiver && are_on(cluster, sender, from) && are_on(cluster, receiver, to))
    return RingEdge{from.front(), to.front()};
  std::vector<DeviceId> targets(to.begin(), to.end());
  std::sort(targets.begin(), targets.end());
  for (const DeviceId device : from) {
    if (std::binary_search(targets.begin(), targets.end(), device)) return RingEdge{device, device};
  }
  // Devices of one node are as near as each other to anything.
  const std::vector<NodeMembers> senders = by_node(cluster, from), receivers = by_node(cluster, to);
  RingEdge nearest{senders.front().first, receivers.front().first};
  LinkLevel level = cluster.level_between(nearest.from, nearest.to);
  for (const NodeMembers& sending : senders) {
    for (const NodeMembers& receiving : receivers) {
      const LinkLevel other = cluster.level_between(sending.first, receiving.first);
      if (other >= level) continue;
      nearest = {sending.first, receiving.first};
      level = other;
    }
  }
  return nearest;
}

RingNodes nodes_of_ring(const Cluster& cluster, std::span<const DeviceId> members) {
  const std::vector<NodeMembers> of_node = by_node(cluster, members);
  RingNodes nodes;
  nodes.count = static_cast<double>(of_node.size());
  nodes.rails = static_cast<double>(members.size());
  for (const NodeMembers& node : of_node) {
    nodes.rails = std::min(nodes.rails, static_cast<double>(node.count));
    const auto& network = cluster.nodes()[node.node.index()].network_bytes_per_s;
    if (network) nodes.network_bytes_per_s = std::min(nodes.network_bytes_per_s, *network);
  }
  // What several rails carry out of a node has passed between its members.
  if (nodes.rails < 2) return nodes;
  NodeId last{-1};
  for (std::size_t i = 0; i + 1 < members.size(); ++i) {
    const NodeId node = cluster.node_of(members[i]);
    if (node != cluster.node_of(members[i + 1])) continue;
    // Links of one node are alike, unless an exception tells its devices apart.
    if (node == last && !cluster.has_links_of_devices()) continue;
    last = node;
    const double inner = cluster.link(members[i], members[i + 1]).bytes_per_s.value;
    if (nodes.inner && inner >= nodes.inner_bytes_per_s) continue;
    nodes.inner_bytes_per_s = inner;
    nodes.inner = RingEdge{members[i], members[i + 1]};
  }
  return nodes;
}

std::vector<ReplicaClass> replica_classes(const TaskPlan& plan, const std::vector<ReplicaWork>& work,
                                          const Cluster& cluster) {
  std::vector<ReplicaClass> classes;
  std::map<std::vector<int>, std::size_t> class_of;
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    if (cluster.has_uniform_links()) {
      const auto [found, is_new] =
          class_of.emplace(signature_of(plan.replicas[i], work[i], cluster), classes.size());
      if (!is_new) {
        ++classes[found->second].count;
        continue;
      }
    }
    classes.push_back({static_cast<int>(i), 1});
  }
  return classes;
}

std::vector<std::vector<DeviceId>> device_kinds(const Replica& replica, const Cluster& cluster) {
  std::vector<std::vector<DeviceId>> kinds;
  for (const Stage& stage : replica.stages) {
    std::vector<DeviceId> of_stage;
    NodeId last{-1};
    for (const DeviceId device : stage.devices) {
      const NodeId node = cluster.node_of(device);
      if (node == last) continue;
      last = node;
      const bool known = std::any_of(of_stage.begin(), of_stage.end(), [&](DeviceId other) {
        return cluster.type_name(other) == cluster.type_name(device);
      });
      if (!known) of_stage.push_back(device);
    }
    kinds.push_back(std::move(of_stage));
  }
  return kinds;
}

std::vector<GradientGroup> gradient_groups(const TaskPlan& plan, const Cluster& cluster) {
  std::vector<GradientGroup> distinct;
  const std::vector<Segment> segments = common_segments(plan);
  for (std::size_t s = 0; s < segments.size(); ++s) {
    std::vector<GradientGroup> groups = groups_of(segments[s], plan);
    std::set<std::vector<int>> seen;
    for (GradientGroup& group : groups) {
      group.holds_embedding = s == 0;
      group.holds_head = s + 1 == segments.size();
      group.starts_stage = s == 0 || !share_a_stage(segments[s], segments[s - 1]);
      group.sharing_network = groups_sharing_network(groups, group, cluster);
      group.ring = outermost_edge(cluster, group.members);
      if (group.ring) {
        group.nodes = nodes_of_ring(cluster, group.members);
        group.inside = edge_inside(cluster, group.members);
      }
    }
    for (GradientGroup& group : groups) {
      if (cluster.has_uniform_links()) {
        std::vector<int> signature{static_cast<int>(group.sharing_network)};
        Places places(cluster);
        for (const DeviceId device : group.members) places.append(device, signature);
        if (!seen.insert(std::move(signature)).second) continue;
      }
      distinct.push_back(std::move(group));
    }
  }
  return distinct;
}

}  // namespace sextant
