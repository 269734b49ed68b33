#include "costmodel/problem/ring_of_blocks.h"

#include <vector>

namespace sextant::ring {
namespace {

// A spanning tree of blocks, grown by the fastest edge from a block that has an end left (Prim).
struct Tree {
  double slowest = 0;
  int from = 0, to = 0;  // ends of the slowest edge
  std::vector<int> degree;
};

std::optional<Tree> grown_tree(const Costs& costs, const std::vector<int>& max_degree) {
  const int n = costs.size();
  const auto size = static_cast<std::size_t>(n);
  Tree tree;
  tree.degree.assign(size, 0);
  std::vector<bool> inside(size, false);
  std::vector<int> nearest(size, -1);  // block of the tree with an end left
  const auto has_end = [&](int block) {
    return inside[static_cast<std::size_t>(block)] &&
           tree.degree[static_cast<std::size_t>(block)] < max_degree[static_cast<std::size_t>(block)];
  };
  const auto offer = [&](int block) {
    for (int other = 0; other < n; ++other) {
      int& of_other = nearest[static_cast<std::size_t>(other)];
      if (!inside[static_cast<std::size_t>(other)] &&
          (of_other < 0 || costs.at(block, other) < costs.at(of_other, other)))
        of_other = block;
    }
  };
  // Blocks whose nearest block has no free ends look for another.
  const auto withdraw = [&](int block) {
    for (int other = 0; other < n; ++other) {
      int& of_other = nearest[static_cast<std::size_t>(other)];
      if (inside[static_cast<std::size_t>(other)] || of_other != block) continue;
      of_other = -1;
      for (int end = 0; end < n; ++end) {
        if (has_end(end) && (of_other < 0 || costs.at(end, other) < costs.at(of_other, other))) of_other = end;
      }
    }
  };
  inside[0] = true;
  offer(0);
  for (int edge = 1; edge < n; ++edge) {
    int next = -1;
    const auto cost_of = [&](int block) { return costs.at(nearest[static_cast<std::size_t>(block)], block); };
    for (int block = 0; block < n; ++block) {
      if (inside[static_cast<std::size_t>(block)] || nearest[static_cast<std::size_t>(block)] < 0) continue;
      if (next < 0 || cost_of(block) < cost_of(next)) next = block;
    }
    if (next < 0) return std::nullopt;
    const int from = nearest[static_cast<std::size_t>(next)];
    if (edge == 1 || costs.at(from, next) >= tree.slowest) {
      tree.slowest = costs.at(from, next);
      tree.from = from;
      tree.to = next;
    }
    inside[static_cast<std::size_t>(next)] = true;
    ++tree.degree[static_cast<std::size_t>(from)];
    ++tree.degree[static_cast<std::size_t>(next)];
    if (has_end(next)) offer(next);
    if (!has_end(from)) withdraw(from);
  }
  return tree;
}

bool is_symmetric(const Costs& costs) {
  for (int a = 0; a < costs.size(); ++a) {
    for (int b = 0; b < a; ++b) {
      if (costs.at(a, b) != costs.at(b, a)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<BottleneckRing> ring_around_tree(const Blocks& blocks, const Costs& costs,
                                               std::span<const DeviceId> members) {
  if (blocks.count() < 2 || !is_symmetric(costs)) return std::nullopt;
  std::vector<int> sizes;
  for (int block = 0; block < blocks.count(); ++block) sizes.push_back(blocks.size(block));
  const auto fits = [&](const Tree& tree, double slowest) {
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      if (tree.degree[b] > sizes[b]) return false;
      const int block = static_cast<int>(b);
      if (tree.degree[b] < sizes[b] && costs.at(block, block) > slowest) return false;
    }
    return tree.slowest <= slowest;
  };
  std::optional<Tree> tree = grown_tree(costs, std::vector<int>(sizes.size(), blocks.count()));
  const double slowest = tree->slowest;
  if (!fits(*tree, slowest)) {
    tree = grown_tree(costs, sizes);
    if (!tree || !fits(*tree, slowest)) return std::nullopt;
  }
  const auto device = [&](int block) { return members[static_cast<std::size_t>(blocks.first(block))]; };
  return BottleneckRing{device(tree->from), device(tree->to), slowest, slowest};
}

}  // namespace sextant::ring
