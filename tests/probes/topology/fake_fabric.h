// A driver whose answers a test sets.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "probes/topology/gpu_fabric.h"

namespace sextant {

class FakeFabric final : public GpuFabric {
 public:
  [[nodiscard]] std::string absence() const override { return absence_; }
  [[nodiscard]] std::vector<NvLinkEnd> links(const std::string& bus_id) override { return links_[bus_id]; }
  [[nodiscard]] PeerStatus peer_status(const std::string& from, const std::string& to) override {
    const auto found = status_.find({from, to});
    return found == status_.end() ? PeerStatus::ok : found->second;
  }

  std::string absence_;
  std::map<std::string, std::vector<NvLinkEnd>> links_;
  std::map<std::pair<std::string, std::string>, PeerStatus> status_;
};

[[nodiscard]] inline std::vector<NvLinkEnd> switch_links(int active, int down = 0) {
  std::vector<NvLinkEnd> links(static_cast<std::size_t>(active), {true, NvLinkRemote::nvswitch, ""});
  links.resize(links.size() + static_cast<std::size_t>(down));
  return links;
}

}  // namespace sextant
