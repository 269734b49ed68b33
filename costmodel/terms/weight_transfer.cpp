#include "costmodel/terms/weight_transfer.h"

#include <map>
#include <tuple>

namespace sextant::terms {
namespace {

// The trainers that tell links apart: those of one node, or of one class of nodes in a zone, reach other nodes
// alike.
class Senders {
 public:
  Senders(const Cluster& cluster, std::span<const DeviceId> training) : cluster_(cluster) {
    std::set<std::pair<int, int>> classes;
    for (const DeviceId device : training) {
      const NodeId node = cluster.node_of(device);
      const bool is_first_on_node = of_node_.try_emplace(node, device).second;
      if (cluster.has_links_of_devices()) {
        far_.push_back(device);
      } else if (cluster.has_zonal_links()) {
        if (classes.insert({cluster.zone_number(node), cluster.node_class(node)}).second)
          far_.push_back(device);
      } else if (is_first_on_node) {
        far_.push_back(device);
      }
    }
  }

  [[nodiscard]] bool are_on(NodeId node) const { return of_node_.contains(node); }

  [[nodiscard]] std::vector<DeviceId> to(NodeId node) const {
    std::vector<DeviceId> senders = far_;
    const auto near = of_node_.find(node);
    if (near != of_node_.end() && std::find(far_.begin(), far_.end(), near->second) == far_.end())
      senders.push_back(near->second);
    return senders;
  }

 private:
  const Cluster& cluster_;
  std::map<NodeId, DeviceId> of_node_;
  std::vector<DeviceId> far_;
};

}  // namespace

std::vector<ReceivingPlace> receiving_places(const Cluster& cluster, std::span<const DeviceId> training,
                                             std::span<const DeviceId> generation) {
  const Senders senders(cluster, training);
  // Zone, class and node, or device, as far as they matter.
  using Key = std::tuple<int, int, int>;
  std::map<Key, std::size_t> place_of;
  std::vector<ReceivingPlace> places;
  NodeId last_node{-1};
  double on_last_node = 0;
  for (const DeviceId device : generation) {
    if (std::binary_search(training.begin(), training.end(), device)) continue;
    const NodeId node = cluster.node_of(device);
    const bool has_trainers = senders.are_on(node);
    Key key{-1, -1, node.value};
    if (cluster.has_links_of_devices()) {
      key = {-2, -2, device.value};
    } else if (cluster.has_zonal_links() && !has_trainers) {
      key = {cluster.zone_number(node), cluster.node_class(node), -1};
    }
    const auto [found, is_new] = place_of.try_emplace(key, places.size());
    if (is_new) places.push_back({device, senders.to(node), 0, 0, has_trainers});
    ReceivingPlace& place = places[found->second];
    on_last_node = node == last_node ? on_last_node + 1 : 1;
    last_node = node;
    place.devices += 1;
    place.max_per_node = std::max(place.max_per_node, on_last_node);
  }
  return places;
}

double network_of_nodes(const Cluster& cluster, std::span<const DeviceId> devices) {
  double sum = 0;
  std::set<NodeId> nodes;
  for (const DeviceId device : devices) {
    const NodeId node = cluster.node_of(device);
    if (!nodes.insert(node).second) continue;
    const auto& network = cluster.nodes()[node.index()].network_bytes_per_s;
    if (!network) return std::numeric_limits<double>::infinity();
    sum += *network;
  }
  return sum;
}

}  // namespace sextant::terms
