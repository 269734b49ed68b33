#include "costmodel/problem/symmetry.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace sextant::inline costmodel {
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
  struct Numbered {
    int key = 0, number = 0;
  };
  using Numbers = std::vector<Numbered>;  // by key; most come in that order

  static int number(Numbers& numbers, int key) {
    auto at = numbers.end();
    if (!numbers.empty() && numbers.back().key == key) return numbers.back().number;
    if (!numbers.empty() && numbers.back().key > key)
      at = std::lower_bound(numbers.begin(), numbers.end(), key,
                            [](const Numbered& known, int other) { return known.key < other; });
    if (at == numbers.end() || at->key != key) at = numbers.insert(at, {key, static_cast<int>(numbers.size())});
    return at->number;
  }

  const Cluster& cluster_;
  Numbers nodes_, zones_, regions_;
};

void sign(const Replica& replica, const ReplicaWork& work, const Cluster& cluster,
          std::vector<int>& signature) {
  signature.assign({static_cast<int>(work.sequences), replica.length_rank});
  Places places(cluster);
  for (const Stage& stage : replica.stages) {
    signature.push_back(stage.layers);
    signature.push_back(stage.width());
    for (const DeviceId device : stage.devices) places.append(device, signature);
  }
}

// Groups of replicas that hold their experts together (terms/expert_parallel.h), numbered by the places of their members:
// the exchange of a step depends on the group, whichever of its members asks.
class ExpertGroups {
 public:
  ExpertGroups(const TaskPlan& plan, const Cluster& cluster) : plan_(plan), cluster_(cluster) {
    const double degree = plan.tensor_parallel(plan.replicas.front().stages.front());
    together_ = static_cast<std::size_t>(expert_width(plan.execution, degree) / degree);
  }

  // Appends the number of the replica's group, if there are groups. Replicas are taken in order.
  void append(std::size_t replica, std::vector<int>& signature) {
    if (together_ < 2) return;
    if (replica % together_ == 0) number_ = number_of(replica);
    signature.push_back(number_);
    if (!plan_.execution.fused_dispatch) return;
    // An all-to-all counts from the replica on.
    Places places(cluster_);
    places.append(plan_.replicas[replica].stages.front().devices.front(), signature);
    append_members(replica / together_ * together_, places, signature);
  }

 private:
  int number_of(std::size_t first) {
    std::vector<int> signature;
    Places places(cluster_);
    append_members(first, places, signature);
    return numbers_.try_emplace(std::move(signature), static_cast<int>(numbers_.size())).first->second;
  }

  void append_members(std::size_t first, Places& places, std::vector<int>& signature) const {
    for (std::size_t i = first; i < std::min(first + together_, plan_.replicas.size()); ++i) {
      for (const Stage& stage : plan_.replicas[i].stages) places.append(stage.devices.front(), signature);
    }
  }

  const TaskPlan& plan_;
  const Cluster& cluster_;
  std::size_t together_ = 1;
  int number_ = 0;
  std::map<std::vector<int>, int> numbers_;
};

// Layers [first, first + layers) that lie in one stage of every replica.
struct Segment {
  int first = 0;
  int layers = 0;
  std::vector<int> stage_of;  // by replica
};

