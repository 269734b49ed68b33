#include "costmodel/terms/ring.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "core/error.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Nearest-neighbour tours are started from at most so many members; each costs n^2.
constexpr int kMostStarts = 8;

// Members that are alike, by their positions.
struct Blocks {
  std::vector<int> of;                    // by member, numbered as they appear
  std::vector<std::vector<int>> members;  // by block

  [[nodiscard]] int count() const { return static_cast<int>(members.size()); }
  [[nodiscard]] int size(int block) const {
    return static_cast<int>(members[static_cast<std::size_t>(block)].size());
  }
  [[nodiscard]] int first(int block) const { return members[static_cast<std::size_t>(block)].front(); }
};

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

class Square {
 public:
  explicit Square(int n) : n_(n), cost_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), kInfinity) {}
  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] double at(int i, int j) const { return cost_[slot(i, j)]; }
  [[nodiscard]] double& at(int i, int j) { return cost_[slot(i, j)]; }
  // Every distinct cost, ascending.
  [[nodiscard]] std::vector<double> levels() const {
    std::vector<double> all;
    for (const double cost : cost_) {
      if (cost < kInfinity) all.push_back(cost);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

 private:
  [[nodiscard]] std::size_t slot(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j);
  }
  int n_;
  std::vector<double> cost_;
};

// Costs between blocks; on the diagonal those inside, infinite where a block has one member.
using BlockCosts = Square;
// Costs between the n members, by position.
using Costs = Square;

