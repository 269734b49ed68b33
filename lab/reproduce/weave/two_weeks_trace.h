// A trace like that of section 6.4, which is described and not published: 200 jobs in two weeks, 27.9 hours on average,
// promises drawn from (1, 2), phases of 50 to 900 s, and rollouts of multi-turn jobs 2.5 to 6 times as long as their
// training (sections 3.2 and 6.2). How many nodes jobs have follows from the cost of solo disaggregation.
#pragma once

#include <cstdint>

#include "planner/coschedule/job.h"
#include "planner/coschedule/simulation/drift.h"

namespace sextant::weave {

// These members are changed to find out why costs differ.
struct TwoWeeks {
  double min_rollout_s = 50, max_rollout_s = 900;
  double min_slowdown = 1;
  // $0.94k an hour for 370.2 hours are 1.093 pairs of nodes for 200 jobs of 27.9 hours: 9.3 % have two.
  double wide_share = 0.093;
  coschedule::DriftSetting drift = coschedule::DriftSetting::none;
};

[[nodiscard]] coschedule::JobTrace two_weeks_trace(const TwoWeeks& rules, std::uint64_t seed);

}  // namespace sextant::weave
