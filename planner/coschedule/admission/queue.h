// Admission of several jobs that wait: they are placed together, instead of each as if no other came.
//
// WEAVE places one job after the other in the order of their arrival (section 4.2). Here the jobs of a queue are tried in
// many orders and, without the groups that run, in the cheapest groups of their own; the best outcome is taken: as many
// jobs as can be placed, of these the lowest cost, and of equal ones the order of the queue. Running jobs stay where they
// are.
#pragma once

#include <string>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/coschedule/place.h"

namespace sextant::coschedule {

struct QueuedJob {
  std::string name;
  bool is_placed = false;
  std::string words;  // "group-3 as it is", or why it waits
  double added_usd_per_hour = 0;
};

struct QueueAnswer {
  Placement placement;               // with the jobs that have a place
  std::vector<QueuedJob> jobs;       // in the order in which they were placed, then those that wait
  double in_order_usd_per_hour = 0;  // of the placement if they had come one after the other
  int in_order_placed = 0;           // jobs
  [[nodiscard]] int placed() const;
};

// Throws Error(bad_input) as place does, and if two jobs have one name.
[[nodiscard]] QueueAnswer place_queue(const Placement& placement, const std::vector<Job>& queue,
                                      const PlacementRules& rules = {});

}  // namespace sextant::coschedule