std::vector<Segment> common_segments(const TaskPlan& plan) {
  std::vector<int> cuts{0};  // first layers of segments, then the total
  cuts.reserve(1 + plan.replicas.size() * plan.replicas.front().stages.size());
  for (const Replica& replica : plan.replicas) {
    int end = 0;
    for (const Stage& stage : replica.stages) cuts.push_back(end += stage.layers);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Segment> segments;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    Segment segment{cuts[c], cuts[c + 1] - cuts[c], {}};
    segment.stage_of.reserve(plan.replicas.size());
    for (const Replica& replica : plan.replicas) {
      int stage = 0, end = replica.stages.front().layers;
      while (end <= segment.first) end += replica.stages[static_cast<std::size_t>(++stage)].layers;
      segment.stage_of.push_back(stage);
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

bool are_on_one_island(const Cluster& cluster, std::span<const DeviceId> devices) {
  return std::all_of(devices.begin(), devices.end(),
                     [&](DeviceId device) { return cluster.is_one_island(device, devices.front()); });
}

// For each group of one segment: how many rings, its own too, leave the island of its first member.
void count_leaving_islands(std::vector<GradientGroup>& groups, const Cluster& cluster) {
  std::vector<const GradientGroup*> leaving;
  for (const GradientGroup& group : groups) {
    if (!are_on_one_island(cluster, group.members)) leaving.push_back(&group);
  }
  for (GradientGroup& group : groups) {
    if (are_on_one_island(cluster, group.members)) continue;
    const DeviceId first = group.members.front();
    group.leaving.node =
        static_cast<double>(std::count_if(leaving.begin(), leaving.end(), [&](const GradientGroup* other) {
          return std::any_of(other->members.begin(), other->members.end(),
                             [&](DeviceId device) { return cluster.is_one_island(device, first); });
        }));
  }
}

// Likewise of its zone or region. Stages are on nodes of their own but cross the same trunk at the same time.
double count_leaving(const GradientGroup& group, const std::vector<GradientGroup>& groups, LinkScope scope,
                     int stages, const Cluster& cluster) {
  const int place = cluster.place_number(scope, group.members.front());
  const auto is_in = [&](DeviceId device) { return cluster.place_number(scope, device) == place; };
  const auto leaves = [&](const GradientGroup& other) {
    return std::any_of(other.members.begin(), other.members.end(), is_in) &&
           !std::all_of(other.members.begin(), other.members.end(), is_in);
  };
  if (!leaves(group)) return 1;
  return stages * static_cast<double>(std::count_if(groups.begin(), groups.end(), leaves));
}

std::vector<GradientGroup> groups_of(const Segment& segment, const TaskPlan& plan) {
  std::vector<const Stage*> stages;
  stages.reserve(plan.replicas.size());
  int maximum = 1, fewest = 0;
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    stages.push_back(&plan.replicas[i].stages[static_cast<std::size_t>(segment.stage_of[i])]);
    const int degree = plan.tensor_parallel(*stages.back());
    maximum = std::max(maximum, degree);
    fewest = i == 0 ? degree : std::min(fewest, degree);
  }
  std::vector<GradientGroup> groups;
  groups.reserve(static_cast<std::size_t>(maximum));
  for (int k = 0; k < maximum; ++k) {
    GradientGroup& group = groups.emplace_back();
    group.first_layer = segment.first;
    group.layers = segment.layers;
    group.tensor_parallel = fewest;
    group.members.reserve(stages.size() * static_cast<std::size_t>(plan.execution.context_parallel));
    for (const Stage* stage : stages) {
      const int degree = plan.tensor_parallel(*stage);
      for (int part = 0; part < plan.execution.context_parallel; ++part) {
        const int shard = part * degree + k * degree / maximum;
        group.members.push_back(stage->devices[static_cast<std::size_t>(shard)]);
      }
    }
  }
  return groups;
}

}  // namespace

bool are_on_one_node(const Cluster& cluster, std::span<const DeviceId> devices) {
  return std::all_of(devices.begin(), devices.end(), [&](DeviceId device) {
    return cluster.node_of(device) == cluster.node_of(devices.front());
  });
}

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

// Members of a group that are on one node or one island, the first two of them.
struct MembersTogether {
  int place = 0;  // number of the node or island
  std::size_t count = 0;
  DeviceId first, second;
};

// In the order of the places, which members mostly have already. place_of: of a node.
template <typename PlaceOf>
std::vector<MembersTogether> by_place(const Cluster& cluster, std::span<const DeviceId> members,
                                      PlaceOf place_of) {
  std::vector<MembersTogether> places;
  places.reserve(std::min(members.size(), cluster.nodes().size()));
  for (const DeviceId device : members) {
    const int place = place_of(cluster.node_of(device));
    auto at = places.empty() || places.back().place < place ? places.end() : places.end() - 1;
    if (at != places.end() && at->place != place)
      at = std::lower_bound(places.begin(), places.end(), place,
                            [](const MembersTogether& of, int other) { return of.place < other; });
    if (at == places.end() || at->place != place) at = places.insert(at, {place, 0, device, device});
    if (++at->count == 2) at->second = device;
  }
  return places;
}

std::vector<MembersTogether> by_node(const Cluster& cluster, std::span<const DeviceId> members) {
  return by_place(cluster, members, [](NodeId node) { return node.value; });
}

std::vector<MembersTogether> by_island(const Cluster& cluster, std::span<const DeviceId> members) {
  return by_place(cluster, members, [&](NodeId node) { return cluster.island(node); });
}

}  // namespace

