// A host's network adapters: ports of InfiniBand and RoCE, and network interfaces.
#pragma once

#include <string>
#include <vector>

#include "probes/harness/system_files.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct NetworkAdapter {
  std::string name;      // "mlx5_0:1", "eth0"
  bool is_rdma = false;  // InfiniBand, RoCE, EFA; else an interface for sockets
  double bytes_per_s = 0;

  friend bool operator==(const NetworkAdapter&, const NetworkAdapter&) = default;
  static NetworkAdapter parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Returns active ports of /sys/class/infiniband, and the interfaces of /sys/class/net that are up, belong to a
// device and report their speed (virtual ones report any).
[[nodiscard]] std::vector<NetworkAdapter> read_network_adapters(const SystemFiles& files);

// Returns the fastest adapter of one kind; nullptr if there is none.
[[nodiscard]] const NetworkAdapter* fastest(const std::vector<NetworkAdapter>& adapters, bool is_rdma);

}  // namespace sextant::inline probes
