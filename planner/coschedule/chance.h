// Promises that hold with a probability: iterations of a group with drawn lengths instead of the bounds.
//
// The tails of rollouts stay, or move at the threshold of the placement: a promise that counts on tails that move is
// broken by jobs that never report their progress.
//
// A member keeps its promise in an iteration if that takes at most max_slowdown times as long as the same iteration, with
// the same lengths, alone. The bounds promise something else: no iteration takes longer than max_slowdown times the
// bound alone, whatever the lengths are. Members without lengths run at their bounds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/coschedule/tail.h"

namespace sextant::coschedule {

struct ChanceRules {
  int iterations = 200;  // drawn
  std::uint64_t seed = 1;
};

// Shares by member.
struct KeptShares {
  std::vector<double> kept_fraction;  // of the iterations
  std::vector<double> slowdown;       // of all iterations together
  double period_s = 0;                // mean
};

// Draws the iterations of a job once: two groups are compared on the same ones.
class DrawnIterations {
 public:
  explicit DrawnIterations(ChanceRules rules = {}) : rules_(rules) {}

  // tail_threshold: as in Placement; 0: tails stay.
  [[nodiscard]] KeptShares of(const Group& group, double tail_threshold);
  // Whether every member keeps its promise in that share of the iterations, and over all of them together.
  [[nodiscard]] bool keeps(const Group& group, double probability, double tail_threshold);
  // Mean phases of the drawn iterations.
  [[nodiscard]] PhaseTimes mean_times(const Job& job) { return of(job).mean; }
  // Forgets a job whose lengths have changed.
  void forget(const std::string& job) { jobs_.erase(job); }

 private:
  struct Drawn {
    Job job;
    std::vector<Batch> batches;  // empty: at the bounds
    std::vector<PhaseTimes> times;
    PhaseTimes mean;
  };
  const Drawn& of(const Job& job);
  [[nodiscard]] bool may_keep(const Group& group);

  ChanceRules rules_;
  std::map<std::string, Drawn> jobs_;
};

// A job whose bounds are at most what any placement needs that keeps promises over all iterations together, with any
// threshold of tails: lower bounds of the cost for such jobs hold for those placements.
[[nodiscard]] Job relaxed_for_chance(const Job& job, DrawnIterations& drawn);

}  // namespace sextant::coschedule
