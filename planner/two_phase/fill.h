// The integer program of AReaL-Hex's rollout planning (section 4.2.2, equation 2) at a given makespan.
//
// Equation 2 chooses y replicas and x rollouts of each configuration:
//   minimize Theta,  sum x = B,  x len / (y h) <= Theta,  sum i_t y <= i_t for every GPU type t
// which is bilinear in Theta and y. For a given Theta every replica of a kind can take a known number of
// rollouts, n(Theta), so that Theta is feasible if the optimum of
//   maximize sum n(Theta) y,  sum i_t y <= i_t
// is at least B: a linear integer program. Bisection finds the smallest feasible Theta. n(Theta) may be any
// function that grows with Theta, so that the calibrated model replaces a constant throughput.
// Replicas lie inside machines (the paper's own restriction of tensor parallelism), so the program decomposes
// into one knapsack per machine. Dynamic programming solves these exactly in microseconds, and without replicas
// across the border of a machine, which a program that counts devices by GPU type allows. Tests compare it with
// the program itself, solved by CBC.
#pragma once

#include <vector>

namespace sextant::inline planner {

// A kind of replica: its number of devices, and its capacity in rollouts.
struct FillItem {
  int devices = 1;
  int capacity = 0;
};

// The number of replicas of each item in a machine.
struct Filling {
  int capacity = 0;
  std::vector<int> counts;  // by item

  friend bool operator==(const Filling&, const Filling&) = default;
};

// The filling of a machine with the largest capacity, on ties with the fewest replicas. Items without capacity
// are left out.
[[nodiscard]] Filling best_filling(const std::vector<FillItem>& items, int devices);

}  // namespace sextant::inline planner
