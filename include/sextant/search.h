// The record of a search: the request, the planner, the improvements over time, and the bound of the gap to the
// best plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/document.h"
#include "sextant/ids.h"
#include "sextant/json.h"

namespace sextant {

enum class PlanOutcome {
  found,       // the plan fits and is the best of the search
  infeasible,  // no layout fits, or none that was evaluated: the message says what is missing
  too_large,   // the space exceeds the limit: no search was made
};

// Proof about plans that were not evaluated.
enum class Proof {
  none,        // only the gap
  optimal,     // no plan of the planner's space is better, to a relative 1e-9; or none fits
  gap,         // no plan is better than the lower bound; the evaluation budget ended the search
  time_limit,  // the same, but the time limit or a cancellation ended the search
};

// A plan that was better than all earlier ones.
struct Improvement {
  std::uint64_t evaluations = 0;  // number so far: the same on every machine
  double seconds = 0;             // wall time since the search began
  double iteration_s = 0;
  // Value of the objective (sextant/objective.h): iteration_s for the goal "time"; for "cost" dollars plus a
  // tiny price of time that breaks ties.
  double loss = 0;

  friend bool operator==(const Improvement&, const Improvement&) = default;
};

// The relative gap between `value` and its lower bound, at least 0. Returns nullopt if the bound is zero, which
// proves nothing.
[[nodiscard]] std::optional<double> relative_gap(double value, double lower_bound);

[[nodiscard]] std::string_view name_of(PlanOutcome outcome);  // "found", ...
[[nodiscard]] std::string_view name_of(Proof proof);          // "time_limit", ...

// The evaluation of a plan by a percentile or the mean of possible times.
struct RiskRecord {
  std::string goal;             // "p90": the time that nine of ten draws do not exceed; "mean"
  int draws = 0;                // of coefficients, response lengths and far links
  double response_lengths = 0;  // standard deviation of the logarithm, as drawn
  double far_links = 0;
  int plans = 0;                   // number of plans that were evaluated
  double iteration_s = 0;          // the plan's percentile or mean
  double fastest_iteration_s = 0;  // same for the plan that is fastest at the documented values

  friend bool operator==(const RiskRecord&, const RiskRecord&) = default;
};

// A run with growing responses: the times of one plan in each part, and the times with a plan per part.
struct RunRecord {
  struct Part {
    int iterations = 1;
    double length_factor = 1;  // for all responses
    double iteration_s = 0;    // with the plan
    double replanned_s = 0;    // with the plan in force if plans change
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;
  double change_s = 0;  // cost of one change of plans: checkpoint, restart
  int changes = 0;
  double total_s = 0, replanned_total_s = 0;  // whole run

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

struct SearchRecord {
  static constexpr std::string_view kKind = "search";
  static constexpr SchemaVersion kVersion{1, 4};  // 1.2: framework; 1.3: risk, run; 1.4: standing
  static constexpr std::int64_t kMaxCount = (std::int64_t{1} << 53) - 1;  // largest integer of a double

  std::string workflow;
  std::string cluster;
  std::string planner;
  // Framework whose execution options were searched (data/frameworks). Empty: those of HetRL's Appendix B, or
  // options from a file.
  std::string framework;
  std::uint64_t seed = 1;
  int threads = 1;                                  // of all ranks
  std::optional<double> budget_s;                   // absent: the planner's default if both are absent
  std::optional<std::uint64_t> budget_evaluations;  // candidates, or nodes of a tree

  // The goal, "time", "cost" or "devices", and the limits.
  std::string goal = "time";
  std::optional<double> max_iteration_s, max_usd_per_hour, max_usd_per_iteration;

  // Pinned tasks with their devices in the cluster document. `pinned_layouts` has the tasks whose layout was
  // given too.
  std::map<std::string, std::set<DeviceId>> pins;
  std::set<std::string> pinned_layouts;

  PlanOutcome outcome = PlanOutcome::infeasible;
  bool was_interrupted = false;
  std::string message;
  double wall_s = 0;             // whole search
  std::uint64_t candidates = 0;  // number evaluated
  std::uint64_t feasible = 0;    // number that fit
  std::uint64_t nodes = 0;       // nodes of the search tree
  std::vector<Improvement> curve;

  // About the planner's own space; absent: unknown. The bound is for the goal's value, over plans that respect
  // the limits.
  Proof proof = Proof::none;
  std::optional<double> space_lower_bound_s, space_lower_bound_usd;  // goals "time" and "cost"; per iteration
  std::optional<int> space_lower_bound_devices;                      // goal "devices"
  std::optional<double> space_gap_fraction;  // relative gap to the best plan of the space
  // Bounds of all plans of any planner: no plan is faster, none costs less per iteration (absent: no prices).
  // With a framework they hold for any execution options with the same precisions and trained weights;
  // otherwise for the options that were searched.
  double lower_bound_s = 0;
  std::optional<double> lower_bound_usd;

  // The members below are set only if a plan was found.
  std::string plan;  // name of the plan
  double iteration_s = 0;
  int devices = 0;                                                       // used by the plan
  std::optional<double> usd_per_hour, usd_per_iteration, usd_per_token;  // absent: some devices have no price
  std::optional<RunRecord> run;                                          // absent: not requested
  std::optional<RiskRecord> risk;                                        // goal "time"; absent: not requested
  // Sentences: what the plan gains over a layout without a search, and the number known least that its time depends on.
  std::vector<std::string> standing;
  // True if the gap to the bound of any plan is below 50 %; a larger one says little.
  [[nodiscard]] bool is_near_bound() const { return gap_fraction() < 0.5; }
  // The bounded plans: "with the same precisions and trained weights" or "with these execution options".
  [[nodiscard]] std::string_view bounded_plans() const;
  // Relative gap to the bound of any plan.
  [[nodiscard]] double gap_fraction() const { return std::max(0.0, iteration_s / lower_bound_s - 1); }
  // Relative gap in dollars per iteration. Returns nullopt without prices or a plan, or if the plan costs
  // something and its lower bound is zero.
  [[nodiscard]] std::optional<double> usd_gap_fraction() const;

  [[nodiscard]] bool has_limits() const { return max_iteration_s || max_usd_per_hour || max_usd_per_iteration; }
  // The verb phrase for a better plan: "is faster", "is cheaper", ...
  [[nodiscard]] std::string_view better() const;

  friend bool operator==(const SearchRecord&, const SearchRecord&) = default;
  static SearchRecord parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
