// Reading and writing of sextant/cluster.h.
#include "documents/field_tables.h"
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
    out.emplace(parse_precision(precision), amount().read(rate));
  }
  if (out.empty()) {
    view.fail("expected the rate of at least one precision");
  }
  return out;
}

const Fields<DeviceMeasurement>& measurement_fields() {
  static const Fields<DeviceMeasurement> fields{
      required("unit", &DeviceMeasurement::unit, one_of({kUnits.begin(), kUnits.end()})),
      required("quantity", &DeviceMeasurement::quantity, quantity()),
  };
  return fields;
}

Kind<std::map<Precision, Quantity>> flop_rates() {
  return {parse_flop_rates,
          [](const std::map<Precision, Quantity>& rates) {
            Json out = Json::object();
            for (const auto& [precision, rate] : rates) out[name_of(precision)] = rate.to_json();
            return out;
          },
          {{"type", "object"},
           {"minProperties", 1},
           {"propertyNames", precision().schema},
           {"additionalProperties", quantity().schema}}};
}

std::map<LinkLevel, LinkRate> parse_levels(const JsonView& view) {
  view.allow_only({kLevels.begin(), kLevels.end()});
  std::map<LinkLevel, LinkRate> out;
  for (std::size_t level = 0; level < kLevels.size(); ++level) {
    if (const auto rate = view.optional(kLevels[level])) {
      out.emplace(static_cast<LinkLevel>(level), LinkRate::parse(*rate));
    }
  }
  return out;
}

LinkException parse_exception(const JsonView& view) {
  view.allow_only({"scope", "from", "to", "latency_s", "bytes_per_s", "capacity_bytes_per_s", "both_ways"});
  LinkException out;
  out.scope = parse_name<LinkScope>(view.required("scope"), kScopes);
  out.from = view.required("from").text();
  out.to = view.required("to").text();
  for (const Field<LinkRate>& field : link_fields()) field.read(view, out.rate);
  if (const auto both_ways = view.optional("both_ways")) {
    out.both_ways = both_ways->flag();
  }
  return out;
}

Json exception_to_json(const LinkException& exception) {
  Json out = {{"scope", name_in(kScopes, exception.scope)}, {"from", exception.from}, {"to", exception.to}};
  out.update(exception.rate.to_json());
  out["both_ways"] = exception.both_ways;
  return out;
}

Kind<std::vector<LinkException>> link_exceptions() {
  return list_of(Kind<LinkException>{parse_exception, exception_to_json, {{"$ref", "#/$defs/link_exception"}}});
}

}  // namespace

const Fields<LinkRate>& documents::link_fields() {
  static const Fields<LinkRate> fields{
      required("latency_s", &LinkRate::latency_s, quantity_or_zero(), "Seconds before the first byte arrives."),
      required("bytes_per_s", &LinkRate::bytes_per_s, amount(),
               "Bytes per second between two devices on their own, one direction."),
      optional("capacity_bytes_per_s", &LinkRate::capacity_bytes_per_s, amount(),
               "Rate of all transfers together between the two nodes, zones or regions, one direction; absent: "
               "never the limit. Not for links within a node or between two devices."),
  };
  return fields;
}

const Fields<DeviceType>& documents::device_type_fields() {
  static const Fields<DeviceType> fields{
      required("kind", &DeviceType::kind, one_of<DeviceKind>(kDeviceKinds)),
      required("memory_bytes", &DeviceType::memory_bytes, amount(), "Capacity in bytes."),
      required("memory_bytes_per_s", &DeviceType::memory_bytes_per_s, amount(),
               "Rate of reading device memory, bytes per second."),
      required("flop_per_s", &DeviceType::flop_per_s, flop_rates(),
               "Rate of dense matrix multiplication by precision, floating point operations per second."),
      optional("host_bytes_per_s", &DeviceType::host_bytes_per_s, amount(),
               "Rate of the link to the host, one direction; needed if a plan offloads."),
      optional("price_usd_per_hour", &DeviceType::price_usd_per_hour, quantity_or_zero(),
               "US dollars per hour of one device."),
      optional("measurements", &DeviceType::measurements, by_name(object(measurement_fields())),
               "Other measurements of the device, by probe: launch/kernel, memory/copy, "
               "attention/decode/64x4096, gemm/bf16/<model>/qkv. The cost model does not use them."),
  };
  return fields;
}

const Fields<Node>& documents::node_fields() {
  static const Fields<Node> fields{
      required("name", &Node::name, text()).described_by_hand(),
      required("region", &Node::region, text()),
      required("zone", &Node::zone, text(), "A zone lies in one region."),
      required("device_type", &Node::device_type, text(), "A member of device_types."),
      required("devices", &Node::devices, count()).described_by_hand(),
      optional("host_memory_bytes", &Node::host_memory_bytes, positive(), "Bytes of the host's memory."),
      optional("link", &Node::link, part<LinkRate>("#/$defs/link"), "Link between devices of this node."),
      optional("network_bytes_per_s", &Node::network_bytes_per_s, positive(),
               "Rate of all adapters of the node together, one direction; absent: never the limit."),
      defaulted("rented_whole", &Node::rented_whole, flag(),
                "Whether a plan that uses one device of the node pays for all, as for an instance of a cloud."),
  };
  return fields;
}

LinkRate LinkRate::parse(const JsonView& view) { return parse_fields(view, link_fields()); }

Json LinkRate::to_json() const { return fields_to_json(*this, link_fields()); }

Cluster Cluster::parse(const JsonView& view) {
  view.allow_only({"name", "device_types", "nodes", "links", "link_exceptions", "environment"});
  std::string name = view.required("name").text();
  auto types = by_name(object(device_type_fields())).read(view.required("device_types"));
  auto nodes = list_of(object(node_fields())).read(view.required("nodes"));
  auto levels = parse_levels(view.required("links"));
  std::vector<LinkException> exceptions;
  if (const auto members = view.optional("link_exceptions")) {
    exceptions = link_exceptions().read(*members);
  }
  std::map<std::string, std::string> environment;
  if (const auto members = view.optional("environment")) {
    environment = by_name(any_text()).read(*members);
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
  out["device_types"] = by_name(object(device_type_fields())).write(device_types_);
  out["nodes"] = list_of(object(node_fields())).write(nodes_);
  out["links"] = Json::object();
  for (const auto& [level, rate] : levels_) {
    out["links"][std::string(name_in(kLevels, level))] = rate.to_json();
  }
  if (!exceptions_.empty()) out["link_exceptions"] = link_exceptions().write(exceptions_);
  if (!environment_.empty()) out["environment"] = environment_;
  return out;
}

}  // namespace sextant
