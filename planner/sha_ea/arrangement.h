// Levels 1 to 3 of HetRL's search (section 3.2) as one value: which tasks share devices, and which devices.
// Levels 4 and 5 below it are solved at once: every task takes the fastest of its options with which all fit.
#pragma once

#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/space/groupings.h"
#include "planner/space/options.h"

namespace sextant {

struct Arrangement {
  TaskGrouping grouping;
  std::vector<std::vector<std::uint16_t>> devices;  // by group

  friend bool operator==(const Arrangement&, const Arrangement&) = default;
};

struct Scored {
  Candidate candidate;
  Score score;

  // Feasible ones before others, then the faster; of infeasible ones the one that lacks less.
  [[nodiscard]] bool is_better_than(const Scored& other) const;
};

class Arranger {
 public:
  Arranger(Evaluator& evaluator, OptionTable& options, std::vector<double> room_bytes)
      : evaluator_(evaluator), options_(options), room_bytes_(std::move(room_bytes)) {}

  // Nothing where a task has no shape for its group's number of devices. The candidate is the evaluator's
  // current one.
  [[nodiscard]] bool arrange(const Arrangement& arrangement, Scored& scored);

  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }

 private:
  void choose(const std::vector<int>& tasks, const std::vector<std::uint16_t>& devices, Candidate& candidate);

  Evaluator& evaluator_;
  OptionTable& options_;
  std::vector<double> room_bytes_;  // by device
  std::uint64_t evaluations_ = 0;
};

}  // namespace sextant
