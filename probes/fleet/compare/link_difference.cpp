#include "probes/fleet/compare/link_difference.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace sextant::inline probes {
namespace {

// The number of nodes of a zone or region, and of devices of a node, that are tried to find a pair without an
// inner exception.
constexpr int kTried = 8;
constexpr std::array<std::string_view, kLinkLevelCount> kLevelNames{
    "links within a node", "links between nodes of a zone", "links between zones of a region",
    "links between regions"};

void add_rates(const std::string& where, const LinkRate* before, const LinkRate* after,
               std::vector<ValuePair>& out) {
  const auto of = [](const LinkRate* rate, Quantity LinkRate::*member) {
    return rate == nullptr ? std::nullopt : std::optional<Quantity>(rate->*member);
  };
  out.push_back(
      {where, "bandwidth", "bytes/s", of(before, &LinkRate::bytes_per_s), of(after, &LinkRate::bytes_per_s)});
  out.push_back({where, "latency", "s", of(before, &LinkRate::latency_s), of(after, &LinkRate::latency_s)});
  const auto capacity_of = [](const LinkRate* rate) {
    return rate == nullptr ? std::nullopt : rate->capacity_bytes_per_s;
  };
  if (capacity_of(before) || capacity_of(after))
    out.push_back({where, "capacity", "bytes/s", capacity_of(before), capacity_of(after)});
}

const LinkRate* level_of(const Cluster& cluster, LinkLevel level) {
  const auto found = cluster.levels().find(level);
  return found == cluster.levels().end() ? nullptr : &found->second;
}

void compare_levels(const Cluster& before, const Cluster& after, std::vector<ValuePair>& out) {
  for (int number = 0; number < kLinkLevelCount; ++number) {
    const auto level = static_cast<LinkLevel>(number);
    const LinkRate* was = level_of(before, level);
    const LinkRate* is = level_of(after, level);
    if (was == nullptr && is == nullptr) continue;
    add_rates(std::string(kLevelNames.at(static_cast<std::size_t>(number))), was, is, out);
  }
}

// A cluster's devices by name, and how far in the exception lies that rules over two of them.
class Devices {
 public:
  explicit Devices(const Cluster& cluster) : cluster_(cluster) {
    int first = 0;
    for (const Node& node : cluster.nodes()) {
      first_of_[node.name] = {first, node.devices};
      first += node.devices;
    }
    for (const LinkException& exception : cluster.exceptions()) scope_of_[&exception.rate] = exception.scope;
  }

  // "node/3"
  [[nodiscard]] std::optional<DeviceId> find(const std::string& name) const {
    const std::size_t slash = name.find('/');
    const auto node = first_of_.find(name.substr(0, slash));
    int local = -1;
    if (slash != std::string::npos) std::from_chars(name.data() + slash + 1, name.data() + name.size(), local);
    if (node == first_of_.end() || local < 0 || local >= node->second.second) return std::nullopt;
    return DeviceId{node->second.first + local};
  }
  // Some devices of a device, node, zone or region.
  [[nodiscard]] std::vector<std::string> names_in(LinkScope scope, const std::string& name) const {
    if (scope == LinkScope::device) return {name};
    std::vector<std::string> names;
    for (const Node& node : cluster_.nodes()) {
      const std::string& around = scope == LinkScope::node   ? node.name
                                  : scope == LinkScope::zone ? node.zone
                                                             : node.region;
      if (around != name || names.size() >= kTried * kTried) continue;
      for (int i = 0; i < std::min(node.devices, kTried); ++i)
        names.push_back(node.name + "/" + std::to_string(i));
    }
    return names;
  }
  // kLinkScopeCount when no exception does.
  [[nodiscard]] int scope_between(DeviceId from, DeviceId to) const {
    const auto found = scope_of_.find(&cluster_.link(from, to));
    return found == scope_of_.end() ? kLinkScopeCount : static_cast<int>(found->second);
  }
  [[nodiscard]] const LinkRate& link(DeviceId from, DeviceId to) const { return cluster_.link(from, to); }

