#include "planner/sha_ea/unit_assignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace sextant::inline planner {
namespace {

std::size_t below(std::size_t count, std::mt19937_64& random) { return random() % count; }

// The class of a random unit of the group, which must have some.
std::size_t drawn_class(const UnitShare& share, std::mt19937_64& random) {
  auto left =
      static_cast<int>(below(static_cast<std::size_t>(std::accumulate(share.begin(), share.end(), 0)), random));
  std::size_t c = 0;
  while (left >= share[c]) left -= share[c++];
  return c;
}

void exchange(UnitAssignment& deal, std::size_t a, std::size_t of_a, std::size_t b, std::size_t of_b) {
  --deal[a][of_a];
  ++deal[a][of_b];
  --deal[b][of_b];
  ++deal[b][of_a];
}

}  // namespace

UnitAssignment random_assignment(const std::vector<UnitClass>& classes, const std::vector<int>& sizes,
                                 std::mt19937_64& random) {
  std::vector<std::size_t> units;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    units.insert(units.end(), static_cast<std::size_t>(classes[c].count()), c);
  }
  for (std::size_t i = units.size(); i > 1; --i) std::swap(units[i - 1], units[below(i, random)]);
  UnitAssignment deal(sizes.size(), UnitShare(classes.size(), 0));
  std::size_t next = 0;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    for (int unit = 0; unit < sizes[g]; ++unit) ++deal[g][units[next++]];
  }
  return deal;
}

bool exchange_units(UnitAssignment& deal, std::mt19937_64& random) {
  if (deal.size() < 2) return false;
  constexpr int kTries = 16;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const std::size_t a = below(deal.size(), random);
    const std::size_t b = (a + 1 + below(deal.size() - 1, random)) % deal.size();
    const std::size_t of_a = drawn_class(deal[a], random), of_b = drawn_class(deal[b], random);
    if (of_a == of_b) continue;
    exchange(deal, a, of_a, b, of_b);
    return true;
  }
  return false;
}

bool give_faster_unit(UnitAssignment& deal, const std::vector<bool>& trains,
                      const std::vector<double>& flop_per_s, std::mt19937_64& random) {
  struct Exchange {
    std::size_t a, of_a, b, of_b;
  };
  std::vector<Exchange> faster;
  for (std::size_t a = 0; a < deal.size(); ++a) {
    if (!trains[a]) continue;
    for (std::size_t b = 0; b < deal.size(); ++b) {
      if (trains[b]) continue;
      for (std::size_t of_a = 0; of_a < flop_per_s.size(); ++of_a) {
        for (std::size_t of_b = 0; of_b < flop_per_s.size(); ++of_b) {
          if (deal[a][of_a] > 0 && deal[b][of_b] > 0 && flop_per_s[of_b] > flop_per_s[of_a])
            faster.push_back({a, of_a, b, of_b});
        }
      }
    }
  }
  if (faster.empty()) return false;
  const Exchange& drawn = faster[below(faster.size(), random)];
  exchange(deal, drawn.a, drawn.of_a, drawn.b, drawn.of_b);
  return true;
}

double affinity(const UnitAssignment& deal, const std::vector<std::vector<double>>& nearness) {
  double sum = 0;
  for (const UnitShare& share : deal) {
    for (std::size_t c = 0; c < share.size(); ++c) {
      for (std::size_t d = 0; d < share.size(); ++d) {
        sum += share[c] * (share[d] - (c == d ? 1 : 0)) * nearness[c][d];
      }
    }
  }
  return sum;
}

namespace {

// Incremental update of an assignment's affinity under exchanges, because clusters in which every machine is a
// class of its own have thousands of exchanges.
class Affinities {
 public:
  Affinities(const UnitAssignment& deal, const std::vector<std::vector<double>>& nearness)
      : nearness_(nearness) {
    for (const UnitShare& share : deal) {
      near_.emplace_back(nearness.size(), 0.0);
      for (std::size_t c = 0; c < nearness.size(); ++c) {
        for (std::size_t d = 0; d < nearness.size(); ++d) near_.back()[c] += share[d] * both(c, d);
      }
    }
  }

  // Change of affinity for a group that gives a unit of one class and gets one of another.
  [[nodiscard]] double gain(std::size_t group, std::size_t gives, std::size_t gets) const {
    return near_[group][gets] - near_[group][gives] + both(gives, gives) - both(gives, gets);
  }
  void change(std::size_t group, std::size_t gives, std::size_t gets) {
    for (std::size_t c = 0; c < nearness_.size(); ++c) near_[group][c] += both(c, gets) - both(c, gives);
  }

 private:
  [[nodiscard]] double both(std::size_t c, std::size_t d) const { return nearness_[c][d] + nearness_[d][c]; }

  const std::vector<std::vector<double>>& nearness_;
  std::vector<std::vector<double>> near_;  // by group, then class: of a unit to the group's units
};

}  // namespace

UnitAssignment gathered(UnitAssignment deal, const std::vector<std::vector<double>>& nearness) {
  struct Exchange {
    std::size_t a, of_a, b, of_b;
  };
  const std::size_t classes = nearness.size();
  const double minimum = 1e-12 * std::abs(affinity(deal, nearness));  // smaller changes are rounding
  Affinities affinities(deal, nearness);
  for (;;) {
    std::optional<Exchange> best;
    double maximum = minimum;
    for (std::size_t a = 0; a < deal.size(); ++a) {
      for (std::size_t b = a + 1; b < deal.size(); ++b) {
        for (std::size_t of_a = 0; of_a < classes; ++of_a) {
          if (deal[a][of_a] == 0) continue;
          for (std::size_t of_b = 0; of_b < classes; ++of_b) {
            if (of_a == of_b || deal[b][of_b] == 0) continue;
            const double gain = affinities.gain(a, of_a, of_b) + affinities.gain(b, of_b, of_a);
            if (gain <= maximum + minimum) continue;
            maximum = gain;
            best = {a, of_a, b, of_b};
          }
        }
      }
    }
    if (!best) return deal;
    exchange(deal, best->a, best->of_a, best->b, best->of_b);
    affinities.change(best->a, best->of_a, best->of_b);
    affinities.change(best->b, best->of_b, best->of_a);
  }
}

}  // namespace sextant::inline planner
