// A host's ways to others: ports of InfiniBand and RoCE, and network interfaces.
#pragma once

#include <string>
#include <vector>

#include "probes/harness/system_files.h"
#include "sextant/json.h"

namespace sextant {

struct NetworkAdapter {
  std::string name;      // "mlx5_0:1", "eth0"
  bool is_rdma = false;  // InfiniBand, RoCE, EFA; else an interface for sockets
  double bytes_per_s = 0;

  friend bool operator==(const NetworkAdapter&, const NetworkAdapter&) = default;
  static NetworkAdapter parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Active ports of /sys/class/infiniband, and those interfaces of /sys/class/net that are up, belong to a device
// and say their speed (virtual ones say any).
[[nodiscard]] std::vector<NetworkAdapter> read_network_adapters(const SystemFiles& files);

// The fastest of one kind; null when there is none.
[[nodiscard]] const NetworkAdapter* fastest(const std::vector<NetworkAdapter>& adapters, bool is_rdma);

}  // namespace sextant
