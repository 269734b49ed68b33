#include "planner/space/units.h"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

std::vector<UnitClass> cut(const Cluster& cluster, const std::vector<MachineClass>& machines, int parts) {
  std::vector<int> first(cluster.nodes().size(), 0);
  for (std::size_t n = 1; n < first.size(); ++n) first[n] = first[n - 1] + cluster.nodes()[n - 1].devices;
  std::vector<UnitClass> classes;
  for (const MachineClass& machine_class : machines) {
    UnitClass of_class;
    // Parts of one size: as many as divide the machine.
    int pieces = std::min(parts, machine_class.devices);
    while (machine_class.devices % pieces != 0) --pieces;
    of_class.devices = machine_class.devices / pieces;
    for (const NodeId machine : machine_class.machines) {
      for (int piece = 0; piece < pieces; ++piece) {
        std::vector<std::uint16_t> unit(static_cast<std::size_t>(of_class.devices));
        std::iota(unit.begin(), unit.end(),
                  static_cast<std::uint16_t>(first[machine.index()] + piece * of_class.devices));
        of_class.units.push_back(std::move(unit));
      }
    }
    classes.push_back(std::move(of_class));
  }
  return classes;
}

int count_of(const std::vector<UnitClass>& classes) {
  int count = 0;
  for (const UnitClass& of_class : classes) count += of_class.count();
  return count;
}

}  // namespace

std::vector<UnitClass> unit_classes(const Cluster& cluster, int wanted) {
  const std::vector<MachineClass> machines = machine_classes(cluster);
  int largest = 1;
  for (const MachineClass& of_class : machines) largest = std::max(largest, of_class.devices);
  std::vector<UnitClass> classes = cut(cluster, machines, 1);
  for (int parts = 2; count_of(classes) < wanted && parts < 2 * largest; parts *= 2) {
    classes = cut(cluster, machines, parts);
  }
  return classes;
}

std::vector<std::vector<std::uint16_t>> devices_of_groups(const std::vector<UnitClass>& classes,
                                                          const std::vector<UnitShare>& groups) {
  std::vector<std::vector<std::uint16_t>> devices(groups.size());
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::size_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return groups[a][c] > groups[b][c]; });
    std::size_t next = 0;
    for (const std::size_t group : order) {
      for (int unit = 0; unit < groups[group][c]; ++unit) {
        const std::vector<std::uint16_t>& block = classes[c].units[next++];
        devices[group].insert(devices[group].end(), block.begin(), block.end());
      }
    }
  }
  return devices;
}

}  // namespace sextant
