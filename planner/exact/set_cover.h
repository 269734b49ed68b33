// Covers of elements by sets, each with a cost, that become known one after another (column generation): the prices
// of the linear relaxation over the known sets, by which new ones are sought, and a cheap cover.
//
//   minimize sum_s c_s x_s   subject to   sum over s with e in s of x_s >= 1 for every element e,   x >= 0.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "planner/exact/milp.h"

namespace sextant::inline planner {

struct CostedSet {
  std::vector<int> elements;  // numbers from 0
  double cost = 0;
};

class SetCover {
 public:
  // alone: the cost of the set of each element alone, which are known from the beginning.
  explicit SetCover(const std::vector<double>& alone);

  // False if this build has no solver of linear programs; the functions below must not be called then.
  [[nodiscard]] bool has_solver() const { return solver_ != nullptr; }
  [[nodiscard]] int size() const { return static_cast<int>(sets_.size()); }

  // Returns false if the set is known with at most this cost.
  bool add(CostedSet set);

  struct Prices {
    std::vector<double> prices;  // of the dual by element, not negative; empty if the solver failed
    double cost = 0;             // of the relaxation
  };
  // Sets that are far from being used are forgotten, so that the program stays small.
  [[nodiscard]] Prices prices();

  // Returns sets that cover all elements, by diving: the relaxation is solved again and again, and each time the sets
  // that it uses most are taken. An element may be in several of them.
  [[nodiscard]] std::vector<CostedSet> cover() const;

 private:
  // A solution over the sets that have elements which are not yet covered.
  struct Relaxed {
    std::vector<std::size_t> sets;  // positions
    std::vector<double> used, reduced_costs;
    double cost = 0;
  };
  [[nodiscard]] Relaxed solve(const std::vector<bool>& is_covered) const;
  void forget(const Relaxed& relaxed);

  std::unique_ptr<MilpSolver> solver_;
  std::size_t elements_;
  std::vector<CostedSet> sets_;  // the first are those of each element alone
  std::map<std::vector<int>, double> known_;
};

}  // namespace sextant::inline planner
