#include "planner/explain/change.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "core/text.h"
#include "costmodel/hardware_numbers.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

// The parts of a cluster, from which a changed one is made.
struct Parts {
  std::string name;
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  std::map<LinkLevel, LinkRate> levels;
  std::vector<LinkException> exceptions;

  explicit Parts(const Cluster& cluster)
      : name(cluster.name()),
        types(cluster.device_types()),
        nodes(cluster.nodes()),
        levels(cluster.levels()),
        exceptions(cluster.exceptions()) {}

  [[nodiscard]] Cluster cluster() && {
    return Cluster(std::move(name), std::move(types), std::move(nodes), std::move(levels),
                   std::move(exceptions));
  }
};

std::string free_name(const std::set<std::string>& taken, const std::string& type) {
  for (int number = 1;; ++number) {
    std::string name = type + "-added-" + std::to_string(number);
    std::replace(name.begin(), name.end(), '/', '-');  // which parts a node from its device
    if (!taken.contains(name)) return name;
  }
}

const Node& first_of_type(const Parts& parts, const std::string& type) {
  const auto found = std::find_if(parts.nodes.begin(), parts.nodes.end(),
                                  [&](const Node& node) { return node.device_type == type; });
  if (found == parts.nodes.end()) throw_bad_input("the cluster has no machine of type " + in_quotes(type));
  return *found;
}

void put_into_zone(Node& node, const Parts& parts, const std::string& zone) {
  if (zone.empty()) return;
  const auto other = std::find_if(parts.nodes.begin(), parts.nodes.end(),
                                  [&](const Node& there) { return there.zone == zone; });
  if (other == parts.nodes.end()) throw_bad_input("the cluster has no zone " + in_quotes(zone));
  node.zone = zone;
  node.region = other->region;
}

void apply(const AddMachines& change, Parts& parts) {
  Node node = first_of_type(parts, change.device_type);
  put_into_zone(node, parts, change.zone);
  std::set<std::string> taken;
  for (const Node& other : parts.nodes) taken.insert(other.name);
  for (int i = 0; i < change.count; ++i) {
    node.name = free_name(taken, change.device_type);
    taken.insert(node.name);
    parts.nodes.push_back(node);
  }
}

// The machine, zone or region of one end of an exception is still there.
bool is_there(const Parts& parts, LinkScope scope, const std::string& name) {
  return std::any_of(parts.nodes.begin(), parts.nodes.end(), [&](const Node& node) {
    switch (scope) {
      case LinkScope::device:
        return node.name == name.substr(0, name.find('/'));
      case LinkScope::node:
        return node.name == name;
      case LinkScope::zone:
        return node.zone == name;
      case LinkScope::region:
        return node.region == name;
    }
    return false;
  });
}

void drop_lost_exceptions(Parts& parts) {
  std::erase_if(parts.exceptions, [&](const LinkException& exception) {
    return !is_there(parts, exception.scope, exception.from) || !is_there(parts, exception.scope, exception.to);
  });
  if (parts.nodes.empty()) throw_bad_input("this would remove the last machine");
}

void apply(const RemoveMachine& change, Parts& parts) {
  const std::size_t removed =
      std::erase_if(parts.nodes, [&](const Node& node) { return node.name == change.node; });
  if (removed == 0) throw_bad_input("the cluster has no machine " + in_quotes(change.node));
  drop_lost_exceptions(parts);
}

void apply(const RemoveMachines& change, Parts& parts) {
  const auto there = std::count_if(parts.nodes.begin(), parts.nodes.end(),
                                   [&](const Node& node) { return node.device_type == change.device_type; });
  if (there < change.count) {
    throw_bad_input("the cluster has " + std::to_string(there) + " machines of type " +
                    in_quotes(change.device_type) + ", not " + std::to_string(change.count));
  }
  auto keep = there - change.count;
  std::erase_if(parts.nodes,
                [&](const Node& node) { return node.device_type == change.device_type && keep-- <= 0; });
  drop_lost_exceptions(parts);
}

