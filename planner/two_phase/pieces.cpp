#include "planner/two_phase/pieces.h"

#include <algorithm>

namespace sextant::inline planner {

int machine_class_of(const Cluster& cluster, NodeId machine) {
  return cluster.has_uniform_links() ? cluster.node_class(machine) : machine.value;
}

std::vector<PieceClass> pieces_of(const Cluster& cluster, const std::vector<DeviceId>& devices) {
  std::vector<PieceClass> classes;
  for (std::size_t first = 0; first < devices.size();) {
    const NodeId machine = cluster.node_of(devices[first]);
    std::size_t end = first;
    while (end < devices.size() && cluster.node_of(devices[end]) == machine) ++end;
    const int machine_class = machine_class_of(cluster, machine), size = static_cast<int>(end - first);
    auto found = std::find_if(classes.begin(), classes.end(), [&](const PieceClass& of_class) {
      return of_class.machine_class == machine_class && of_class.devices == size;
    });
    if (found == classes.end())
      found = classes.insert(classes.end(), PieceClass{machine_class, machine, size, {}});
    found->pieces.emplace_back(devices.begin() + static_cast<std::ptrdiff_t>(first),
                               devices.begin() + static_cast<std::ptrdiff_t>(end));
    first = end;
  }
  return classes;
}

}  // namespace sextant::inline planner
