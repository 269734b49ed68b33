#include "planner/space/units.h"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

// coarser: where there is one, each of its units is a number of those that are made.
std::vector<UnitClass> cut(const Cluster& cluster, const std::vector<MachineClass>& machines, int parts,
                           const std::vector<UnitClass>* coarser = nullptr) {
  std::vector<int> first(cluster.nodes().size(), 0);
  for (std::size_t n = 1; n < first.size(); ++n) first[n] = first[n - 1] + cluster.nodes()[n - 1].devices;
  std::vector<UnitClass> classes;
  for (const MachineClass& machine_class : machines) {
    UnitClass of_class;
    // Parts of one size: as many as divide the machine.
    const int larger = coarser != nullptr ? (*coarser)[classes.size()].devices : 0;
    int pieces = std::min(parts, machine_class.devices);
    while (machine_class.devices % pieces != 0 || larger % (machine_class.devices / pieces) != 0) --pieces;
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

int largest_machine(const std::vector<MachineClass>& machines) {
  int largest = 1;
  for (const MachineClass& of_class : machines) largest = std::max(largest, of_class.devices);
  return largest;
}

// Classes with a multiple of `block` machines, and what is beyond.
std::vector<MachineClass> split_at(const std::vector<MachineClass>& classes, int block) {
  std::vector<MachineClass> split;
  for (const MachineClass& of_class : classes) {
    const auto whole = of_class.machines.begin() + of_class.count() / block * block;
    if (whole != of_class.machines.begin())
      split.push_back({{of_class.machines.begin(), whole}, of_class.devices});
    if (whole != of_class.machines.end()) split.push_back({{whole, of_class.machines.end()}, of_class.devices});
  }
  return split;
}

// Whole machines as units, `block` at a time; what cannot be dealt so is one unit.
std::vector<UnitClass> taken_together(const std::vector<UnitClass>& machines, int block) {
  std::vector<UnitClass> classes;
  for (const UnitClass& of_class : machines) {
    const int size = of_class.count() % block == 0 ? block : of_class.count();
    UnitClass blocks{size * of_class.devices, {}};
    for (std::size_t first = 0; first < of_class.units.size(); first += static_cast<std::size_t>(size)) {
      std::vector<std::uint16_t> unit;
      for (std::size_t m = first; m < first + static_cast<std::size_t>(size); ++m)
        unit.insert(unit.end(), of_class.units[m].begin(), of_class.units[m].end());
      blocks.units.push_back(std::move(unit));
    }
    classes.push_back(std::move(blocks));
  }
  return classes;
}

}  // namespace

std::vector<UnitClass> unit_classes(const Cluster& cluster, int wanted) {
  const std::vector<MachineClass> machines = machine_classes(cluster);
  const int largest = largest_machine(machines);
  std::vector<UnitClass> classes = cut(cluster, machines, 1);
  for (int parts = 2; count_of(classes) < wanted && parts < 2 * largest; parts *= 2) {
    classes = cut(cluster, machines, parts);
  }
  return classes;
}

std::vector<std::vector<UnitClass>> unit_levels(const Cluster& cluster, int wanted) {
  const std::vector<MachineClass> machines = machine_classes(cluster);
  const int count = static_cast<int>(cluster.nodes().size());
  int block = 1;
  while (count / block > 4 * wanted) block *= 2;
  const std::vector<MachineClass> split = split_at(machines, block);
  std::vector<std::vector<UnitClass>> levels;
  const std::vector<UnitClass> whole = cut(cluster, split, 1);
  for (; block > 1; block /= 2) levels.push_back(taken_together(whole, block));
  const int largest = largest_machine(machines);
  for (int parts = 1; parts < 2 * largest; parts *= 2) {
    std::vector<UnitClass> level = cut(cluster, split, parts, levels.empty() ? nullptr : &levels.back());
    const bool is_too_coarse = levels.empty() && parts < largest && count_of(level) < wanted;
    const bool is_new = levels.empty() || count_of(level) != count_of(levels.back());
    if (!is_too_coarse && is_new) levels.push_back(std::move(level));
  }
  return levels;
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
