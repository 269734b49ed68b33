#include "costmodel/problem/ring.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "costmodel/problem/ring_costs.h"
#include "costmodel/problem/ring_graph.h"
#include "costmodel/problem/ring_of_blocks.h"
#include "sextant/error.h"

namespace sextant::inline costmodel {
namespace {

using namespace ring;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Nearest-neighbour tours are started from at most so many members; each costs n^2.
constexpr int kMaxStarts = 8;

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
  const int starts = std::min(kMaxStarts, costs.size());
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

struct BlocksWithCosts {
  Blocks blocks;
  Costs between;
};

// Joins blocks that differ in nothing, such as nodes of one type, if a step between them is no slower than one
// inside: a ring can then alternate between them, so the slower steps do not matter. The members of a joined
// block are ordered so that neighbours are of different blocks.
BlocksWithCosts joined_alike(const Blocks& blocks, const Costs& between) {
  const int count = blocks.count();
  std::vector<std::vector<int>> sets;
  const auto belongs = [&](int block, const std::vector<int>& set) {
    const int like = set.front();
    if (blocks.size(block) != blocks.size(like)) return false;
    const double step_s = set.size() > 1 ? between.at(like, set[1]) : between.at(like, block);
    if (between.at(block, block) < step_s || between.at(like, like) < step_s) return false;
    for (int other = 0; other < count; ++other) {
      if (other == block) continue;
      const bool is_in_set = std::find(set.begin(), set.end(), other) != set.end();
      const double from = is_in_set ? step_s : between.at(like, other);
      const double to = is_in_set ? step_s : between.at(other, like);
      if (between.at(block, other) != from || between.at(other, block) != to) return false;
    }
    return true;
  };
  for (int block = 0; block < count; ++block) {
    auto found = std::find_if(sets.begin(), sets.end(),
                              [&](const std::vector<int>& set) { return belongs(block, set); });
    if (found == sets.end()) found = sets.insert(sets.end(), std::vector<int>{});
    found->push_back(block);
  }
  BlocksWithCosts joined{{}, Costs(static_cast<int>(sets.size()))};
  joined.blocks.of.resize(blocks.of.size());
  for (int a = 0; a < joined.between.size(); ++a) {
    const std::vector<int>& set = sets[static_cast<std::size_t>(a)];
    joined.blocks.members.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(blocks.size(set.front())); ++i) {
      for (const int block : set) {
        const int member = blocks.members[static_cast<std::size_t>(block)][i];
        joined.blocks.members.back().push_back(member);
        joined.blocks.of[static_cast<std::size_t>(member)] = a;
      }
    }
    for (int b = 0; b < joined.between.size(); ++b)
      joined.between.at(a, b) = between.at(
          set.front(), a == b && set.size() > 1 ? set[1] : sets[static_cast<std::size_t>(b)].front());
  }
  return joined;
}

// The ring if all steps between blocks cost the same. Every ring has such a step. Where steps inside a block are
// slower, a ring can leave the block after each member unless more than half of all members are in it.
std::optional<BottleneckRing> ring_of_equal_steps(const Blocks& blocks, const Costs& between,
                                                  std::span<const DeviceId> members) {
  const double step_s = between.at(0, 1);
  for (int a = 0; a < blocks.count(); ++a) {
    for (int b = 0; b < blocks.count(); ++b) {
      if (a != b && between.at(a, b) != step_s) return std::nullopt;
    }
  }
  const auto member = [&](int block, std::size_t number) {
    return members[static_cast<std::size_t>(blocks.members[static_cast<std::size_t>(block)][number])];
  };
  for (int block = 0; block < blocks.count(); ++block) {
    const bool is_majority = 2 * static_cast<std::size_t>(blocks.size(block)) > members.size();
    if (is_majority && blocks.size(block) > 1 && between.at(block, block) > step_s)
      return BottleneckRing{member(block, 0), member(block, 1), between.at(block, block),
                            between.at(block, block)};
  }
  return BottleneckRing{member(0, 0), member(1, 0), step_s, step_s};
}

// The ring where blocks tell which one is the best; empty where they do not.
std::optional<BottleneckRing> simple_ring(const Blocks& blocks, const Costs& between,
                                          std::span<const DeviceId> members) {
  if (blocks.count() > 1) {
    const auto ring = ring_of_equal_steps(blocks, between, members);
    return ring ? ring : ring_around_tree(blocks, between, members);
  }
  const auto member = [&](std::size_t number) {
    return members[static_cast<std::size_t>(blocks.members.front()[number])];
  };
  return BottleneckRing{member(0), member(1), between.at(0, 0), between.at(0, 0)};
}

}  // namespace

BottleneckRing find_bottleneck_ring(std::span<const DeviceId> members, std::span<const int> block_of,
                                    const std::function<double(DeviceId, DeviceId)>& edge_s) {
  SEXTANT_CHECK(members.size() >= 2 && block_of.size() == members.size());
  const Blocks blocks = blocks_of(block_of);
  const Costs between = costs_between(blocks, members, edge_s);
  if (const BlocksWithCosts joined = joined_alike(blocks, between); joined.blocks.count() < blocks.count()) {
    if (const auto ring = simple_ring(joined.blocks, joined.between, members)) return *ring;
  }
  if (const auto ring = simple_ring(blocks, between, members)) return *ring;
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

}  // namespace sextant::inline costmodel
