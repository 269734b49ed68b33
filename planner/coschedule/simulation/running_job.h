// A job of a trace while it runs, and what its drifting lengths make of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/coschedule/place.h"
#include "planner/coschedule/tail.h"

namespace sextant::coschedule {

// A job of the trace from its arrival to its end. Its run has steps, in which lengths do not change.
struct RunningJob {
  std::size_t job = 0;  // position in the trace
  double left_s = 0;    // of the step, alone
  double rate = 1;      // of that, in a second
  double since_s = 0;   // when left_s was right
  double alone_s = 0;   // of the steps before
  double paused_s = 0;  // from failures until returns
  double min_rate = 1;
  int step = 0, resubmissions = 0, failures = 0;
  Decision decision = Decision::new_group;
  std::string reason;
  std::uint64_t version = 0;      // of its end of a step
  std::uint64_t incarnation = 0;  // of its failure
  double first_solo_s = 0;        // an iteration alone, without drift
  PhaseTimes times;               // of typical iterations alone, in this step
  std::optional<Batch> batch;     // lengths of one, if the job has lengths

  // Brings left_s up to the present.
  void advance_to(double now_s);
};

[[nodiscard]] int steps_of(const Job& job);
// The factor on the lengths of a step: that of its middle.
[[nodiscard]] double length_factor_of(const Job& job, int step);
// The time of the present step, alone.
[[nodiscard]] double step_s(const Job& job, const RunningJob& run);
// Puts the run at the beginning of the step.
void begin_step(const Job& job, int step, RunningJob& run);

}  // namespace sextant::coschedule