BlockCosts costs_between(const Blocks& blocks, std::span<const DeviceId> members,
                         const std::function<double(DeviceId, DeviceId)>& edge_s) {
  BlockCosts costs(blocks.count());
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

Costs costs_of_members(const Blocks& blocks, const BlockCosts& between) {
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

// A spanning tree of blocks, grown by the fastest edge from a block that has an end left (Prim).
struct Tree {
  double slowest = 0;
  int from = 0, to = 0;  // ends of the slowest edge
  std::vector<int> degree;
};

std::optional<Tree> grown_tree(const BlockCosts& costs, const std::vector<int>& most_degree) {
  const int n = costs.size();
  const auto size = static_cast<std::size_t>(n);
  Tree tree;
  tree.degree.assign(size, 0);
  std::vector<bool> inside(size, false);
  std::vector<int> nearest(size, -1);  // block of the tree with an end left
  const auto has_end = [&](int block) {
    return inside[static_cast<std::size_t>(block)] &&
           tree.degree[static_cast<std::size_t>(block)] < most_degree[static_cast<std::size_t>(block)];
  };
  const auto offer = [&](int block) {
    for (int other = 0; other < n; ++other) {
      int& of_other = nearest[static_cast<std::size_t>(other)];
      if (!inside[static_cast<std::size_t>(other)] &&
          (of_other < 0 || costs.at(block, other) < costs.at(of_other, other)))
        of_other = block;
    }
  };
  // What was nearest by a block without ends looks for another.
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

bool is_symmetric(const BlockCosts& costs) {
  for (int a = 0; a < costs.size(); ++a) {
    for (int b = 0; b < a; ++b) {
      if (costs.at(a, b) != costs.at(b, a)) return false;
    }
  }
  return true;
}

// The ring around a tree of blocks, where none is faster: no slower edge than the best tree's, and every ring
// holds a tree.
std::optional<BottleneckRing> ring_around_tree(const Blocks& blocks, const BlockCosts& costs,
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

struct Tour {
  std::vector<int> order;
  double bottleneck = kInfinity;
};

double bottleneck_of(const Costs& costs, const std::vector<int>& order) {
  double worst = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    worst = std::max(worst, costs.at(order[i], order[(i + 1) % order.size()]));
  }
  return worst;
}

Tour nearest_neighbour(const Costs& costs, int start) {
  std::vector<bool> used(static_cast<std::size_t>(costs.size()), false);
  Tour tour;
  int at = start;
  for (int step = 0; step < costs.size(); ++step) {
    tour.order.push_back(at);
    used[static_cast<std::size_t>(at)] = true;
    int next = -1;
    for (int j = 0; j < costs.size(); ++j) {
      if (!used[static_cast<std::size_t>(j)] && (next < 0 || costs.at(at, j) < costs.at(at, next))) next = j;
    }
    if (next >= 0) at = next;
  }
  tour.bottleneck = bottleneck_of(costs, tour.order);
  return tour;
}

// The members in the order given (nodes stay together), and greedy tours.
Tour best_constructed(const Costs& costs) {
  Tour best;
  for (int i = 0; i < costs.size(); ++i) best.order.push_back(i);
  best.bottleneck = bottleneck_of(costs, best.order);
  const int starts = std::min(kMostStarts, costs.size());
  for (int s = 0; s < starts; ++s) {
    Tour tour = nearest_neighbour(costs, s * costs.size() / starts);
    if (tour.bottleneck < best.bottleneck) best = std::move(tour);
  }
  return best;
}

// For every member a different neighbour on each side.
double neighbour_bound(const Costs& costs) {
  double bound = 0;
  for (int v = 0; v < costs.size(); ++v) {
    double best = kInfinity;
    double in_best = kInfinity, in_second = kInfinity;
    int in_from = -1;
    for (int u = 0; u < costs.size(); ++u) {
      if (u == v) continue;
      const double in = costs.at(u, v);
      if (in < in_best) {
        in_second = in_best;
        in_best = in;
        in_from = u;
      } else {
        in_second = std::min(in_second, in);
      }
    }
    for (int w = 0; w < costs.size(); ++w) {
      if (w == v) continue;
      const double in = (w == in_from && costs.size() > 2) ? in_second : in_best;
      best = std::min(best, std::max(costs.at(v, w), in));
    }
    bound = std::max(bound, best);
  }
  return bound;
}

// The members with the edges up to t: of each member the set of those one step on, and one step back.
class Graph {
 public:
  Graph(const Costs& costs, double t)
      : n_(costs.size()),
        words_((static_cast<std::size_t>(n_) + 63) / 64),
        on_(rows()),
        back_(rows()),
        either_(rows()) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        if (i == j || costs.at(i, j) > t) continue;
        add(on_, i, j);
        add(back_, j, i);
        add(either_, i, j);
        add(either_, j, i);
      }
    }
  }

  // May hold a ring through all: strongly connected, and no member whose removal parts the others.
  [[nodiscard]] bool may_hold_ring() const {
    if (reached(on_, 0, -1) < n_ || reached(back_, 0, -1) < n_) return false;
    if (n_ <= 3) return true;
    // n searches of n^2 / 64 stay cheap up to here.
    constexpr int kMostRemovals = 128;
    const int removals = std::min(n_, kMostRemovals);
    for (int r = 0; r < removals; ++r) {
      const int removed = r * n_ / removals;
      if (reached(either_, removed == 0 ? 1 : 0, removed) < n_ - 1) return false;
    }
    return true;
  }

  // Of up to 64 members: those one step on.
  [[nodiscard]] std::uint64_t on(int member) const { return on_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] std::uint64_t back(int member) const { return back_[static_cast<std::size_t>(member)]; }

 private:
  using Rows = std::vector<std::uint64_t>;
  [[nodiscard]] Rows rows() const { return Rows(static_cast<std::size_t>(n_) * words_); }
  void add(Rows& rows, int row, int member) const {
    rows[static_cast<std::size_t>(row) * words_ + static_cast<std::size_t>(member) / 64] |= std::uint64_t{1}
                                                                                            << (member % 64);
  }

  // How many are reached from `start` without touching `removed`.
  [[nodiscard]] int reached(const Rows& rows, int start, int removed) const {
    Rows seen(words_), open(words_);
    add(open, 0, start);
    add(seen, 0, start);
    if (removed >= 0) add(seen, 0, removed);
    int count = 0;
    for (std::size_t word = 0; word < words_;) {
      if (open[word] == 0) {
        ++word;
        continue;
      }
      const auto at = 64 * word + static_cast<std::size_t>(std::countr_zero(open[word]));
      open[word] &= open[word] - 1;
      ++count;
      std::size_t first_new = word;
      for (std::size_t w = words_; w-- > 0;) {
        const std::uint64_t found = rows[at * words_ + w] & ~seen[w];
        if (found == 0) continue;
        seen[w] |= found;
        open[w] |= found;
        first_new = std::min(first_new, w);
      }
      word = first_new;
    }
    return count;
  }

  int n_;
  std::size_t words_;  // of a bit a member
  Rows on_, back_, either_;
};

