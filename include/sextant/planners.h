// All planners by name, for the command line and for the test suite that all planners must pass.
#pragma once

#include <span>
#include <string_view>

#include "sextant/planner.h"

namespace sextant {

// The parts of a request that a planner supports, in addition to cluster, workflow and coefficients.
struct PlannerTraits {
  bool has_budget = true;          // ends when the budget is spent
  bool counts_nodes = false;       // evaluations of a budget are nodes of its tree, not candidates
  bool has_threads = false;        // uses several threads
  bool has_ranks = false;          // and several MPI ranks (PlanRequest::ranks)
  bool has_seed = false;           // the seed changes the search
  bool has_whole_layouts = false;  // supports max_plans and try_uneven_stages of SearchLimits
  bool starts_from_plan = false;   // supports PlanRequest::start
  bool can_be_cancelled = true;    // during the search, not only before it
  bool proves = false;             // optimality in its space, or a gap
  bool balances_load = false;      // unless SearchLimits::balances_load is false
  bool has_objectives = false;     // objectives other than the fastest plan; the others refuse them
  bool has_rent = false;           // the fastest plan within a budget of dollars per hour; the others refuse it
  bool has_pins = false;           // respects pins; the others refuse them
  bool has_layout_rules = false;   // TaskChoices' rules of layouts and PlanRequest::device_rules
  bool (*is_built)() = [] { return true; };  // into this program; if not, planning throws Error(bad_input)
};

struct Planner {
  std::string_view name;
  std::string_view help;                                       // one line
  PlanResult (*search)(const PlanRequest& request) = nullptr;  // called by plan()
  int max_devices = 0;  // maximum size of a cluster; 0: no limit of its own
  PlannerTraits traits = {};

  // Searches, verifies the plan with separate code and adds a bound for any plan (verify/answer.h).
  [[nodiscard]] PlanResult plan(const PlanRequest& request) const;
};

// All planners, in the order in which documentation lists them.
[[nodiscard]] std::span<const Planner> planners();

// Returns null if no planner has the name.
[[nodiscard]] const Planner* find_planner(std::string_view name);

}  // namespace sextant