template <typename Change>
void change_rate(LinkRate& rate, const Change& change) {
  Quantity& quantity = change.what == ChangeLinks::What::latency_s ? rate.latency_s : rate.bytes_per_s;
  const double before = quantity.value;
  quantity = assumed(change.is_factor ? before * change.value : change.value, "what if");
  // A faster link is faster for all that share it.
  if (change.what != ChangeLinks::What::latency_s && rate.capacity_bytes_per_s)
    rate.capacity_bytes_per_s =
        assumed(rate.capacity_bytes_per_s->value * (quantity.value / before), "what if");
}

const Node& node_of_end(const Parts& parts, LinkScope scope, const std::string& name) {
  const std::string node = scope == LinkScope::device ? name.substr(0, name.find('/')) : name;
  return *std::find_if(parts.nodes.begin(), parts.nodes.end(),
                       [&](const Node& other) { return other.name == node; });
}

std::string region_of_zone(const Parts& parts, const std::string& zone) {
  return std::find_if(parts.nodes.begin(), parts.nodes.end(),
                      [&](const Node& node) { return node.zone == zone; })
      ->region;
}

// At which level the two ends of an exception meet (cluster.h: what lies further in keeps its own rate).
LinkLevel level_of(const Parts& parts, const LinkException& exception) {
  if (exception.scope == LinkScope::region) {
    return exception.from == exception.to ? LinkLevel::within_region : LinkLevel::between_regions;
  }
  if (exception.scope == LinkScope::zone) {
    if (exception.from == exception.to) return LinkLevel::within_zone;
    return region_of_zone(parts, exception.from) == region_of_zone(parts, exception.to)
               ? LinkLevel::within_region
               : LinkLevel::between_regions;
  }
  const Node& from = node_of_end(parts, exception.scope, exception.from);
  const Node& to = node_of_end(parts, exception.scope, exception.to);
  if (from.name == to.name) return LinkLevel::within_node;
  if (from.zone == to.zone) return LinkLevel::within_zone;
  return from.region == to.region ? LinkLevel::within_region : LinkLevel::between_regions;
}

// The level of the links for which a node has its adapters: those to its zone, or to other zones if its own is one
// island.
LinkLevel level_of_adapters(const Cluster& cluster, std::size_t node) {
  if (!cluster.has_islands()) return LinkLevel::within_zone;
  for (std::size_t other = 0; other < cluster.nodes().size(); ++other) {
    const bool is_same_island =
        cluster.island(NodeId{static_cast<int>(other)}) == cluster.island(NodeId{static_cast<int>(node)});
    if (other != node && is_same_island) return LinkLevel::within_region;
  }
  return LinkLevel::within_zone;
}

// Links of another speed have adapters of that speed.
void scale_adapters(LinkLevel level, double factor, Parts& parts) {
  const Cluster now = Parts(parts).cluster();
  for (std::size_t n = 0; n < parts.nodes.size(); ++n) {
    std::optional<double>& network = parts.nodes[n].network_bytes_per_s;
    if (network && level_of_adapters(now, n) == level) *network *= factor;
  }
}

void apply(const ChangeLinks& change, Parts& parts) {
  bool is_any = false;
  if (const auto level = parts.levels.find(change.level); level != parts.levels.end()) {
    const double before = level->second.bytes_per_s.value;
    if (change.what == ChangeLinks::What::bytes_per_s)
      scale_adapters(change.level, change.is_factor ? change.value : change.value / before, parts);
    change_rate(level->second, change);
    is_any = true;
  }
  for (Node& node : parts.nodes) {
    if (change.level != LinkLevel::within_node || !node.link) continue;
    change_rate(*node.link, change);
    is_any = true;
  }
  for (LinkException& exception : parts.exceptions) {
    if (level_of(parts, exception) != change.level) continue;
    change_rate(exception.rate, change);
    is_any = true;
  }
  if (!is_any) throw_bad_input("the cluster has no links at this level");
}

constexpr std::array kWholeScopes{LinkScope::node, LinkScope::zone, LinkScope::region};