 private:
  const Cluster& cluster_;
  std::map<std::string, std::pair<int, int>> first_of_;  // and how many, by node
  std::map<const LinkRate*, LinkScope> scope_of_;        // by the exception's own rate, which link() returns
};

struct Ends {
  LinkScope scope;
  std::string a;
  std::string b;
};

// The same two devices in both clusters.
struct Pair {
  DeviceId a_before, b_before, a_after, b_after;
};

// A pair of devices over which an exception for these ends rules in one cluster, and none further in in either.
std::optional<Pair> find_pair(const Ends& ends, const Devices& before, const Devices& after) {
  const std::vector<std::string> from = before.names_in(ends.scope, ends.a),
                                 to = before.names_in(ends.scope, ends.b);
  for (const std::string& a : from) {
    for (const std::string& b : to) {
      const auto a_before = before.find(a), b_before = before.find(b), a_after = after.find(a),
                 b_after = after.find(b);
      if (a == b || !a_before || !b_before || !a_after || !b_after) continue;
      const int scope =
          std::min({before.scope_between(*a_before, *b_before), before.scope_between(*b_before, *a_before),
                    after.scope_between(*a_after, *b_after), after.scope_between(*b_after, *a_after)});
      if (scope == static_cast<int>(ends.scope)) return Pair{*a_before, *b_before, *a_after, *b_after};
    }
  }
  return std::nullopt;
}

void compare_ends(const Ends& ends, const Devices& before, const Devices& after, std::vector<ValuePair>& out) {
  const auto pair = find_pair(ends, before, after);
  if (!pair) return;
  const LinkRate& was = before.link(pair->a_before, pair->b_before);
  const LinkRate& is = after.link(pair->a_after, pair->b_after);
  const LinkRate& was_back = before.link(pair->b_before, pair->a_before);
  const LinkRate& is_back = after.link(pair->b_after, pair->a_after);
  if (was == was_back && is == is_back) {
    add_rates("link " + ends.a + " - " + ends.b, &was, &is, out);
    return;
  }
  add_rates("link " + ends.a + " -> " + ends.b, &was, &is, out);
  add_rates("link " + ends.b + " -> " + ends.a, &was_back, &is_back, out);
}

void compare_exceptions(const Cluster& before, const Cluster& after, std::vector<ValuePair>& out) {
  const Devices devices_before(before), devices_after(after);
  std::set<std::tuple<LinkScope, std::string, std::string>> seen;
  for (const Cluster* cluster : {&before, &after}) {
    for (const LinkException& exception : cluster->exceptions()) {
      const auto [a, b] = std::minmax(exception.from, exception.to);
      if (!seen.emplace(exception.scope, a, b).second) continue;
      compare_ends({exception.scope, exception.from, exception.to}, devices_before, devices_after, out);
    }
  }
}

// The link between the devices of a node without exceptions.
const LinkRate* own_link(const Cluster& cluster, const Node& node) {
  return node.link ? &*node.link : level_of(cluster, LinkLevel::within_node);
}

void compare_nodes(const Cluster& before, const Cluster& after, std::vector<ValuePair>& out) {
  std::map<std::string, const Node*> was;
  for (const Node& node : before.nodes()) was[node.name] = &node;
  for (const Node& node : after.nodes()) {
    const auto found = was.find(node.name);
    if (found == was.end() || (!node.link && !found->second->link)) continue;
    add_rates("links within node " + node.name, own_link(before, *found->second), own_link(after, node), out);
  }
}

}  // namespace

std::vector<ValuePair> compare_links(const Cluster& before, const Cluster& after) {
  std::vector<ValuePair> all;
  compare_levels(before, after, all);
  compare_nodes(before, after, all);
  compare_exceptions(before, after, all);
  return all;
}

}  // namespace sextant::inline probes
