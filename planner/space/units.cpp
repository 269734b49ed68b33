#include "planner/space/units.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace sextant::inline planner {
namespace {

// Machines that are alike, or their parts with the same mark.
struct BlockClass {
  std::vector<std::vector<std::uint16_t>> blocks;  // devices, ascending; the same number in each
  int devices = 0;

  [[nodiscard]] int count() const { return static_cast<int>(blocks.size()); }
};

struct MarkedPart {
  int mark = 0;
  std::vector<std::uint16_t> devices;
};

// A machine's devices, grouped by their marks in the order in which those first appear.
std::vector<MarkedPart> parts_of(int first, int devices, const std::vector<int>& marks) {
  std::vector<MarkedPart> parts;
  for (int d = first; d < first + devices; ++d) {
    const int mark = marks.empty() ? 0 : marks[static_cast<std::size_t>(d)];
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](const MarkedPart& other) { return other.mark == mark; });
    if (part == parts.end()) part = parts.insert(parts.end(), {mark, {}});
    part->devices.push_back(static_cast<std::uint16_t>(d));
  }
  return parts;
}

std::vector<BlockClass> block_classes(const Cluster& cluster, const std::vector<int>& marks) {
  std::vector<int> first(cluster.nodes().size(), 0);
  for (std::size_t n = 1; n < first.size(); ++n) first[n] = first[n - 1] + cluster.nodes()[n - 1].devices;
  std::vector<BlockClass> classes;
  for (const MachineClass& machines : machine_classes(cluster)) {
    using Kind = std::vector<std::pair<int, std::size_t>>;  // marks, with the number of devices of each
    std::map<Kind, std::size_t> class_of;                   // of a machine's first part
    for (const NodeId machine : machines.machines) {
      const std::vector<MarkedPart> parts = parts_of(first[machine.index()], machines.devices, marks);
      Kind kind;
      for (const MarkedPart& part : parts) kind.emplace_back(part.mark, part.devices.size());
      const auto [known, is_new] = class_of.try_emplace(kind, classes.size());
      if (is_new) classes.resize(classes.size() + parts.size());
      for (std::size_t p = 0; p < parts.size(); ++p) {
        BlockClass& of_class = classes[known->second + p];
        of_class.devices = static_cast<int>(parts[p].devices.size());
        of_class.blocks.push_back(parts[p].devices);
      }
    }
  }
  return classes;
}

// coarser: if not null, each of its units is a whole number of the new units.
std::vector<UnitClass> cut(const std::vector<BlockClass>& blocks, int parts,
                           const std::vector<UnitClass>* coarser = nullptr) {
  std::vector<UnitClass> classes;
  for (const BlockClass& block_class : blocks) {
    UnitClass of_class;
    // Parts have equal sizes: their number must divide the block.
    const int larger = coarser != nullptr ? (*coarser)[classes.size()].devices : 0;
    int pieces = std::min(parts, block_class.devices);
    while (block_class.devices % pieces != 0 || larger % (block_class.devices / pieces) != 0) --pieces;
    of_class.devices = block_class.devices / pieces;
    for (const std::vector<std::uint16_t>& block : block_class.blocks) {
      for (auto begin = block.begin(); begin != block.end(); begin += of_class.devices)
        of_class.units.emplace_back(begin, begin + of_class.devices);
    }
    classes.push_back(std::move(of_class));
  }
  return classes;
}

int largest_block(const std::vector<BlockClass>& blocks) {
  int largest = 1;
  for (const BlockClass& of_class : blocks) largest = std::max(largest, of_class.devices);
  return largest;
}

// Splits each class into one with a multiple of `together` blocks, and one with the rest.
std::vector<BlockClass> split_at(const std::vector<BlockClass>& classes, int together) {
  std::vector<BlockClass> split;
  for (const BlockClass& of_class : classes) {
    const auto whole = of_class.blocks.begin() + std::ptrdiff_t{of_class.count() / together} * together;
    if (whole != of_class.blocks.begin()) split.push_back({{of_class.blocks.begin(), whole}, of_class.devices});
    if (whole != of_class.blocks.end()) split.push_back({{whole, of_class.blocks.end()}, of_class.devices});
  }
  return split;
}

// Units of `block` whole machines; the rest of a class is a single unit.
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

int count_of(const std::vector<UnitClass>& classes) {
  int count = 0;
  for (const UnitClass& of_class : classes) count += of_class.count();
  return count;
}

std::vector<UnitClass> unit_classes(const Cluster& cluster, int wanted, const std::vector<int>& marks) {
  const std::vector<BlockClass> blocks = block_classes(cluster, marks);
  const int largest = largest_block(blocks);
  std::vector<UnitClass> classes = cut(blocks, 1);
  for (int parts = 2; count_of(classes) < wanted && parts < 2 * largest; parts *= 2) {
    classes = cut(blocks, parts);
  }
  return classes;
}

std::vector<std::vector<UnitClass>> unit_levels(const Cluster& cluster, int wanted,
                                                const std::vector<int>& marks) {
  const std::vector<BlockClass> blocks = block_classes(cluster, marks);
  const int count = count_of(cut(blocks, 1));
  int block = 1;
  while (count / block > 4 * wanted) block *= 2;
  const std::vector<BlockClass> split = split_at(blocks, block);
  std::vector<std::vector<UnitClass>> levels;
  const std::vector<UnitClass> whole = cut(split, 1);
  for (; block > 1; block /= 2) levels.push_back(taken_together(whole, block));
  const int largest = largest_block(blocks);
  for (int parts = 1; parts < 2 * largest; parts *= 2) {
    std::vector<UnitClass> level = cut(split, parts, levels.empty() ? nullptr : &levels.back());
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

}  // namespace sextant::inline planner
