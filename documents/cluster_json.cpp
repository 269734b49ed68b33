// Reading and writing of sextant/cluster.h.
#include "core/json_value.h"
#include "documents/values/names.h"
#include "sextant/cluster.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 2> kDeviceKinds{"cpu", "gpu"};
constexpr std::array<std::string_view, kLinkScopeCount> kScopes{"device", "node", "zone", "region"};
constexpr std::array<std::string_view, kLinkLevelCount> kLevels{"within_node", "within_zone", "within_region",
                                                                "between_regions"};

constexpr std::array<std::string_view, 4> kUnits{"flop/s", "bytes/s", "bytes", "s"};

std::map<Precision, Quantity> parse_flop_rates(const JsonView& view) {
  std::map<Precision, Quantity> out;
  for (const auto& [name, rate] : view.members()) {
    const Json key = name;
    const JsonView precision(key, rate.path());
    out.emplace(parse_precision(precision), Quantity::parse(rate));
  }
  if (out.empty()) {
    view.fail("expected the rate of at least one precision");
  }
  return out;
}

std::map<std::string, DeviceMeasurement> parse_measurements(const JsonView& view) {
  std::map<std::string, DeviceMeasurement> out;
  for (const auto& [name, measurement] : view.members()) {
    measurement.allow_only({"unit", "quantity"});
    const std::size_t unit = measurement.required("unit").one_of({kUnits.begin(), kUnits.end()});
    out[name] = {std::string(kUnits.at(unit)), Quantity::parse(measurement.required("quantity"))};
  }
  return out;
}

DeviceType parse_device_type(const JsonView& view) {
  view.allow_only({"kind", "memory_bytes", "memory_bytes_per_s", "flop_per_s", "host_bytes_per_s",
                   "price_usd_per_hour", "measurements"});
  DeviceType out;
  out.kind = parse_name<DeviceKind>(view.required("kind"), kDeviceKinds);
  out.memory_bytes = Quantity::parse(view.required("memory_bytes"));
  out.memory_bytes_per_s = Quantity::parse(view.required("memory_bytes_per_s"));
  out.flop_per_s = parse_flop_rates(view.required("flop_per_s"));
  if (const auto host = view.optional("host_bytes_per_s")) {
    out.host_bytes_per_s = Quantity::parse(*host);
  }
  if (const auto price = view.optional("price_usd_per_hour")) {
    out.price_usd_per_hour = Quantity::parse(*price, true);
  }
  if (const auto measurements = view.optional("measurements")) {
    out.measurements = parse_measurements(*measurements);
  }
  return out;
}

Json to_json(const DeviceType& type) {
  Json rates = Json::object();
  for (const auto& [precision, rate] : type.flop_per_s) {
    rates[std::string(name_of(precision))] = rate.to_json();
  }
  Json out = {{"kind", name_in(kDeviceKinds, type.kind)},
              {"memory_bytes", type.memory_bytes.to_json()},
              {"memory_bytes_per_s", type.memory_bytes_per_s.to_json()},
              {"flop_per_s", rates}};
  if (type.host_bytes_per_s) {
    out["host_bytes_per_s"] = type.host_bytes_per_s->to_json();
  }
  if (type.price_usd_per_hour) {
    out["price_usd_per_hour"] = type.price_usd_per_hour->to_json();
  }
  for (const auto& [name, measurement] : type.measurements) {
    out["measurements"][name] = {{"unit", measurement.unit}, {"quantity", measurement.quantity.to_json()}};
  }
  return out;
}

Node parse_node(const JsonView& view) {
  view.allow_only(
      {"name", "region", "zone", "device_type", "devices", "host_memory_bytes", "link", "network_bytes_per_s"});
  Node out;
  out.name = view.required("name").text();
  out.region = view.required("region").text();
  out.zone = view.required("zone").text();
  out.device_type = view.required("device_type").text();
  out.devices = view.required("devices").count(1);
  if (const auto memory = view.optional("host_memory_bytes")) {
    out.host_memory_bytes = memory->positive();
  }
  if (const auto link = view.optional("link")) {
    out.link = LinkRate::parse(*link);
  }
  if (const auto network = view.optional("network_bytes_per_s")) {
    out.network_bytes_per_s = network->positive();
  }
  return out;
}

