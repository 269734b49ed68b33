#include "probes/topology/network_gap.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "core/units.h"

namespace sextant::inline probes {
namespace {

bool is_between_hosts(const LinkEvidence& evidence) {
  return evidence.is_nccl && evidence.a->host != evidence.b->host;
}

bool have_rdma(const LinkEvidence& evidence) {
  return fastest(evidence.a->adapters, true) != nullptr && fastest(evidence.b->adapters, true) != nullptr;
}

bool is_rdma_off(const LinkEvidence& evidence) {
  const std::string disabled = evidence.setting("NCCL_IB_DISABLE");
  return !disabled.empty() && disabled != "0";
}

bool is_socket(std::string net) {
  std::transform(net.begin(), net.end(), net.begin(), [](unsigned char c) { return std::tolower(c); });
  return net == "socket";
}

// Whether a list, as NCCL reads it, chooses an adapter: prefixes; "=" exact names; "^" all but these. A port
// follows an adapter's name.
bool is_chosen(std::string list, const std::string& adapter) {
  const bool is_excluding = list.starts_with('^');
  if (is_excluding) list.erase(0, 1);
  const bool is_exact = list.starts_with('=');
  if (is_exact) list.erase(0, 1);
  std::istringstream names(list);
  bool is_named = false;
  for (std::string name; std::getline(names, name, ',');) {
    const std::string plain =
        name.find(':') == std::string::npos ? adapter.substr(0, adapter.find(':')) : adapter;
    is_named = is_named || (is_exact ? plain == name : plain.starts_with(name));
  }
  return is_named != is_excluding;
}

std::string not_the_fastest(const LinkEvidence& evidence, const std::string& name, bool is_rdma) {
  const std::string list = evidence.setting(name);
  if (!is_between_hosts(evidence) || list.empty()) return "";
  for (const GpuPlace* place : {evidence.a, evidence.b}) {
    const NetworkAdapter* best = fastest(place->adapters, is_rdma);
    if (best == nullptr || is_chosen(list, best->name)) continue;
    return name + "=" + list + ": NCCL does not take " + best->name + ", the fastest of " + place->host + " (" +
           format_bytes_per_s(best->bytes_per_s) + ")";
  }
  return "";
}

}  // namespace

std::string rdma_disabled(const LinkEvidence& evidence) {
  if (!is_between_hosts(evidence) || !have_rdma(evidence) || !is_rdma_off(evidence)) return "";
  return "NCCL_IB_DISABLE=" + evidence.setting("NCCL_IB_DISABLE") +
         ": NCCL goes through sockets, not through InfiniBand or RoCE";
}

std::string sockets_chosen(const LinkEvidence& evidence) {
  const std::string net = evidence.setting("NCCL_NET");
  if (!is_between_hosts(evidence) || !is_socket(net)) return "";
  return "NCCL_NET=" + net + ": NCCL goes through sockets";
}

std::string other_adapter_chosen(const LinkEvidence& evidence) {
  return not_the_fastest(evidence, "NCCL_IB_HCA", true);
}

// Interfaces carry data only where NCCL goes through sockets.
std::string other_interface_chosen(const LinkEvidence& evidence) {
  const bool through_sockets =
      !have_rdma(evidence) || is_rdma_off(evidence) || is_socket(evidence.setting("NCCL_NET"));
  return through_sockets ? not_the_fastest(evidence, "NCCL_SOCKET_IFNAME", false) : "";
}

std::string no_direct_rdma(const LinkEvidence& evidence) {
  const std::string level = evidence.setting("NCCL_NET_GDR_LEVEL");
  if (!is_between_hosts(evidence) || !have_rdma(evidence) || (level != "LOC" && level != "0")) return "";
  return "NCCL_NET_GDR_LEVEL=" + level + ": without GPUDirect RDMA all goes through the host's memory";
}

std::string no_rdma_adapter(const LinkEvidence& evidence) {
  if (!is_between_hosts(evidence) || have_rdma(evidence)) return "";
  return "no InfiniBand or RoCE port is active on both hosts: NCCL goes through sockets, a stream of which is "
         "slower than the interface";
}

}  // namespace sextant::inline probes
