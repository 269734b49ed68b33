#include "costmodel/problem/ring_graph.h"

#include <algorithm>
#include <bit>

namespace sextant::ring {

Graph::Graph(const Costs& costs, double t)
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

bool Graph::may_hold_ring() const {
  if (reached(on_, 0, -1) < n_ || reached(back_, 0, -1) < n_) return false;
  if (n_ <= 3) return true;
  // n searches of n^2 / 64 stay cheap up to here.
  constexpr int kMaxRemovals = 128;
  const int removals = std::min(n_, kMaxRemovals);
  for (int r = 0; r < removals; ++r) {
    const int removed = r * n_ / removals;
    if (reached(either_, removed == 0 ? 1 : 0, removed) < n_ - 1) return false;
  }
  return true;
}

void Graph::add(Rows& rows, int row, int member) const {
  rows[static_cast<std::size_t>(row) * words_ + static_cast<std::size_t>(member) / 64] |= std::uint64_t{1}
                                                                                          << (member % 64);
}

int Graph::reached(const Rows& rows, int start, int removed) const {
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

}  // namespace sextant::ring
