// Regrouping of jobs that run, where it saves more than their restarts cost.
//
// WEAVE never regroups, as a regrouping of everything is hard to compute and stops many jobs (section 6.6). Here a few
// groups at a time are regrouped exactly, or all of them nearly so (optimum.h), and only jobs stop that change their
// nodes: one that stays in its group on its nodes goes on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/coschedule/group.h"
#include "planner/exact/work_budget.h"

namespace sextant::coschedule {

struct RepackRules {
  double restart_s = 300;  // for which a job that moves stands still; 197 to 419 s for 7B to 32B in section 6.6
  double horizon_s = 2 * 3600;  // in which the saving must pay for the restarts
  int max_jobs = 12;            // of the groups that are regrouped together
  bool may_repeat = true;       // members of new groups may have several turns (rounds.h)
  bool accepts_any = false;     // also a regrouping that saves nothing: promises may be broken now
};

struct Repacked {
  std::vector<std::size_t> old_groups;  // positions in the placement, which the new ones replace
  std::vector<Group> new_groups;
  std::vector<std::string> restarted;  // jobs
  double saved_usd_per_hour = 0;
};

// Tries the group together with those that have the most free time. may_restart: whether a job can stand still for
// restart_s and still keep its promise. Empty if nothing saves enough.
[[nodiscard]] std::optional<Repacked> repack(const Placement& placement, std::string_view group,
                                             const std::function<bool(const Job&)>& may_restart,
                                             const RepackRules& rules = {});

// Regroups all groups whose members may all restart. budget: of the relaxation (optimum.h). Empty if the saving does
// not pay for the restarts, or without a solver of linear programs beyond 16 jobs.
[[nodiscard]] std::optional<Repacked> repack_all(const Placement& placement,
                                                 const std::function<bool(const Job&)>& may_restart,
                                                 const RepackRules& rules, const BoundBudget& budget);

void take(Placement& placement, Repacked repacked);

}  // namespace sextant::coschedule
