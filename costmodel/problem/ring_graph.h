// Which steps of a ring are no slower than a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/problem/ring_costs.h"

namespace sextant::ring {

// The members with the edges up to t: of each member the set of those one step on, and one step back.
class Graph {
 public:
  Graph(const Costs& costs, double t);

  // May hold a ring through all: strongly connected, and no member whose removal parts the others.
  [[nodiscard]] bool may_hold_ring() const;

  // Of up to 64 members: those one step on.
  [[nodiscard]] std::uint64_t on(int member) const { return on_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] std::uint64_t back(int member) const { return back_[static_cast<std::size_t>(member)]; }

 private:
  using Rows = std::vector<std::uint64_t>;
  [[nodiscard]] Rows rows() const { return Rows(static_cast<std::size_t>(n_) * words_); }
  void add(Rows& rows, int row, int member) const;
  // How many are reached from `start` without touching `removed`.
  [[nodiscard]] int reached(const Rows& rows, int start, int removed) const;

  int n_;
  std::size_t words_;  // of a bit a member
  Rows on_, back_, either_;
};

}  // namespace sextant::ring
