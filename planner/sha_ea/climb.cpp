#include "planner/sha_ea/climb.h"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

int units_of(const UnitShare& share) { return std::accumulate(share.begin(), share.end(), 0); }

class Neighbours {
 public:
  explicit Neighbours(const DealtGroups& dealt) : dealt_(dealt) {}

  std::vector<DealtGroups> all() {
    move_tasks();
    exchange_tasks();
    move_units();
    exchange_units_of_groups();
    return std::move(found_);
  }

 private:
  void move_tasks() {
    const auto groups = static_cast<std::size_t>(dealt_.grouping.groups);
    for (std::size_t t = 0; t < dealt_.grouping.group_of.size(); ++t) {
      const auto own = static_cast<std::size_t>(dealt_.grouping.group_of[t]);
      for (std::size_t g = 0; g < groups; ++g) {
        if (g == own) continue;
        DealtGroups other = dealt_;
        other.grouping.group_of[t] = static_cast<int>(g);
        add(std::move(other));
      }
      leave_for_own_group(t);
    }
  }

  void exchange_tasks() {
    for (std::size_t t = 0; t < dealt_.grouping.group_of.size(); ++t) {
      for (std::size_t u = t + 1; u < dealt_.grouping.group_of.size(); ++u) {
        if (dealt_.grouping.group_of[t] == dealt_.grouping.group_of[u]) continue;
        DealtGroups other = dealt_;
        std::swap(other.grouping.group_of[t], other.grouping.group_of[u]);
        add(std::move(other));
      }
    }
  }

  // With one unit of any group that has more.
  void leave_for_own_group(std::size_t task) {
    for (std::size_t g = 0; g < dealt_.deal.size(); ++g) {
      if (units_of(dealt_.deal[g]) < 2) continue;
      for (std::size_t c = 0; c < dealt_.deal[g].size(); ++c) {
        if (dealt_.deal[g][c] == 0) continue;
        DealtGroups other = dealt_;
        other.grouping.group_of[task] = other.grouping.groups++;
        other.deal.emplace_back(dealt_.deal[g].size(), 0);
        ++other.deal.back()[c];
        --other.deal[g][c];
        add(std::move(other));
      }
    }
  }

  // One unit, or half of what there is.
  void move_units() {
    for (std::size_t from = 0; from < dealt_.deal.size(); ++from) {
      for (std::size_t to = 0; to < dealt_.deal.size(); ++to) {
        if (from == to) continue;
        for (std::size_t c = 0; c < dealt_.deal[from].size(); ++c) {
          const int here = dealt_.deal[from][c];
          for (const int moved : here > 3 ? std::vector<int>{1, here / 2} : std::vector<int>{1}) {
            if (moved > here || units_of(dealt_.deal[from]) == moved) continue;
            DealtGroups other = dealt_;
            other.deal[from][c] -= moved;
            other.deal[to][c] += moved;
            add(std::move(other));
          }
        }
      }
    }
  }

  void exchange_units_of_groups() {
    for (std::size_t a = 0; a < dealt_.deal.size(); ++a) {
      for (std::size_t b = a + 1; b < dealt_.deal.size(); ++b) {
        for (std::size_t of_a = 0; of_a < dealt_.deal[a].size(); ++of_a) {
          for (std::size_t of_b = 0; of_b < dealt_.deal[b].size(); ++of_b) {
            if (of_a == of_b || dealt_.deal[a][of_a] == 0 || dealt_.deal[b][of_b] == 0) continue;
            DealtGroups other = dealt_;
            --other.deal[a][of_a];
            ++other.deal[a][of_b];
            --other.deal[b][of_b];
            ++other.deal[b][of_a];
            add(std::move(other));
          }
        }
      }
    }
  }

  void add(DealtGroups other) { found_.push_back(renumbered(other)); }

  const DealtGroups& dealt_;
  std::vector<DealtGroups> found_;
};

}  // namespace

DealtGroups renumbered(const DealtGroups& dealt) {
  DealtGroups out;
  std::vector<int> number(dealt.deal.size(), -1);
  for (const int group : dealt.grouping.group_of) {
    int& own = number[static_cast<std::size_t>(group)];
    if (own < 0) {
      own = out.grouping.groups++;
      out.deal.push_back(dealt.deal[static_cast<std::size_t>(group)]);
    }
    out.grouping.group_of.push_back(own);
  }
  for (std::size_t g = 0; g < dealt.deal.size(); ++g) {
    if (number[g] >= 0) continue;
    for (std::size_t c = 0; c < dealt.deal[g].size(); ++c) out.deal.front()[c] += dealt.deal[g][c];
  }
  return out;
}

DealtGroups in_finer_units(DealtGroups dealt, const std::vector<UnitClass>& coarser,
                           const std::vector<UnitClass>& finer) {
  for (UnitShare& share : dealt.deal) {
    for (std::size_t c = 0; c < share.size(); ++c) share[c] *= finer[c].count() / coarser[c].count();
  }
  return dealt;
}

std::vector<DealtGroups> neighbours_of(const DealtGroups& dealt, std::mt19937_64& random) {
  std::vector<DealtGroups> all = Neighbours(dealt).all();
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  return all;
}

void climb(DealtGroups& dealt, std::mt19937_64& random, const std::function<bool(const DealtGroups&)>& look,
           const std::function<bool()>& is_over) {
  for (bool improved = true; improved;) {
    improved = false;
    for (const DealtGroups& other : neighbours_of(dealt, random)) {
      if (is_over()) return;
      if (!look(other)) continue;
      dealt = other;
      improved = true;
      break;
    }
  }
}

}  // namespace sextant