std::optional<RingEdge> edge_inside(const Cluster& cluster, std::span<const DeviceId> members) {
  const std::vector<MembersTogether> islands = by_island(cluster, members);
  if (islands.size() < 2) return std::nullopt;
  for (const MembersTogether& island : islands) {
    if (2 * island.count > members.size()) return RingEdge{island.first, island.second};
  }
  return std::nullopt;
}

namespace {

// The first of `from` that is in `to`.
std::optional<DeviceId> first_in_both(std::span<const DeviceId> from, std::span<const DeviceId> to) {
  constexpr std::size_t kFew = 16;  // looked through faster than sorted
  std::vector<DeviceId> sorted;
  if (to.size() > kFew) {
    sorted.assign(to.begin(), to.end());
    std::sort(sorted.begin(), sorted.end());
  }
  const auto found = std::find_if(from.begin(), from.end(), [&](DeviceId device) {
    return sorted.empty() ? std::find(to.begin(), to.end(), device) != to.end()
                          : std::binary_search(sorted.begin(), sorted.end(), device);
  });
  if (found == from.end()) return std::nullopt;
  return *found;
}

}  // namespace

std::optional<RingEdge> innermost_edge(const Cluster& cluster, std::span<const DeviceId> from,
                                       std::span<const DeviceId> to) {
  if (!cluster.has_monotone_links() || from.empty() || to.empty()) return std::nullopt;
  // Most often each is on one node.
  const NodeId sender = cluster.node_of(from.front()), receiver = cluster.node_of(to.front());
  if (sender != receiver && are_on_one_node(cluster, from) && are_on_one_node(cluster, to))
    return RingEdge{from.front(), to.front()};
  if (const auto both = first_in_both(from, to)) return RingEdge{*both, *both};
  // Devices of one node are as near as each other to anything.
  const std::vector<MembersTogether> senders = by_node(cluster, from), receivers = by_node(cluster, to);
  RingEdge nearest{senders.front().first, receivers.front().first};
  LinkLevel level = cluster.level_between(nearest.from, nearest.to);
  for (const MembersTogether& sending : senders) {
    for (const MembersTogether& receiving : receivers) {
      const LinkLevel other = cluster.level_between(sending.first, receiving.first);
      if (other >= level) continue;
      nearest = {sending.first, receiving.first};
      level = other;
    }
  }
  return nearest;
}

namespace {

double network_of(const Cluster& cluster, NodeId node) {
  return cluster.nodes()[node.index()].network_bytes_per_s.value_or(std::numeric_limits<double>::infinity());
}

// Adapters of all nodes of an island that have members, of the island that has least.
double narrowest_network(const Cluster& cluster, std::span<const DeviceId> members,
                         const std::vector<MembersTogether>& islands) {
  double minimum = std::numeric_limits<double>::infinity();
  if (!cluster.has_islands()) {
    for (const MembersTogether& node : islands)
      minimum = std::min(minimum, network_of(cluster, NodeId{node.place}));
    return minimum;
  }
  std::map<int, double> of_island;
  for (const MembersTogether& node : by_node(cluster, members))
    of_island[cluster.island(NodeId{node.place})] += network_of(cluster, NodeId{node.place});
  for (const auto& [island, network] : of_island) minimum = std::min(minimum, network);
  return minimum;
}

}  // namespace

