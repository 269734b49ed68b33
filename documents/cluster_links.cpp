// The links of sextant/cluster.h: which rate and which capacity hold between two devices.
#include <charconv>

#include "core/text.h"
#include "sextant/cluster.h"
#include "sextant/error.h"

namespace sextant {
namespace {

constexpr int kUnknown = -1;

std::uint64_t pair_key(int from, int to) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32U) | static_cast<std::uint32_t>(to);
}

std::string_view scope_name(LinkScope scope) {
  constexpr std::array<std::string_view, kLinkScopeCount> kNames{"device", "node", "zone", "region"};
  return kNames.at(static_cast<std::size_t>(scope));
}

// Two members that are apart (in different zones, say) although they share what is around them.
struct Meeting {
  std::size_t first;
  std::size_t second;
};

std::optional<Meeting> find_meeting(const std::vector<int>& inner, const std::vector<int>& outer) {
  std::unordered_map<int, std::size_t> seen;  // by outer: a node in it
  for (std::size_t node = 0; node < outer.size(); ++node) {
    const auto [found, is_new] = seen.emplace(outer[node], node);
    if (!is_new && inner[node] != inner[found->second]) {
      return Meeting{found->second, node};
    }
  }
  return std::nullopt;
}

}  // namespace

void Cluster::check_levels() const {
  const auto require = [this](LinkLevel level, std::string_view member, const std::string& why) {
    if (!levels_.contains(level)) {
      throw_bad_input("/links/" + std::string(member) + ": missing; " + why);
    }
  };
  const auto between = [this](const Meeting& meeting) {
    return "nodes " + in_quotes(nodes_[meeting.first].name) + " and " + in_quotes(nodes_[meeting.second].name) +
           " meet there";
  };
  for (const Node& node : nodes_) {
    if (node.devices > 1 && !node.link) {
      require(LinkLevel::within_node, "within_node",
              "node " + in_quotes(node.name) + " has " + std::to_string(node.devices) +
                  " devices and no link of its own");
    }
  }
  std::vector<int> each(nodes_.size());
  for (std::size_t i = 0; i < each.size(); ++i) {
    each[i] = static_cast<int>(i);
  }
  if (const auto meeting = find_meeting(each, zone_of_)) {
    require(LinkLevel::within_zone, "within_zone", between(*meeting));
  }
  if (const auto meeting = find_meeting(zone_of_, region_of_)) {
    require(LinkLevel::within_region, "within_region", between(*meeting));
  }
  if (const auto meeting = find_meeting(region_of_, std::vector<int>(nodes_.size(), 0))) {
    require(LinkLevel::between_regions, "between_regions", between(*meeting));
  }
}

Cluster::NumberOf Cluster::number_by_scope() const {
  NumberOf numbers;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    numbers[static_cast<std::size_t>(LinkScope::node)].emplace(nodes_[i].name, static_cast<int>(i));
    numbers[static_cast<std::size_t>(LinkScope::zone)].emplace(nodes_[i].zone, zone_of_[i]);
    numbers[static_cast<std::size_t>(LinkScope::region)].emplace(nodes_[i].region, region_of_[i]);
  }
  return numbers;
}

// kUnknown when there is none of that name.
int Cluster::find_in_scope(const NumberOf& numbers, LinkScope scope, const std::string& name) const {
  const auto find = [&numbers](LinkScope where, const std::string& key) {
    const auto& known = numbers[static_cast<std::size_t>(where)];
    const auto found = known.find(key);
    return found == known.end() ? kUnknown : found->second;
  };
  if (scope != LinkScope::device) {
    return find(scope, name);
  }
  const auto slash = name.find('/');
  const int node = find(LinkScope::node, name.substr(0, slash));
  if (slash == std::string::npos || node == kUnknown) {
    return kUnknown;
  }
  const std::string digits = name.substr(slash + 1);
  int local = kUnknown;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), local);
  const bool is_number = fault == std::errc{} && end == digits.data() + digits.size();
  const auto index = static_cast<std::size_t>(node);
  return is_number && local >= 0 && local < nodes_[index].devices ? first_device_[index] + local : kUnknown;
}

