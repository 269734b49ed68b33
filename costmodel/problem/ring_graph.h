// The graph of the steps of a ring that are no slower than a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/problem/ring_costs.h"

namespace sextant::ring {

// The members with the edges up to t: each member's successors and predecessors.
class Graph {
 public:
  Graph(const Costs& costs, double t);

  // Whether it may hold a ring through all: strongly connected, and no single member disconnects it.
  [[nodiscard]] bool may_hold_ring() const;

  // Returns the successors of a member as bits, for up to 64 members.
  [[nodiscard]] std::uint64_t on(int member) const { return on_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] std::uint64_t back(int member) const { return back_[static_cast<std::size_t>(member)]; }

 private:
  using Rows = std::vector<std::uint64_t>;
  [[nodiscard]] Rows rows() const { return Rows(static_cast<std::size_t>(n_) * words_); }
  void add(Rows& rows, int row, int member) const;
  // Returns how many members are reachable from `start` without `removed`.
  [[nodiscard]] int reached(const Rows& rows, int start, int removed) const;

  int n_;
  std::size_t words_;  // words per row, one bit per member
  Rows on_, back_, either_;
};

}  // namespace sextant::ring
