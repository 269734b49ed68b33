// Schedulers to compare with (sections 6.1, 6.5 and 6.6).
#pragma once

#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "planner/coschedule/chance.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/simulation/job_level.h"

namespace sextant::coschedule {

using Random = std::mt19937_64;

// A policy keeps this between its decisions.
struct PolicyState {
  Random random;
  DrawnIterations drawn;
};

// A policy decides about arriving jobs.
struct Policy {
  std::string_view name;
  std::string_view description;
  PlacementAnswer (*place)(const Placement& placement, const Job& job, PolicyState& state);
  bool repacks = false;         // regroups running jobs after arrivals and ends (repack.h)
  double regroups_every_s = 0;  // 0: never; all jobs, at the lengths that they have then
  bool resubmits = false;       // jobs that have drifted too far
  bool repeats = false;         // members that fit several times into a meta-iteration run several times
  bool is_by_chance = false;    // promises hold with the probability of the simulation
  // Null: members take turns phase by phase.
  GroupUse (*use)(const RunningGroup& running, const Pools& pools) = nullptr;
  // The offline optimum: after every event the jobs are in the cheapest groups, and move for nothing. Exact for up to 16
  // jobs; of more, groups with the most free time are regrouped.
  bool is_offline = false;
};

// All policies, the default first.
[[nodiscard]] const std::vector<Policy>& policies();
// Null if there is none of this name.
[[nodiscard]] const Policy* find_policy(std::string_view name);

}  // namespace sextant::coschedule
