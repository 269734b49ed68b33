// All planners by name: what the command line offers, and what one suite of tests holds against one contract.
#pragma once

#include <span>
#include <string_view>

#include "sextant/planner.h"

namespace sextant {

// What a planner makes of a request beyond cluster, workflow and coefficients.
struct PlannerTraits {
  bool has_budget = true;          // ends when it is spent
  bool counts_nodes = false;       // evaluations of a budget are nodes of its tree, not candidates
  bool has_threads = false;        // uses more than one
  bool has_ranks = false;          // of MPI too (PlanRequest::ranks)
  bool has_seed = false;           // another seed, another search
  bool has_whole_layouts = false;  // max_plans and try_uneven_stages of SearchLimits
  bool starts_from_plan = false;   // PlanRequest::start
  bool can_be_cancelled = true;    // while it runs, not only before
  bool proves = false;             // of its space: optimal or a gap
  bool balances_load = false;      // and can be told not to
  bool has_objectives = false;     // other than the fastest plan; the others refuse them
  bool has_rent = false;           // the fastest plan for so many dollars an hour; the others refuse
  bool has_pins = false;           // keeps tasks where they are pinned; the others refuse
  bool has_layout_rules = false;   // layouts that a framework can run alone (TaskChoices), shared devices
  bool (*is_built)() = [] { return true; };  // into this program; else planning throws Error(bad_input)
};

struct Planner {
  std::string_view name;
  std::string_view help;                                       // one line
  PlanResult (*search)(const PlanRequest& request) = nullptr;  // behind plan()
  int max_devices = 0;  // of a cluster that it can plan; 0: no limit of its own
  PlannerTraits traits = {};

  // What it finds, verified by code of its own and with a bound for any plan (verify/answer.h).
  [[nodiscard]] PlanResult plan(const PlanRequest& request) const;
};

// In the order in which people should read them.
[[nodiscard]] std::span<const Planner> planners();

// Null where none has the name.
[[nodiscard]] const Planner* find_planner(std::string_view name);

}  // namespace sextant
