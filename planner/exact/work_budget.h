// A budget of work for a search: steps that are counted, so that every machine searches equally far and gives the same
// answer to the same question, whatever else it does. A limit of wall time, far beyond what the work takes, ends the search
// of a machine that is much too slow.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace sextant::inline planner {

// How far a bound is searched for.
struct BoundBudget {
  double work = 1;   // each unit takes about a second of a quiet core; infinite: only max_s counts
  double max_s = 0;  // wall time; 0: a minute for each unit, and at least one
};

class WorkBudget {
 public:
  // A step is one job that is looked at; longer pieces of work count as several. It took 0.5 to 1.5 ns, of 14 to 2,000 jobs
  // and all profiles of workload.h.
  static constexpr double kStepsOfWork = 1.2e9;

  explicit WorkBudget(const BoundBudget& budget);

  void spend(std::int64_t steps) {
    left_ -= steps;
    until_clock_ -= steps;
    if (until_clock_ <= 0) look_at_clock();
  }
  [[nodiscard]] bool is_over() const { return left_ <= 0 || is_out_of_time_; }
  // Whether the wall time ended it before its work was done.
  [[nodiscard]] bool is_out_of_time() const { return is_out_of_time_; }
  [[nodiscard]] std::int64_t left() const { return left_; }

 private:
  void look_at_clock();

  static constexpr std::int64_t kBetweenLooks = 1'000'000;
  std::int64_t left_;
  std::int64_t until_clock_ = kBetweenLooks;
  double max_s_;
  bool is_out_of_time_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace sextant::inline planner
