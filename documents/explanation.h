// An explanation of a planner's answer: parts of its time, alternatives and the certainty of beating them,
// changes of numbers that change the answer, and answers on other clusters. planner/explain makes it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"
#include "sextant/search.h"
#include "sextant/statistics.h"

namespace sextant::inline documents {

// One part of an iteration, or of the difference between two iterations. The parts sum to it.
struct TimePart {
  std::string task;  // "iteration": not part of a task
  std::string term;  // name of a term; without a task "weight_sync" or "between_tasks"
  double seconds = 0;

  friend bool operator==(const TimePart&, const TimePart&) = default;
};

// A plan's use of the devices of one type.
struct DeviceUse {
  std::string device_type;
  int devices = 0;
  int used = 0;              // by any task
  double idle_fraction = 0;  // of the time of all devices of the type, used or not

  friend bool operator==(const DeviceUse&, const DeviceUse&) = default;
};

// The effect of better hardware on the iteration of this plan.
struct Saving {
  std::string name;       // "flop_per_s", "memory_bytes_per_s", "link", ..., "device": all of a device's rates
  std::string of;         // device type or level of links; "*": all
  double elasticity = 0;  // relative change of the iteration / relative change of the number
  double saved_fraction = 0;  // of the iteration, if the number improves by 10 %

  friend bool operator==(const Saving&, const Saving&) = default;
};

// A comparison of two plans under samples of the coefficients, with the same sample for both.
struct Chance {
  double probability = 0.5;  // that the first is faster, considering the coefficients alone
  // The same with an independent model error of each plan, as on held-out runs. Similar plans share their
  // errors, so the real certainty is higher. Absent: unknown.
  std::optional<double> probability_with_model_error;
  Interval ratio_90;  // other / first, like Alternative::ratio: 5 % to 95 %

  friend bool operator==(const Chance&, const Chance&) = default;
};

struct Alternative {
  std::string name;  // planner that found it, or the tasks that it colocates
  PlanOutcome outcome = PlanOutcome::infeasible;
  std::string message;  // reason why no plan was found; otherwise empty
  // The members below are set only if a plan was found.
  bool is_same = false;  // the chosen plan itself
  double iteration_s = 0;
  std::optional<double> usd_per_iteration;
  double ratio = 1;                            // time, or goal's value / that of the chosen plan
  std::map<std::string, std::string> layouts;  // by task, for people
  std::vector<TimePart> differences;           // its time minus that of the chosen plan, largest first
  std::optional<Chance> chance;                // the chosen plan is the first

  friend bool operator==(const Alternative&, const Alternative&) = default;
};

// The smallest change of one number that makes another plan better.
struct Flip {
  std::string name;  // as in Sensitivity, or "memory_bytes"
  std::string of;
  bool is_hardware = false;
  double value = 0;   // now; the first of several numbers that change together
  double factor = 1;  // the answer changes here
  std::string to;     // alternative that becomes better; empty: the chosen plan no longer fits
  std::optional<double> standard_errors;  // size of the change / uncertainty of the number, if known

  friend bool operator==(const Flip&, const Flip&) = default;
};

// The answer to the same request on another cluster.
struct WhatIf {
  std::vector<std::string> changes;  // applied together, as the user wrote them
  PlanOutcome outcome = PlanOutcome::infeasible;
  std::string message;  // reason why no plan was found; otherwise empty
  // Time of the old plan there, if all its devices exist and it fits.
  std::optional<double> kept_iteration_s;
  // The members below are set only if a plan was found.
  bool keeps_plan = false;  // the old plan is the best one there too
  double iteration_s = 0;
  std::optional<double> lower_bound_s;  // for any plan there
  double ratio = 1;                     // time, or goal's value / that of the plan on the original cluster
  std::optional<double> usd_per_iteration;
  std::map<std::string, std::string> layouts;
  std::vector<TimePart> differences;  // time there minus time now, largest first
  std::optional<Chance> chance;       // the plan there is the first

  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

struct Explanation {
  static constexpr std::string_view kKind = "explanation";
  static constexpr SchemaVersion kVersion{1, 0};

  std::string workflow;  // names
  std::string cluster;
  std::string planner;
  std::string plan;
  // The goal, "time", "cost" or "devices": the value that ratios, chances and flips compare.
  std::string goal = "time";
  double iteration_s = 0;
  std::optional<double> usd_per_iteration;  // present if all its devices have prices
  std::map<std::string, std::string> layouts;
  std::string bottleneck;                 // one sentence
  std::vector<TimePart> parts;            // sum to the iteration, longest first
  std::vector<DeviceUse> devices;         // by type
  std::vector<Saving> savings;            // largest first
  int draws = 0;                          // samples of the coefficients; 0: no known uncertainty
  std::vector<Alternative> alternatives;  // fastest first, then those without a plan
  std::vector<Flip> flips;                // smallest change first
  std::vector<WhatIf> what_ifs;

  friend bool operator==(const Explanation&, const Explanation&) = default;
  static Explanation parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::inline documents
