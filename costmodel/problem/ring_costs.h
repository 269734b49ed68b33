// Costs of the steps between the members of a ring, by position, and blocks of equivalent members.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "sextant/ids.h"

namespace sextant::ring {

// A matrix of seconds from row to column.
class Costs {
 public:
  explicit Costs(int n)
      : n_(n),
        cost_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n),
              std::numeric_limits<double>::infinity()) {}
  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] double at(int i, int j) const { return cost_[slot(i, j)]; }
  [[nodiscard]] double& at(int i, int j) { return cost_[slot(i, j)]; }
  // Returns every distinct cost, ascending.
  [[nodiscard]] std::vector<double> levels() const;

 private:
  [[nodiscard]] std::size_t slot(int i, int j) const {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j);
  }
  int n_;
  std::vector<double> cost_;
};

// Blocks of equivalent members, which are given by their positions.
struct Blocks {
  std::vector<int> of;                    // block of each member, numbered in order of appearance
  std::vector<std::vector<int>> members;  // by block

  [[nodiscard]] int count() const { return static_cast<int>(members.size()); }
  [[nodiscard]] int size(int block) const {
    return static_cast<int>(members[static_cast<std::size_t>(block)].size());
  }
  [[nodiscard]] int first(int block) const { return members[static_cast<std::size_t>(block)].front(); }
};

[[nodiscard]] Blocks blocks_of(std::span<const int> block_of);

// Costs between blocks, by their first members; the diagonal holds those inside, infinite for one member.
[[nodiscard]] Costs costs_between(const Blocks& blocks, std::span<const DeviceId> members,
                                  const std::function<double(DeviceId, DeviceId)>& edge_s);

// between: the result of costs_between.
[[nodiscard]] Costs costs_of_members(const Blocks& blocks, const Costs& between);

}  // namespace sextant::ring