double lower_bound_of(const Costs& costs, const std::vector<double>& levels) {
  std::size_t low = 0, high = levels.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (Graph(costs, levels[middle]).may_hold_ring()) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::max(levels[low], neighbour_bound(costs));
}

// Held-Karp reachability: is there a ring through all members with edges up to t? Fills `order` if so.
bool find_ring_up_to(const Costs& costs, double t, std::vector<int>& order) {
  const Graph graph(costs, t);
  const int n = costs.size();
  const std::size_t sets = std::size_t{1} << n;
  const auto members_of = [](std::uint64_t set, const auto& visit) {
    for (; set != 0; set &= set - 1) visit(std::countr_zero(set));
  };
  // ends[S]: members at which a path from member 0 through exactly S can end.
  std::vector<std::uint16_t> ends(sets, 0);
  ends[1] = 1;
  for (std::size_t set = 1; set < sets; set += 2) {
    std::uint64_t next = 0;
    members_of(ends[set], [&](int at) { next |= graph.on(at); });
    members_of(next & ~set, [&](int j) {
      const std::size_t longer = set | std::size_t{1} << j;
      ends[longer] = static_cast<std::uint16_t>(ends[longer] | 1U << j);
    });
  }
  const auto previous = [&](std::size_t set, int to) {
    const std::uint64_t found = ends[set] & graph.back(to);
    return found == 0 ? -1 : std::countr_zero(found);
  };
  int at = previous(sets - 1, 0);
  if (at < 0) return false;
  order.assign(1, at);
  std::size_t set = sets - 1;
  while (at != 0) {
    set &= ~(std::size_t{1} << at);
    at = previous(set, at);
    order.push_back(at);
  }
  std::reverse(order.begin(), order.end());
  return true;
}

Tour exact_tour(const Costs& costs, const std::vector<double>& levels, double lower, Tour tour) {
  auto low = std::lower_bound(levels.begin(), levels.end(), lower);
  auto high = std::lower_bound(levels.begin(), levels.end(), tour.bottleneck);
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (find_ring_up_to(costs, *middle, tour.order)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (find_ring_up_to(costs, *high, tour.order)) tour.bottleneck = bottleneck_of(costs, tour.order);
  return tour;
}

}  // namespace

BottleneckRing find_bottleneck_ring(std::span<const DeviceId> members, std::span<const int> block_of,
                                    const std::function<double(DeviceId, DeviceId)>& edge_s) {
  SEXTANT_CHECK(members.size() >= 2 && block_of.size() == members.size());
  const Blocks blocks = blocks_of(block_of);
  const BlockCosts between = costs_between(blocks, members, edge_s);
  if (blocks.count() == 1) return {members[0], members[1], between.at(0, 0), between.at(0, 0)};
  if (const auto ring = ring_around_tree(blocks, between, members)) return *ring;
  const Costs costs = costs_of_members(blocks, between);
  const std::vector<double> levels = between.levels();
  Tour tour = best_constructed(costs);
  double lower = levels.size() == 1 ? levels[0] : lower_bound_of(costs, levels);
  if (lower < tour.bottleneck && costs.size() <= kExactRingSize) {
    tour = exact_tour(costs, levels, lower, std::move(tour));
    lower = tour.bottleneck;
  }
  BottleneckRing ring;
  ring.upper_s = tour.bottleneck;
  ring.lower_s = lower;
  for (std::size_t i = 0; i < tour.order.size(); ++i) {
    const int from = tour.order[i], to = tour.order[(i + 1) % tour.order.size()];
    if (costs.at(from, to) >= tour.bottleneck) {
      ring.from = members[static_cast<std::size_t>(from)];
      ring.to = members[static_cast<std::size_t>(to)];
    }
  }
  return ring;
}

BottleneckRing find_bottleneck_ring(std::span<const DeviceId> members,
                                    const std::function<double(DeviceId, DeviceId)>& edge_s) {
  std::vector<int> alone(members.size());
  std::iota(alone.begin(), alone.end(), 0);
  return find_bottleneck_ring(members, alone, edge_s);
}

}  // namespace sextant
