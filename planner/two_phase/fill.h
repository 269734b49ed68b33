// The integer program of AReaL-Hex's rollout planning (section 4.2.2, equation 2) at a given makespan.
//
// Equation 2 chooses y replicas and x rollouts of each configuration:
//   minimize Theta,  sum x = B,  x len / (y h) <= Theta,  sum i_t y <= i_t for every GPU type t
// which is bilinear in Theta and y. For a given Theta every replica of a kind can take a known number of
// rollouts, n(Theta), so that Theta can be reached where
//   maximize sum n(Theta) y,  sum i_t y <= i_t
// is at least B: a linear integer program, and the least Theta is found by bisection. n(Theta) may be any
// function that grows with Theta, so that the calibrated model takes the place of a constant throughput.
// Replicas lie inside machines (the paper's own restriction of tensor parallelism), so the program falls apart
// into one knapsack for each machine, which is solved exactly by dynamic programming: in microseconds, and
// without packing replicas across the border of a machine, which counts by GPU type allow. Tests hold it
// against the program itself, solved by CBC.
#pragma once

#include <vector>

namespace sextant {

// A kind of replica: devices that it takes, and what it is worth.
struct FillItem {
  int devices = 1;
  int capacity = 0;
};

// How many of each item to put into a machine.
struct Filling {
  int capacity = 0;
  std::vector<int> counts;  // by item

  friend bool operator==(const Filling&, const Filling&) = default;
};

// The most that a machine of so many devices can take; of equals that with the fewest replicas. Items that are
// worth nothing are left out.
[[nodiscard]] Filling best_filling(const std::vector<FillItem>& items, int devices);

}  // namespace sextant