Json to_json(const Node& node) {
  Json out = {{"name", node.name},
              {"region", node.region},
              {"zone", node.zone},
              {"device_type", node.device_type},
              {"devices", node.devices}};
  if (node.host_memory_bytes) {
    out["host_memory_bytes"] = *node.host_memory_bytes;
  }
  if (node.link) {
    out["link"] = node.link->to_json();
  }
  if (node.network_bytes_per_s) {
    out["network_bytes_per_s"] = *node.network_bytes_per_s;
  }
  return out;
}

std::map<LinkLevel, LinkRate> parse_levels(const JsonView& view) {
  view.allow_only({kLevels[0], kLevels[1], kLevels[2], kLevels[3]});
  std::map<LinkLevel, LinkRate> out;
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    if (const auto rate = view.optional(kLevels[level])) {
      out.emplace(static_cast<LinkLevel>(level), LinkRate::parse(*rate));
    }
  }
  return out;
}

LinkRate parse_rate(const JsonView& view) {
  LinkRate rate{Quantity::parse(view.required("latency_s"), true),
                Quantity::parse(view.required("bytes_per_s"))};
  if (const auto capacity = view.optional("capacity_bytes_per_s"))
    rate.capacity_bytes_per_s = Quantity::parse(*capacity);
  return rate;
}

LinkException parse_exception(const JsonView& view) {
  view.allow_only({"scope", "from", "to", "latency_s", "bytes_per_s", "capacity_bytes_per_s", "both_ways"});
  LinkException out;
  out.scope = parse_name<LinkScope>(view.required("scope"), kScopes);
  out.from = view.required("from").text();
  out.to = view.required("to").text();
  out.rate = parse_rate(view);
  if (const auto both_ways = view.optional("both_ways")) {
    out.both_ways = both_ways->flag();
  }
  return out;
}

Json to_json(const LinkException& exception) {
  Json out = {{"scope", name_in(kScopes, exception.scope)}, {"from", exception.from}, {"to", exception.to}};
  out.update(exception.rate.to_json());
  out["both_ways"] = exception.both_ways;
  return out;
}

}  // namespace

LinkRate LinkRate::parse(const JsonView& view) {
  view.allow_only({"latency_s", "bytes_per_s", "capacity_bytes_per_s"});
  return parse_rate(view);
}

Json LinkRate::to_json() const {
  Json out = {{"latency_s", latency_s.to_json()}, {"bytes_per_s", bytes_per_s.to_json()}};
  if (capacity_bytes_per_s) out["capacity_bytes_per_s"] = capacity_bytes_per_s->to_json();
  return out;
}

Cluster Cluster::parse(const JsonView& view) {
  view.allow_only({"name", "device_types", "nodes", "links", "link_exceptions", "environment"});
  std::string name = view.required("name").text();
  std::map<std::string, DeviceType> types;
  for (const auto& [type, member] : view.required("device_types").members()) {
    types.emplace(type, parse_device_type(member));
  }
  std::vector<Node> nodes;
  for (const JsonView& node : view.required("nodes").items()) {
    nodes.push_back(parse_node(node));
  }
  auto levels = parse_levels(view.required("links"));
  std::vector<LinkException> exceptions;
  if (const auto members = view.optional("link_exceptions")) {
    for (const JsonView& exception : members->items()) {
      exceptions.push_back(parse_exception(exception));
    }
  }
  std::map<std::string, std::string> environment;
  if (const auto members = view.optional("environment")) {
    for (const auto& [setting, value] : members->members()) {
      environment.emplace(setting, value.any_text());
    }
  }
  return within(view.path(), [&] {
    Cluster cluster(std::move(name), std::move(types), std::move(nodes), std::move(levels),
                    std::move(exceptions));
    cluster.set_environment(std::move(environment));
    return cluster;
  });
}

Json Cluster::to_json() const {
  Json out = {{"name", name_}};
  out["device_types"] = Json::object();
  for (const auto& [type, properties] : device_types_) {
    out["device_types"][type] = sextant::to_json(properties);
  }
  out["nodes"] = Json::array();
  for (const Node& node : nodes_) {
    out["nodes"].push_back(sextant::to_json(node));
  }
  out["links"] = Json::object();
  for (const auto& [level, rate] : levels_) {
    out["links"][std::string(name_in(kLevels, level))] = rate.to_json();
  }
  if (!exceptions_.empty()) {
    out["link_exceptions"] = Json::array();
    for (const LinkException& exception : exceptions_) {
      out["link_exceptions"].push_back(sextant::to_json(exception));
    }
  }
  if (!environment_.empty()) {
    out["environment"] = environment_;
  }
  return out;
}

}  // namespace sextant