// The scope in which both names exist.
LinkScope scope_of(const Parts& parts, const ChangeLinkBetween& change) {
  for (const LinkScope scope : kWholeScopes) {
    if (is_there(parts, scope, change.from) && is_there(parts, scope, change.to)) return scope;
  }
  throw_bad_input("the cluster has no two machines, zones or regions " + in_quotes(change.from) + " and " +
                  in_quotes(change.to));
}

bool is_in(const Node& node, LinkScope scope, const std::string& name) {
  if (scope == LinkScope::region) return node.region == name;
  return (scope == LinkScope::zone ? node.zone : node.name) == name;
}

// Every machine that the end of an exception is about lies there.
bool lies_in(const Parts& parts, const LinkException& exception, const std::string& end, LinkScope scope,
             const std::string& name) {
  const std::string whole = exception.scope == LinkScope::device ? end.substr(0, end.find('/')) : end;
  const LinkScope of_end = exception.scope == LinkScope::device ? LinkScope::node : exception.scope;
  return std::all_of(parts.nodes.begin(), parts.nodes.end(),
                     [&](const Node& node) { return !is_in(node, of_end, whole) || is_in(node, scope, name); });
}

DeviceId first_device_in(const Parts& parts, LinkScope scope, const std::string& name) {
  int first = 0;
  for (const Node& node : parts.nodes) {
    if (is_in(node, scope, name)) break;
    first += node.devices;
  }
  return DeviceId{first};
}

void apply(const ChangeLinkBetween& change, Parts& parts) {
  if (change.from == change.to)
    throw_bad_input("a link needs two different ends, got " + in_quotes(change.from) + " twice");
  const LinkScope scope = scope_of(parts, change);
  const DeviceId from = first_device_in(parts, scope, change.from),
                 to = first_device_in(parts, scope, change.to);
  const Cluster now = Parts(parts).cluster();
  const LinkRate &there = now.link(from, to), &back = now.link(to, from);
  bool is_named = false;
  for (LinkException& exception : parts.exceptions) {
    const auto joins = [&](const std::string& a, const std::string& b) {
      return lies_in(parts, exception, exception.from, scope, a) &&
             lies_in(parts, exception, exception.to, scope, b);
    };
    if (!joins(change.from, change.to) && !joins(change.to, change.from)) continue;
    change_rate(exception.rate, change);
    is_named = is_named || exception.scope == scope;
  }
  if (is_named) return;
  parts.exceptions.push_back({scope, change.from, change.to, there, there == back});
  change_rate(parts.exceptions.back().rate, change);
  if (there == back) return;
  parts.exceptions.push_back({scope, change.to, change.from, back, false});
  change_rate(parts.exceptions.back().rate, change);
}

}  // namespace

Cluster changed(const Cluster& cluster, const ClusterChange& change) {
  if (const auto* scaled = std::get_if<ScaleDevices>(&change)) {
    if (!cluster.device_types().contains(scaled->device_type))
      throw_bad_input("the cluster has no device type " + in_quotes(scaled->device_type));
    return with_scaled(cluster, {scaled->name, scaled->device_type}, scaled->factor);
  }
  Parts parts(cluster);
  std::visit(
      [&](const auto& other) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(other)>, ScaleDevices>) apply(other, parts);
      },
      change);
  return std::move(parts).cluster();
}

std::optional<Plan> moved(const Plan& plan, const Cluster& from, const Cluster& to) {
  std::map<std::string, DeviceId> there;
  for (int d = 0; d < to.device_count(); ++d) there[to.device_name(DeviceId{d})] = DeviceId{d};
  Plan out = plan;
  for (auto& [name, task] : out.tasks) {
    for (Replica& replica : task.replicas) {
      for (Stage& stage : replica.stages) {
        for (DeviceId& device : stage.devices) {
          const auto found = there.find(from.device_name(device));
          if (found == there.end() || to.type_name(found->second) != from.type_name(device))
            return std::nullopt;
          device = found->second;
        }
      }
    }
  }
  return out;
}

}  // namespace sextant::inline planner
