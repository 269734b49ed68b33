#include "costmodel/problem/ring_costs.h"

#include <algorithm>

namespace sextant::ring {

std::vector<double> Costs::levels() const {
  std::vector<double> all;
  for (const double cost : cost_) {
    if (cost < std::numeric_limits<double>::infinity()) all.push_back(cost);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Blocks blocks_of(std::span<const int> block_of) {
  Blocks blocks;
  std::vector<int> names;
  for (std::size_t i = 0; i < block_of.size(); ++i) {
    auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), block_of[i]) - names.begin());
    if (at == names.size()) {
      names.push_back(block_of[i]);
      blocks.members.emplace_back();
    }
    blocks.of.push_back(static_cast<int>(at));
    blocks.members[at].push_back(static_cast<int>(i));
  }
  return blocks;
}

Costs costs_between(const Blocks& blocks, std::span<const DeviceId> members,
                    const std::function<double(DeviceId, DeviceId)>& edge_s) {
  Costs costs(blocks.count());
  const auto device = [&](int member) { return members[static_cast<std::size_t>(member)]; };
  for (int a = 0; a < blocks.count(); ++a) {
    for (int b = 0; b < blocks.count(); ++b) {
      if (a != b) {
        costs.at(a, b) = edge_s(device(blocks.first(a)), device(blocks.first(b)));
      } else if (blocks.size(a) > 1) {
        costs.at(a, a) =
            edge_s(device(blocks.first(a)), device(blocks.members[static_cast<std::size_t>(a)][1]));
      }
    }
  }
  return costs;
}

Costs costs_of_members(const Blocks& blocks, const Costs& between) {
  const int n = static_cast<int>(blocks.of.size());
  Costs costs(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if (i != j)
        costs.at(i, j) =
            between.at(blocks.of[static_cast<std::size_t>(i)], blocks.of[static_cast<std::size_t>(j)]);
    }
  }
  return costs;
}

}  // namespace sextant::ring
