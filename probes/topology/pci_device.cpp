#include "probes/topology/pci_device.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

constexpr const char* kDevices = "/sys/bus/pci/devices/";
constexpr double kTransfersPerGiga = 1e9;
// The value that the kernel writes for a width that it could not read.
constexpr int kUnknownWidth = 255;

// "32.0 GT/s PCIe"; 0 for "Unknown".
double read_speed(const SystemFiles& files, const std::string& file) {
  return kTransfersPerGiga * files.number(file).value_or(0);
}

int read_width(const SystemFiles& files, const std::string& file) {
  const int width = static_cast<int>(files.number(file).value_or(0));
  return width == kUnknownWidth ? 0 : width;
}

// The smaller, where both are known.
template <typename T>
T lesser(T a, T b) {
  return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
}

PciLink read_link(const SystemFiles& files, const std::string& above, const std::string& below) {
  PciLink link;
  const std::string upper = kDevices + above;
  const std::string lower = kDevices + below;
  link.transfers_per_s =
      lesser(read_speed(files, upper + "/max_link_speed"), read_speed(files, lower + "/max_link_speed"));
  link.width =
      lesser(read_width(files, upper + "/max_link_width"), read_width(files, lower + "/max_link_width"));
  link.transfers_per_s_now = read_speed(files, lower + "/current_link_speed");
  link.width_now = read_width(files, lower + "/current_link_width");
  return link;
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
}

std::optional<int> read_iommu_group(const SystemFiles& files, const std::string& folder) {
  const auto target = files.link_target(folder + "/iommu_group");
  if (!target) return std::nullopt;
  return std::atoi(split_path(*target).back().c_str());
}

}  // namespace

std::string normal_bus_id(std::string bus_id) {
  std::transform(bus_id.begin(), bus_id.end(), bus_id.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t domain = bus_id.find(':');
  constexpr std::size_t kDigits = 4;
  while (domain != std::string::npos && bus_id.find(':') > kDigits && bus_id.front() == '0') bus_id.erase(0, 1);
  return bus_id;
}

std::optional<PciDevice> read_pci_device(const SystemFiles& files, const std::string& bus_id) {
  PciDevice device;
  device.bus_id = normal_bus_id(bus_id);
  const std::string folder = kDevices + device.bus_id;
  // "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0"
  const auto target = files.link_target(folder);
  if (!target) return std::nullopt;
  for (const std::string& part : split_path(*target)) {
    if (part.starts_with("pci")) {
      device.host_bridge = part;
      device.bridges.clear();
    } else if (!device.host_bridge.empty()) {
      device.bridges.push_back(part);
    }
  }
  // A port that faces down has its link below it, one that faces up and the device above: the ports of one
  // switch have none between them.
  for (std::size_t at = 1; at < device.bridges.size(); at += 2) {
    device.links.push_back(read_link(files, device.bridges[at - 1], device.bridges[at]));
  }
  if (device.bridges.size() == 1) device.links.push_back(read_link(files, device.bus_id, device.bus_id));
  if (!device.bridges.empty()) device.bridges.pop_back();  // the device itself
  const double node = files.number(folder + "/numa_node").value_or(-1);
  if (node >= 0) device.numa_node = static_cast<int>(node);
  device.iommu_group = read_iommu_group(files, folder);
  return device;
}

std::size_t shared_bridges(const PciDevice& a, const PciDevice& b) {
  if (a.host_bridge != b.host_bridge) return 0;
  const std::size_t shorter = std::min(a.bridges.size(), b.bridges.size());
  std::size_t shared = 0;
  while (shared < shorter && a.bridges[shared] == b.bridges[shared]) ++shared;
  return shared;
}

PciDevice PciDevice::parse(const JsonView& view) {
  PciDevice device;
  device.bus_id = view.required("bus_id").text();
  device.host_bridge = view.required("host_bridge").any_text();
  for (const JsonView& bridge : view.required("bridges").items()) device.bridges.push_back(bridge.text());
  for (const JsonView& link : view.required("links").items()) {
    device.links.push_back({link.required("transfers_per_s").non_negative(),
                            link.required("transfers_per_s_now").non_negative(), link.required("width").count(),
                            link.required("width_now").count()});
  }
  if (const auto node = view.optional("numa_node")) device.numa_node = node->count();
  if (const auto group = view.optional("iommu_group")) device.iommu_group = group->count();
  return device;
}

std::vector<PciLink> PciDevice::links_below(std::size_t shared) const {
  // The n-th link ends in bridge 2 n + 1.
  const std::size_t first = std::min(shared / 2, links.size());
  return {links.begin() + static_cast<std::ptrdiff_t>(first), links.end()};
}

Json PciDevice::to_json() const {
  Json json = {{"bus_id", bus_id}, {"host_bridge", host_bridge}, {"bridges", bridges}};
  json["links"] = Json::array();
  for (const PciLink& link : links) {
    json["links"].push_back({{"transfers_per_s", link.transfers_per_s},
                             {"transfers_per_s_now", link.transfers_per_s_now},
                             {"width", link.width},
                             {"width_now", link.width_now}});
  }
  if (numa_node) json["numa_node"] = *numa_node;
  if (iommu_group) json["iommu_group"] = *iommu_group;
  return json;
}

}  // namespace sextant::inline probes
