// Event simulation of a task graph on overlapping device sets (ReaL, Algorithm 1): a task starts when its
// parents have ended and all its devices are free.
#pragma once

#include <set>
#include <vector>

#include "core/ids.h"

namespace sextant {

struct TimelineTask {
  double duration_s = 0;
  std::set<DeviceId> devices;
  std::vector<int> after;  // positions of parents
};

struct TimelineSpan {
  double start_s = 0;
  double end_s = 0;
};

// Spans by task. Ready tasks are taken in the order of their ready time, then of their position, as the
// algorithm's priority queue does. The graph must be acyclic.
[[nodiscard]] std::vector<TimelineSpan> simulate_timeline(const std::vector<TimelineTask>& tasks);

// End of the last span; zero for none.
[[nodiscard]] double makespan_s(const std::vector<TimelineSpan>& spans);

}  // namespace sextant
