// Successive halving, as in both levels of HetRL's Algorithm 1 (section 3.4): in each round the remaining items
// get equal parts of the round's budget, and the better half is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace sextant::inline planner {

// ceil(log2 count), at least one: the number of rounds until one item is left.
[[nodiscard]] inline std::uint64_t rounds_of(std::size_t count) {
  std::uint64_t rounds = 1;
  while (count > std::size_t{1} << rounds) ++rounds;
  return rounds;
}

// Sorts the items by score, best first.
template <typename Item>
void sort_by_score(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.score().is_better_than(b.score()); });
}

[[nodiscard]] inline std::size_t half_of(std::size_t count) { return (count + 1) / 2; }

// Runs the rounds with equal parts of `budget`; an item gets at least one per round. The survivor comes first,
// then the dropped items, round by round. Stops early if is_over() returns true before a round.
template <typename Item>
void halve_successively(std::vector<Item>& items, std::uint64_t budget,
                        const std::function<void(Item&, std::uint64_t)>& spend,
                        const std::function<bool()>& is_over) {
  if (items.empty()) return;
  std::vector<Item> out;
  const std::uint64_t rounds = rounds_of(items.size());
  for (std::uint64_t n = 0; n < rounds && !is_over(); ++n) {
    const std::uint64_t each = std::max<std::uint64_t>(1, budget / (items.size() * rounds));
    for (Item& item : items) spend(item, each);
    sort_by_score(items);
    const std::size_t kept = half_of(items.size());
    for (std::size_t i = kept; i < items.size(); ++i) out.push_back(std::move(items[i]));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
  }
  for (Item& item : out) items.push_back(std::move(item));
}

}  // namespace sextant::inline planner
