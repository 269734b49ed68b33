#include "planner/two_phase/fill.h"

namespace sextant::inline planner {

Filling best_filling(const std::vector<FillItem>& items, int devices) {
  struct Best {
    int capacity = 0, replicas = 0;
    int item = -1;  // the last one that was put in; none: a device stays idle
  };
  std::vector<Best> best(static_cast<std::size_t>(devices) + 1);
  for (std::size_t used = 1; used < best.size(); ++used) {
    best[used] = {best[used - 1].capacity, best[used - 1].replicas, -1};
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto size = static_cast<std::size_t>(items[i].devices);
      if (items[i].capacity <= 0 || size > used) continue;
      const Best with{best[used - size].capacity + items[i].capacity, best[used - size].replicas + 1,
                      static_cast<int>(i)};
      const bool is_better = with.capacity > best[used].capacity ||
                             (with.capacity == best[used].capacity && with.replicas < best[used].replicas);
      if (is_better) best[used] = with;
    }
  }
  Filling filling{best.back().capacity, std::vector<int>(items.size(), 0)};
  for (std::size_t used = best.size() - 1; used > 0;) {
    if (best[used].item < 0) {
      --used;
      continue;
    }
    const auto item = static_cast<std::size_t>(best[used].item);
    ++filling.counts[item];
    used -= static_cast<std::size_t>(items[item].devices);
  }
  return filling;
}

}  // namespace sextant::inline planner
