#include "costmodel/hardware_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "sextant/predict.h"

namespace sextant::inline costmodel {
namespace {

constexpr std::array<std::string_view, kLinkLevelCount> kLevels{"within_node", "within_zone", "within_region",
                                                                "between_regions"};
constexpr std::array<std::string_view, kLinkScopeCount> kExceptions{"exception of device", "exception of node",
                                                                    "exception of zone", "exception of region"};

void scale(LinkRate& rate, const HardwareNumber& number, double factor) {
  if (number.name == "link_latency_s") rate.latency_s.value *= factor;
  if (number.name == "link_bytes_per_s") rate.bytes_per_s.value *= factor;
  if (number.name == "link_capacity_bytes_per_s" && rate.capacity_bytes_per_s)
    rate.capacity_bytes_per_s->value *= factor;
}

void scale(DeviceType& type, const HardwareNumber& number, double factor) {
  if (number.name == "flop_per_s") {
    for (auto& [precision, rate] : type.flop_per_s) rate.value *= factor;
  } else if (number.name == "memory_bytes_per_s") {
    type.memory_bytes_per_s.value *= factor;
  } else if (number.name == "memory_bytes") {
    type.memory_bytes.value *= factor;
  } else if (number.name == "host_bytes_per_s" && type.host_bytes_per_s) {
    type.host_bytes_per_s->value *= factor;
  }
}

}  // namespace

std::vector<HardwareNumber> hardware_numbers(const Cluster& cluster) {
  std::vector<HardwareNumber> numbers;
  std::set<std::string> with_network;
  bool own_links = false;
  for (const Node& node : cluster.nodes()) {
    if (node.network_bytes_per_s) with_network.insert(node.device_type);
    own_links = own_links || node.link.has_value();
  }
  for (const auto& [name, type] : cluster.device_types()) {
    numbers.push_back({"flop_per_s", name});
    numbers.push_back({"memory_bytes_per_s", name});
    if (type.host_bytes_per_s) numbers.push_back({"host_bytes_per_s", name});
    if (with_network.contains(name)) numbers.push_back({"network_bytes_per_s", name});
  }
  std::set<std::string> links, trunks;
  const auto add = [&](std::string_view of, const LinkRate& rate) {
    links.emplace(of);
    if (rate.capacity_bytes_per_s) trunks.emplace(of);
  };
  for (const auto& [level, rate] : cluster.levels()) add(kLevels[static_cast<std::size_t>(level)], rate);
  if (own_links) links.emplace(kLevels[0]);
  for (const LinkException& exception : cluster.exceptions())
    add(kExceptions[static_cast<std::size_t>(exception.scope)], exception.rate);
  for (const std::string& of : links) {
    numbers.push_back({"link_latency_s", of});
    numbers.push_back({"link_bytes_per_s", of});
    if (trunks.contains(of)) numbers.push_back({"link_capacity_bytes_per_s", of});
  }
  return numbers;
}

Cluster with_scaled(const Cluster& cluster, const HardwareNumber& number, double factor) {
  std::map<std::string, DeviceType> types = cluster.device_types();
  if (const auto type = types.find(number.of); type != types.end()) scale(type->second, number, factor);
  std::vector<Node> nodes = cluster.nodes();
  for (Node& node : nodes) {
    if (node.link && number.of == kLevels[0]) scale(*node.link, number, factor);
    const bool network = number.name == "network_bytes_per_s" && node.device_type == number.of;
    if (network && node.network_bytes_per_s) *node.network_bytes_per_s *= factor;
  }
  std::map<LinkLevel, LinkRate> levels = cluster.levels();
  for (auto& [level, rate] : levels) {
    if (number.of == kLevels[static_cast<std::size_t>(level)]) scale(rate, number, factor);
  }
  std::vector<LinkException> exceptions = cluster.exceptions();
  for (LinkException& exception : exceptions) {
    if (number.of == kExceptions[static_cast<std::size_t>(exception.scope)])
      scale(exception.rate, number, factor);
  }
  return Cluster(cluster.name(), std::move(types), std::move(nodes), std::move(levels), std::move(exceptions));
}

std::vector<Sensitivity> hardware_sensitivities(const Cluster& cluster, const Workflow& workflow,
                                                const Plan& plan, const Coefficients& coefficients,
                                                std::string_view framework) {
  constexpr double kStep = 1e-3;  // of the logarithm
  constexpr double kNothing = 1e-9;
  std::vector<Sensitivity> sensitivities;
  for (const HardwareNumber& number : hardware_numbers(cluster)) {
    const auto at = [&](double step) {
      const Cluster changed = with_scaled(cluster, number, std::exp(step));
      return std::log(predict(changed, workflow, plan, coefficients, framework).iteration_s);
    };
    const double elasticity = (at(kStep) - at(-kStep)) / (2 * kStep);
    if (std::abs(elasticity) > kNothing) {
      sensitivities.push_back({number.name, number.of, true, elasticity, std::nullopt});
    }
  }
  std::stable_sort(sensitivities.begin(), sensitivities.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return std::abs(a.elasticity) > std::abs(b.elasticity);
  });
  return sensitivities;
}

}  // namespace sextant::inline costmodel
