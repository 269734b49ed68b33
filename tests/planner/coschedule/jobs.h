// Small jobs for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planner/coschedule/group.h"

namespace sextant::coschedule::test {

inline Job job(const std::string& name, double rollout_s, double training_s, double max_slowdown = 2) {
  Job job;
  job.name = name;
  job.rollout_s = rollout_s;
  job.training_s = training_s;
  job.max_slowdown = max_slowdown;
  return job;
}

// All members on one rollout and one training node.
inline Group on_one_pair(std::vector<Job> jobs) {
  Group group{"g", 1, 1, {}};
  for (Job& of : jobs) group.members.push_back({std::move(of), {0}});
  return group;
}

// Round numbers: a rollout node costs 1 and a training node 3 dollars an hour.
inline Pools pools() {
  Pools pools;
  pools.rollout = {"cheap", 1, 0, 1, 0};
  pools.training = {"fast", 1, 0, 3, 0};
  return pools;
}

}  // namespace sextant::coschedule::test
