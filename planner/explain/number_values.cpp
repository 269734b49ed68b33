#include "planner/explain/number_values.h"

#include <algorithm>
#include <vector>

namespace sextant::inline planner {
namespace {

constexpr double kNormal95 = 1.96;  // spreads are half of 95 % intervals

void add_link(const LinkRate& rate, const HardwareNumber& number, std::vector<Quantity>& quantities) {
  if (number.name == "link_latency_s") quantities.push_back(rate.latency_s);
  if (number.name == "link_bytes_per_s") quantities.push_back(rate.bytes_per_s);
  if (number.name == "link_capacity_bytes_per_s" && rate.capacity_bytes_per_s)
    quantities.push_back(*rate.capacity_bytes_per_s);
}

void add_device(const DeviceType& type, const HardwareNumber& number, Precision precision,
                std::vector<Quantity>& quantities) {
  if (number.name == "flop_per_s") {
    const auto rate = type.flop_per_s.find(precision);
    if (rate != type.flop_per_s.end()) quantities.push_back(rate->second);
  }
  if (number.name == "memory_bytes_per_s") quantities.push_back(type.memory_bytes_per_s);
  if (number.name == "memory_bytes") quantities.push_back(type.memory_bytes);
  if (number.name == "host_bytes_per_s" && type.host_bytes_per_s) quantities.push_back(*type.host_bytes_per_s);
}

std::string_view level_name(LinkLevel level) {
  constexpr std::array<std::string_view, kLinkLevelCount> kNames{"within_node", "within_zone", "within_region",
                                                                 "between_regions"};
  return kNames.at(static_cast<std::size_t>(level));
}

std::string exception_name(LinkScope scope) {
  constexpr std::array<std::string_view, kLinkScopeCount> kNames{"device", "node", "zone", "region"};
  return "exception of " + std::string(kNames.at(static_cast<std::size_t>(scope)));
}

std::vector<Quantity> quantities_of(const Cluster& cluster, const HardwareNumber& number, Precision precision) {
  std::vector<Quantity> quantities;
  const auto type = cluster.device_types().find(number.of);
  if (type != cluster.device_types().end()) add_device(type->second, number, precision, quantities);
  for (const auto& [level, rate] : cluster.levels()) {
    if (number.of == level_name(level)) add_link(rate, number, quantities);
  }
  for (const Node& node : cluster.nodes()) {
    if (node.link && number.of == level_name(LinkLevel::within_node)) add_link(*node.link, number, quantities);
    if (number.name == "network_bytes_per_s" && node.device_type == number.of && node.network_bytes_per_s)
      quantities.push_back(assumed(*node.network_bytes_per_s));
  }
  for (const LinkException& exception : cluster.exceptions()) {
    if (number.of == exception_name(exception.scope)) add_link(exception.rate, number, quantities);
  }
  return quantities;
}

}  // namespace

KnownNumber value_of(const Cluster& cluster, const HardwareNumber& number, Precision precision) {
  KnownNumber known;
  const std::vector<Quantity> quantities = quantities_of(cluster, number, precision);
  if (!quantities.empty()) known.value = quantities.front().value;
  for (const Quantity& quantity : quantities) {
    if (quantity.source != Source::measured || quantity.spread_fraction.value_or(0) <= 0) continue;
    known.standard_error = std::max(known.standard_error.value_or(0), *quantity.spread_fraction / kNormal95);
  }
  return known;
}

}  // namespace sextant::inline planner