void Cluster::index_exceptions() {
  const NumberOf numbers = number_by_scope();
  for (std::size_t i = 0; i < exceptions_.size(); ++i) {
    const LinkException& exception = exceptions_[i];
    const std::string path = "/link_exceptions/" + std::to_string(i);
    const auto number_of = [&](std::string_view member, const std::string& name) {
      const int number = find_in_scope(numbers, exception.scope, name);
      if (number == kUnknown) {
        throw_bad_input(path + "/" + std::string(member) + ": unknown " +
                        std::string(scope_name(exception.scope)) + " " + in_quotes(name));
      }
      return number;
    };
    const int from = number_of("from", exception.from);
    const int to = number_of("to", exception.to);
    if (from == to && exception.scope == LinkScope::device) {
      throw_bad_input(path + "/to: a device has no link to itself");
    }
    const auto add = [&](int a, int b) {
      const auto [found, is_new] =
          exception_of_[static_cast<std::size_t>(exception.scope)].emplace(pair_key(a, b), i);
      if (!is_new) {
        throw_bad_input(path + ": /link_exceptions/" + std::to_string(found->second) +
                        " is about the same link");
      }
    };
    add(from, to);
    if (exception.both_ways && from != to) {
      add(to, from);
    }
  }
}

const LinkRate* Cluster::exception_between(LinkScope scope, int from, int to) const {
  const ExceptionIndex& index = exception_of_[static_cast<std::size_t>(scope)];
  if (index.empty()) {
    return nullptr;
  }
  const auto found = index.find(pair_key(from, to));
  return found == index.end() ? nullptr : &exceptions_[found->second].rate;
}

void Cluster::check_capacities() const {
  const auto refuse = [](const std::string& path, const std::string& between) {
    throw_bad_input(path + "/capacity_bytes_per_s: links between " + between +
                    " cannot have a capacity; only links between nodes, zones and regions can");
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::string path = "/nodes/" + std::to_string(i) + "/link";
    if (nodes_[i].link && nodes_[i].link->capacity_bytes_per_s) refuse(path, "devices of one node");
  }
  const auto inner = levels_.find(LinkLevel::within_node);
  if (inner != levels_.end() && inner->second.capacity_bytes_per_s)
    refuse("/links/within_node", "devices of one node");
  for (std::size_t i = 0; i < exceptions_.size(); ++i) {
    if (exceptions_[i].scope == LinkScope::device && exceptions_[i].rate.capacity_bytes_per_s)
      refuse("/link_exceptions/" + std::to_string(i), "two devices");
  }
}

Cluster::FoundLink Cluster::find_link(DeviceId from, DeviceId to) const {
  SEXTANT_CHECK(from != to);
  const NodeId a = node_of(from);
  const NodeId b = node_of(to);
  const LinkLevel level = level_between(from, to);
  if (const LinkRate* rate = exception_between(LinkScope::device, from.value, to.value))
    return {rate, LinkScope::device};
  // An exception of a zone or a region with itself is about its nodes or zones.
  const LinkScope between = level == LinkLevel::between_regions ? LinkScope::region
                            : level == LinkLevel::within_region ? LinkScope::zone
                                                                : LinkScope::node;
  if (const LinkRate* rate = exception_between(LinkScope::node, a.value, b.value))
    return {rate, LinkScope::node};
  if (level >= LinkLevel::within_zone) {
    const int one = zone_of_[a.index()], other = zone_of_[b.index()];
    if (const LinkRate* rate = exception_between(LinkScope::zone, one, other))
      return {rate, one == other ? between : LinkScope::zone};
  }
  if (level >= LinkLevel::within_region) {
    const LinkRate* rate = exception_between(LinkScope::region, region_of_[a.index()], region_of_[b.index()]);
    if (rate != nullptr) return {rate, between};
  }
  if (level == LinkLevel::within_node && nodes_[a.index()].link)
    return {&*nodes_[a.index()].link, LinkScope::device};
  return {&levels_.find(level)->second, between};
}

const LinkRate& Cluster::link(DeviceId from, DeviceId to) const { return *find_link(from, to).rate; }

int Cluster::place_number(LinkScope scope, DeviceId device) const {
  SEXTANT_CHECK(scope != LinkScope::device);
  const NodeId node = node_of(device);
  if (scope == LinkScope::node) return node.value;
  return scope == LinkScope::zone ? zone_number(node) : region_number(node);
}

std::optional<Trunk> Cluster::trunk(DeviceId from, DeviceId to) const {
  if (!has_trunks_ || node_of(from) == node_of(to)) return std::nullopt;
  const FoundLink found = find_link(from, to);
  if (!found.rate->capacity_bytes_per_s) return std::nullopt;
  return Trunk{found.between, place_number(found.between, from), place_number(found.between, to),
               found.rate->capacity_bytes_per_s->value};
}

}  // namespace sextant
