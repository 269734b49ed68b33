// Why a plan is the answer: where its time goes, what it beat and how surely, which number would change the
// answer, and what it would be on another cluster. planner/explain makes it.
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

namespace sextant {

// A part of an iteration, or a difference of two iterations' parts. All parts of one sum to it.
struct TimePart {
  std::string task;  // "iteration": of none
  std::string term;  // a term's name; of no task "weight_sync" or "between_tasks"
  double seconds = 0;

  friend bool operator==(const TimePart&, const TimePart&) = default;
};

// What a plan does with the devices of one type.
struct DeviceUse {
  std::string device_type;
  int devices = 0;
  int used = 0;              // by any task
  double idle_fraction = 0;  // of the time of all of them, used or not

  friend bool operator==(const DeviceUse&, const DeviceUse&) = default;
};

// What better hardware would do to the iteration of this plan.
struct Saving {
  std::string name;       // "flop_per_s", "memory_bytes_per_s", "link", ..., "device": all of a device's rates
  std::string of;         // device type or level of links; "*": all
  double elasticity = 0;  // relative change of the iteration by relative change of the number
  double saved_fraction = 0;  // of the iteration, where the number is 10 % better

  friend bool operator==(const Saving&, const Saving&) = default;
};

// Of two plans under draws of the coefficients, the same draw for both.
struct Chance {
  double probability = 0.5;  // that the first is faster, by the coefficients alone
  // The same where each plan has an error of the model too, as on runs that the fit did not see, independent of
  // the other's: plans that are alike share theirs, so this is the least. Absent: not known.
  std::optional<double> probability_with_model_error;
  Interval ratio_90;  // of the other / of the first, as Alternative::ratio: 5 % to 95 %

  friend bool operator==(const Chance&, const Chance&) = default;
};

struct Alternative {
  std::string name;  // of the planner that found it, or which tasks it puts together
  PlanOutcome outcome = PlanOutcome::infeasible;
  std::string message;  // why there is none; empty where there is
  // Only where one was found.
  bool is_same = false;  // the chosen plan itself
  double iteration_s = 0;
  std::optional<double> usd_per_iteration;
  double ratio = 1;                            // time, or what the goal lowers / that of the chosen plan
  std::map<std::string, std::string> layouts;  // by task, for people
  std::vector<TimePart> differences;           // its time less that of the chosen, largest first
  std::optional<Chance> chance;                // the chosen plan first

  friend bool operator==(const Alternative&, const Alternative&) = default;
};

// The smallest change of one number with which another plan is better.
struct Flip {
  std::string name;  // as Sensitivity names it, or "memory_bytes"
  std::string of;
  bool is_hardware = false;
  double value = 0;   // now; of several numbers that change together the first
  double factor = 1;  // the answer changes here
  std::string to;     // the alternative that is better then; empty: the chosen plan no longer fits
  std::optional<double> standard_errors;  // the change in units of the number's uncertainty, where it is known

  friend bool operator==(const Flip&, const Flip&) = default;
};

// The same question on another cluster.
struct WhatIf {
  std::vector<std::string> changes;  // made together, as they were written
  PlanOutcome outcome = PlanOutcome::infeasible;
  std::string message;  // why there is no plan; empty where there is
  // The old plan there, where its devices are still there and it fits.
  std::optional<double> kept_iteration_s;
  // Only where a plan was found.
  bool keeps_plan = false;  // the old plan is the best there too
  double iteration_s = 0;
  std::optional<double> lower_bound_s;  // of any plan there
  double ratio = 1;  // time, or what the goal lowers / that of the plan on the cluster as it is
  std::optional<double> usd_per_iteration;
  std::map<std::string, std::string> layouts;
  std::vector<TimePart> differences;  // time there less time now, largest first
  std::optional<Chance> chance;       // the plan there first

  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

struct Explanation {
  static constexpr std::string_view kKind = "explanation";
  static constexpr SchemaVersion kVersion{1, 0};

  std::string workflow;  // names
  std::string cluster;
  std::string planner;
  std::string plan;
  // What the plan was to be best in, "time", "cost" or "devices": what ratios, chances and flips are about.
  std::string goal = "time";
  double iteration_s = 0;
  std::optional<double> usd_per_iteration;  // where all its devices have prices
  std::map<std::string, std::string> layouts;
  std::string bottleneck;                 // one sentence
  std::vector<TimePart> parts;            // sum to the iteration, longest first
  std::vector<DeviceUse> devices;         // by type
  std::vector<Saving> savings;            // largest first
  int draws = 0;                          // of the coefficients; 0: they have no known uncertainty
  std::vector<Alternative> alternatives;  // fastest first, then those that found no plan
  std::vector<Flip> flips;                // smallest change first
  std::vector<WhatIf> what_ifs;

  friend bool operator==(const Explanation&, const Explanation&) = default;
  static Explanation parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