RingNodes nodes_of_ring(const Cluster& cluster, std::span<const DeviceId> members) {
  const std::vector<MembersTogether> islands = by_island(cluster, members);
  RingNodes nodes;
  nodes.count = static_cast<double>(islands.size());
  nodes.rails = static_cast<double>(members.size());
  for (const MembersTogether& island : islands)
    nodes.rails = std::min(nodes.rails, static_cast<double>(island.count));
  nodes.network_bytes_per_s = narrowest_network(cluster, members, islands);
  // Data that leaves a node on several rails has passed between its members.
  if (nodes.rails < 2) return nodes;
  NodeId last{-1};
  for (std::size_t i = 0; i + 1 < members.size(); ++i) {
    if (!cluster.is_one_island(members[i], members[i + 1])) continue;
    const NodeId node = cluster.node_of(members[i]), next = cluster.node_of(members[i + 1]);
    // Links of one node are alike, unless an exception tells its devices apart.
    if (node == last && node == next && !cluster.has_links_of_devices()) continue;
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
  std::vector<int> signature;
  ExpertGroups expert_groups(plan, cluster);
  // Replicas that are alike may be behind trunks that are not the same.
  const bool are_alike = cluster.has_uniform_links() && !cluster.has_trunks();
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    if (are_alike) {
      sign(plan.replicas[i], work[i], cluster, signature);
      expert_groups.append(i, signature);
      const auto [found, is_new] = class_of.try_emplace(signature, classes.size());
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
  kinds.reserve(replica.stages.size());
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

// The groups of neighbours of `size` members in each group, or those of members with the same place in them.
std::vector<GradientGroup> parts_of_groups(const std::vector<GradientGroup>& groups, std::size_t size,
                                           GroupPart part) {
  std::vector<GradientGroup> parts;
  for (const GradientGroup& group : groups) {
    const std::size_t count = group.members.size() / size;
    const bool is_shards = part == GroupPart::shards;
    GradientGroup empty = group;
    empty.members.clear();
    empty.members.shrink_to_fit();
    for (std::size_t p = 0; p < (is_shards ? count : size); ++p) {
      GradientGroup& own = parts.emplace_back(empty);
      own.members.reserve(is_shards ? size : count);
      for (std::size_t m = 0; m < (is_shards ? size : count); ++m)
        own.members.push_back(group.members[is_shards ? p * size + m : m * size + p]);
    }
  }
  return parts;
}

std::vector<GradientGroup> gradient_groups(const TaskPlan& plan, const Cluster& cluster,
                                           std::optional<int> stages, GroupPart part) {
  std::vector<GradientGroup> distinct;
  const std::vector<Segment> segments = common_segments(plan);
  std::vector<int> signature;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    std::vector<GradientGroup> groups = groups_of(segments[s], plan);
    if (part != GroupPart::whole)
      groups = parts_of_groups(groups, static_cast<std::size_t>(plan.execution.sharded_over), part);
    count_leaving_islands(groups, cluster);
    if (cluster.has_trunks()) {
      const int at_once = stages.value_or(plan.replicas.front().pipeline_parallel());
      for (GradientGroup& group : groups) {
        group.leaving.zone = count_leaving(group, groups, LinkScope::zone, at_once, cluster);
        group.leaving.region = count_leaving(group, groups, LinkScope::region, at_once, cluster);
      }
    }
    std::set<std::vector<int>> seen;
    for (GradientGroup& group : groups) {
      if (cluster.has_uniform_links() && groups.size() > 1) {
        const Leaving& leaving = group.leaving;
        signature.assign(
            {static_cast<int>(leaving.node), static_cast<int>(leaving.zone), static_cast<int>(leaving.region)});
        Places places(cluster);
        for (const DeviceId device : group.members) places.append(device, signature);
        if (seen.count(signature) > 0) continue;
        seen.insert(signature);
      }
      group.holds_embedding = s == 0;
      group.holds_head = s + 1 == segments.size();
      group.ring = outermost_edge(cluster, group.members);
      if (group.ring) {
        group.nodes = nodes_of_ring(cluster, group.members);
        group.inside = edge_inside(cluster, group.members);
      }
      distinct.push_back(std::move(group));
    }
  }
  return distinct;
}

void set_gradient_groups(const TaskPlan& plan, const Cluster& cluster, TaskWork& work,
                         std::optional<int> stages) {
  work.gradient_groups = gradient_groups(plan, cluster, stages);
  work.shard_groups.clear();
  work.copy_groups.clear();
  if (plan.execution.sharded_over == 0) return;
  work.shard_groups = gradient_groups(plan, cluster, stages, GroupPart::shards);
  work.copy_groups = gradient_groups(plan, cluster, stages, GroupPart::copies);
}

}  // namespace sextant::inline costmodel
