#include "probes/topology/network_adapter.h"

#include <sstream>

#include "core/json_value.h"
#include "core/units.h"

namespace sextant::inline probes {
namespace {

constexpr const char* kRdma = "/sys/class/infiniband/";
constexpr const char* kNet = "/sys/class/net/";

// "400 Gb/sec (4X NDR)" in bytes/s; 0 when it is no rate.
double rate_bytes_per_s(const std::string& text) {
  std::istringstream words(text);
  double rate = 0;
  std::string unit;
  words >> rate >> unit;
  return unit == "Gb/sec" ? rate * 1e9 / kBitsPerByte : 0;
}

void add_rdma(const SystemFiles& files, std::vector<NetworkAdapter>& adapters) {
  for (const std::string& device : files.list(kRdma)) {
    for (const std::string& port : files.list(kRdma + device + "/ports")) {
      const std::string folder = kRdma + device + "/ports/" + port;
      const double rate = rate_bytes_per_s(files.text(folder + "/rate").value_or(""));
      const bool is_active = files.text(folder + "/state").value_or("").find("ACTIVE") != std::string::npos;
      if (is_active && rate > 0) adapters.push_back({device + ":" + port, true, rate});
    }
  }
}

void add_interfaces(const SystemFiles& files, std::vector<NetworkAdapter>& adapters) {
  for (const std::string& name : files.list(kNet)) {
    const double megabits = files.number(kNet + name + "/speed").value_or(-1);
    const bool is_up = files.text(kNet + name + "/operstate").value_or("") == "up";
    if (!is_up || megabits <= 0 || !files.link_target(kNet + name + "/device")) continue;
    adapters.push_back({name, false, megabits * 1e6 / kBitsPerByte});
  }
}

}  // namespace

std::vector<NetworkAdapter> read_network_adapters(const SystemFiles& files) {
  std::vector<NetworkAdapter> adapters;
  add_rdma(files, adapters);
  add_interfaces(files, adapters);
  return adapters;
}

const NetworkAdapter* fastest(const std::vector<NetworkAdapter>& adapters, bool is_rdma) {
  const NetworkAdapter* best = nullptr;
  for (const NetworkAdapter& adapter : adapters) {
    if (adapter.is_rdma != is_rdma) continue;
    if (best == nullptr || adapter.bytes_per_s > best->bytes_per_s) best = &adapter;
  }
  return best;
}

NetworkAdapter NetworkAdapter::parse(const JsonView& view) {
  return {view.required("name").text(), view.required("is_rdma").flag(),
          view.required("bytes_per_s").positive()};
}

Json NetworkAdapter::to_json() const {
  return {{"name", name}, {"is_rdma", is_rdma}, {"bytes_per_s", bytes_per_s}};
}

}  // namespace sextant::inline probes
