#include "sextant/cluster.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant {
namespace {

std::string node_path(std::size_t node, std::string_view member) {
  return "/nodes/" + std::to_string(node) + "/" + std::string(member) + ": ";
}

// Numbers names 0, 1, ... as they appear.
class Numbering {
 public:
  int operator()(const std::string& name) {
    return numbers_.emplace(name, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

}  // namespace

Cluster::Cluster(std::string name, std::map<std::string, DeviceType> device_types, std::vector<Node> nodes,
                 std::map<LinkLevel, LinkRate> levels, std::vector<LinkException> exceptions)
    : name_(std::move(name)),
      device_types_(std::move(device_types)),
      nodes_(std::move(nodes)),
      levels_(std::move(levels)),
      exceptions_(std::move(exceptions)) {
  check_nodes();
  index_devices();
  check_levels();
  index_exceptions();
  check_capacities();
  has_trunks_ = std::any_of(levels_.begin(), levels_.end(),
                            [](const auto& level) { return level.second.capacity_bytes_per_s.has_value(); }) ||
                std::any_of(exceptions_.begin(), exceptions_.end(), [](const LinkException& exception) {
                  return exception.rate.capacity_bytes_per_s.has_value();
                });
  find_islands();
  monotone_ = find_monotone();
}

void Cluster::check_nodes() const {
  if (nodes_.empty()) {
    throw_bad_input("/nodes: expected at least one node");
  }
  std::set<std::string> names;
  std::map<std::string, std::string> region_of_zone;
  int devices = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.name.find('/') != std::string::npos) {
      throw_bad_input(node_path(i, "name") + "a node's name must not contain \"/\", got " +
                      in_quotes(node.name));
    }
    if (!names.insert(node.name).second) {
      throw_bad_input(node_path(i, "name") + "another node is named " + in_quotes(node.name) + " too");
    }
    const auto& region = region_of_zone.emplace(node.zone, node.region).first->second;
    if (region != node.region) {
      throw_bad_input(node_path(i, "zone") + "zone " + in_quotes(node.zone) + " is in region " +
                      in_quotes(region) + " already; zones of different regions need different names");
    }
    if (!device_types_.contains(node.device_type)) {
      throw_bad_input(node_path(i, "device_type") + "unknown device type " + in_quotes(node.device_type));
    }
    if (node.devices < 1) {
      throw_bad_input(node_path(i, "devices") + "expected an integer >= 1, got " +
                      std::to_string(node.devices));
    }
    if (node.devices > kMaxDevices - devices) {
      throw_bad_input(node_path(i, "devices") + "more than " + std::to_string(kMaxDevices) +
                      " devices in total");
    }
    devices += node.devices;
  }
}

void Cluster::index_devices() {
  Numbering zone_number;
  Numbering region_number;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    first_device_.push_back(device_count());
    node_of_.insert(node_of_.end(), static_cast<std::size_t>(nodes_[i].devices), NodeId{static_cast<int>(i)});
    zone_of_.push_back(zone_number(nodes_[i].zone));
    region_of_.push_back(region_number(nodes_[i].region));
    class_of_.push_back(find_class(i));
  }
}

bool Cluster::find_monotone() const {
  if (!exceptions_.empty()) return false;
  for (const Node& node : nodes_) {
    if (node.network_bytes_per_s != nodes_.front().network_bytes_per_s) return false;
    if (node.link != nodes_.front().link) return false;
  }
  const auto capacity_of = [](const LinkRate& rate) {
    return rate.capacity_bytes_per_s ? rate.capacity_bytes_per_s->value
                                     : std::numeric_limits<double>::infinity();
  };
  // Members of more groups share what is farther out.
  const auto no_slower = [&](const LinkRate& inner, const LinkRate& outer) {
    return inner.latency_s.value <= outer.latency_s.value &&
           inner.bytes_per_s.value >= outer.bytes_per_s.value && capacity_of(inner) >= capacity_of(outer);
  };
  for (auto outer = levels_.begin(); outer != levels_.end(); ++outer) {
    for (auto inner = levels_.begin(); inner != outer; ++inner) {
      if (!no_slower(inner->second, outer->second)) return false;
    }
    if (outer->first == LinkLevel::within_node) continue;
    for (const Node& node : nodes_) {
      if (node.link && !no_slower(*node.link, outer->second)) return false;
    }
  }
  return true;
}

void Cluster::find_islands() {
  constexpr double kNearlyAsFast = 0.5;           // as links within a node
  std::vector<bool> is_one(nodes_.size(), true);  // by zone
  std::vector<int> nodes_in(nodes_.size(), 0), first_in(nodes_.size(), -1);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto zone = static_cast<std::size_t>(zone_of_[i]);
    if (nodes_in[zone]++ == 0) {
      first_in[zone] = static_cast<int>(i);
      continue;
    }
    // Each with the first: exceptions within a rack do not make it another.
    const Node& node = nodes_[i];
    const DeviceId there{first_device_[static_cast<std::size_t>(first_in[zone])]}, here{first_device_[i]};
    const double rate = link(there, here).bytes_per_s.value;
    const auto joins = [&](const Node& one, DeviceId device) {
      return one.devices > 1 && one.network_bytes_per_s && rate > *one.network_bytes_per_s &&
             rate >= kNearlyAsFast * link(device, DeviceId{device.value + 1}).bytes_per_s.value;
    };
    if (!joins(nodes_[static_cast<std::size_t>(first_in[zone])], there) || !joins(node, here))
      is_one[zone] = false;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto zone = static_cast<std::size_t>(zone_of_[i]);
    island_of_.push_back(is_one[zone] ? first_in[zone] : static_cast<int>(i));
    if (island_of_.back() != static_cast<int>(i)) has_islands_ = true;
  }
}

int Cluster::find_class(std::size_t node) const {
  const Node& it = nodes_[node];
  for (std::size_t other = 0; other < node; ++other) {
    const Node& known = nodes_[other];
    if (known.device_type == it.device_type && known.link == it.link &&
        known.network_bytes_per_s == it.network_bytes_per_s) {
      return class_of_[other];
    }
  }
  return node == 0 ? 0 : 1 + *std::max_element(class_of_.begin(), class_of_.end());
}

bool Cluster::has_zonal_links() const {
  return std::all_of(exceptions_.begin(), exceptions_.end(), [](const LinkException& exception) {
    return exception.scope == LinkScope::zone || exception.scope == LinkScope::region;
  });
}

const std::string& Cluster::type_name(DeviceId device) const {
  return nodes_[node_of(device).index()].device_type;
}

const DeviceType& Cluster::type_of(DeviceId device) const {
  return device_types_.find(type_name(device))->second;
}

std::string Cluster::device_name(DeviceId device) const {
  const std::size_t node = node_of(device).index();
  return nodes_[node].name + "/" + std::to_string(device.value - first_device_[node]);
}

LinkLevel Cluster::level_between(DeviceId from, DeviceId to) const {
  const std::size_t a = node_of(from).index();
  const std::size_t b = node_of(to).index();
  if (a == b) {
    return LinkLevel::within_node;
  }
  if (zone_of_[a] == zone_of_[b]) {
    return LinkLevel::within_zone;
  }
  return region_of_[a] == region_of_[b] ? LinkLevel::within_region : LinkLevel::between_regions;
}

}  // namespace sextant
