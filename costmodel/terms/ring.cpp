#include "costmodel/terms/ring.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/error.h"

namespace sextant {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Nearest-neighbour tours are started from at most so many members; each costs n^2.
constexpr int kMostStarts = 8;

// Costs between the n members, by position.
class Costs {
 public:
  Costs(std::span<const DeviceId> members, const std::function<double(DeviceId, DeviceId)>& edge_s)
      : n_(static_cast<int>(members.size())), cost_(members.size() * members.size(), kInfinity) {
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) {
        if (i != j)
          cost_[slot(i, j)] =
              edge_s(members[static_cast<std::size_t>(i)], members[static_cast<std::size_t>(j)]);
      }
    }
  }
  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] double at(int i, int j) const { return cost_[slot(i, j)]; }
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
  [[nodiscard]] std::size_t slot(int i, int j) const { return static_cast<std::size_t>(i) * n_ + j; }
  int n_;
  std::vector<double> cost_;
};

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

// How many members are reached from `start` along edges up to t without touching `removed`.
int count_reached(const Costs& costs, double t, int start, int removed, bool forward, bool either_way) {
  std::vector<bool> seen(static_cast<std::size_t>(costs.size()), false);
  std::vector<int> open{start};
  seen[static_cast<std::size_t>(start)] = true;
  int reached = 0;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    ++reached;
    for (int j = 0; j < costs.size(); ++j) {
      if (j == at || j == removed || seen[static_cast<std::size_t>(j)]) continue;
      const double there = forward ? costs.at(at, j) : costs.at(j, at);
      const double back = forward ? costs.at(j, at) : costs.at(at, j);
      if (there <= t || (either_way && back <= t)) {
        seen[static_cast<std::size_t>(j)] = true;
        open.push_back(j);
      }
    }
  }
  return reached;
}

bool may_hold_ring(const Costs& costs, double t) {
  const int n = costs.size();
  if (count_reached(costs, t, 0, -1, true, false) < n || count_reached(costs, t, 0, -1, false, false) < n)
    return false;
  if (n <= 3) return true;
  // Articulation points of the graph with every edge walkable both ways; n searches of n^2 stay cheap up to
  // here.
  constexpr int kMostRemovals = 128;
  const int removals = std::min(n, kMostRemovals);
  for (int r = 0; r < removals; ++r) {
    const int removed = r * n / removals;
    if (count_reached(costs, t, removed == 0 ? 1 : 0, removed, true, true) < n - 1) return false;
  }
  return true;
}

double lower_bound_of(const Costs& costs, const std::vector<double>& levels) {
  std::size_t low = 0, high = levels.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (may_hold_ring(costs, levels[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::max(levels[low], neighbour_bound(costs));
}

// Held-Karp reachability: is there a ring through all members with edges up to t? Fills `order` if so.
bool find_ring_up_to(const Costs& costs, double t, std::vector<int>& order) {
  const int n = costs.size();
  const std::size_t sets = std::size_t{1} << n;
  // ends[S]: members at which a path from member 0 through exactly S can end.
  std::vector<std::uint16_t> ends(sets, 0);
  ends[1] = 1;
  for (std::size_t set = 1; set < sets; set += 2) {
    for (int at = 0; at < n; ++at) {
      if ((ends[set] >> at & 1) == 0) continue;
      for (int j = 1; j < n; ++j) {
        if ((set >> j & 1) == 0 && costs.at(at, j) <= t) {
          ends[set | std::size_t{1} << j] =
              static_cast<std::uint16_t>(ends[set | std::size_t{1} << j] | 1U << j);
        }
      }
    }
  }
  const auto previous = [&](std::size_t set, int to) {
    for (int at = 0; at < n; ++at) {
      if ((ends[set] >> at & 1) != 0 && at != to && costs.at(at, to) <= t) return at;
    }
    return -1;
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

BottleneckRing find_bottleneck_ring(std::span<const DeviceId> members,
                                    const std::function<double(DeviceId, DeviceId)>& edge_s) {
  SEXTANT_CHECK(members.size() >= 2);
  const Costs costs(members, edge_s);
  const std::vector<double> levels = costs.levels();
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

}  // namespace sextant
