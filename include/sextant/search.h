// How a plan was searched for: what was asked of which planner, how the best so far fell, and how far from the
// best the answer can be.
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
  found,       // the plan fits and is the best of what was searched
  infeasible,  // no layout fits, or none that was looked at: the message says what is short
  too_large,   // the space exceeds the limit: nothing was searched
};

// What is known of plans that were not looked at.
enum class Proof {
  none,        // nothing beyond the gap
  optimal,     // none in the planner's space is better, to a relative 1e-9; or none fits
  gap,         // none is better than the lower bound; the search ended at its budget of evaluations
  time_limit,  // the same; it ended by the clock, or was cancelled
};

// A plan that was better than all before it.
struct Improvement {
  std::uint64_t evaluations = 0;  // that it took: the same on every machine
  double seconds = 0;             // since the search began, of a wall clock
  double iteration_s = 0;
  // What the goal lowers (sextant/objective.h): for the goal "time" iteration_s; for "cost" dollars and next to
  // nothing for the time, by which plans that cost the same differ.
  double loss = 0;

  friend bool operator==(const Improvement&, const Improvement&) = default;
};

// By what share `value` exceeds its lower bound; 0 where it does not. Missing: the bound is zero, and says
// nothing.
[[nodiscard]] std::optional<double> relative_gap(double value, double lower_bound);

[[nodiscard]] std::string_view name_of(PlanOutcome outcome);  // "found", ...
[[nodiscard]] std::string_view name_of(Proof proof);          // "time_limit", ...

// Says how a plan was judged that is to be best at a percentile, or in the mean, of the times that may come.
struct RiskRecord {
  std::string goal;             // "p90": of ten times nine are no longer; "mean"
  int draws = 0;                // of coefficients, lengths of responses, far links
  double response_lengths = 0;  // standard deviations of logarithms of what was drawn
  double far_links = 0;
  int plans = 0;                   // that were judged
  double iteration_s = 0;          // the plan's percentile or mean
  double fastest_iteration_s = 0;  // that of the plan that is fastest at the documented values

  friend bool operator==(const RiskRecord&, const RiskRecord&) = default;
};

// A run whose responses grow: what one plan takes in each part of it, and what a plan for each part would.
struct RunRecord {
  struct Part {
    int iterations = 1;
    double length_factor = 1;  // of all responses
    double iteration_s = 0;    // of the plan
    double replanned_s = 0;    // of the plan that is in force when plans change
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;
  double change_s = 0;  // a change of plans: checkpoint, restart
  int changes = 0;
  double total_s = 0, replanned_total_s = 0;  // of the run

  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

struct SearchRecord {
  static constexpr std::string_view kKind = "search";
  static constexpr SchemaVersion kVersion{1, 3};                          // 1.2: framework; 1.3: risk, run
  static constexpr std::int64_t kMaxCount = (std::int64_t{1} << 53) - 1;  // whole numbers that a double holds

  std::string workflow;
  std::string cluster;
  std::string planner;
  // Whose execution options were chosen among (data/frameworks). Empty: those of HetRL's Appendix B, or stated
  // ones.
  std::string framework;
  std::uint64_t seed = 1;
  int threads = 1;                                  // on all ranks
  std::optional<double> budget_s;                   // none: the planner's own, where both are missing
  std::optional<std::uint64_t> budget_evaluations;  // of candidates, or of nodes of a tree

  // What the plan was to be best in, "time", "cost" or "devices", and what it might not exceed.
  std::string goal = "time";
  std::optional<double> max_iteration_s, max_usd_per_hour, max_usd_per_iteration;

  // Tasks that had to stay where they are: on these devices of the cluster document; in the second also how
  // they are laid out on them was given.
  std::map<std::string, std::set<DeviceId>> pins;
  std::set<std::string> pinned_layouts;

  PlanOutcome outcome = PlanOutcome::infeasible;
  bool was_interrupted = false;
  std::string message;
  double wall_s = 0;             // of the whole search
  std::uint64_t candidates = 0;  // that were costed
  std::uint64_t feasible = 0;    // of them, fit
  std::uint64_t nodes = 0;       // of a tree that was searched
  std::vector<Improvement> curve;

  // Of the planner's own space. Missing: nothing is known of it. The bound is of what the goal lowers, for
  // plans that keep the limits.
  Proof proof = Proof::none;
  std::optional<double> space_lower_bound_s, space_lower_bound_usd;  // goal "time"; "cost", of an iteration
  std::optional<int> space_lower_bound_devices;                      // goal "devices"
  std::optional<double> space_gap_fraction;  // the plan is at most so far from the best of the space
  // Of any plan of any planner: none is faster, none costs less in an iteration (missing: no prices). With a
  // framework whatever its execution options, as long as precisions and what is trained stay; else with the
  // options that were searched.
  double lower_bound_s = 0;
  std::optional<double> lower_bound_usd;

  // Only where one was found.
  std::string plan;  // its name
  double iteration_s = 0;
  int devices = 0;                                                       // that it uses
  std::optional<double> usd_per_hour, usd_per_iteration, usd_per_token;  // missing: not all have prices
  std::optional<RunRecord> run;                                          // missing: not asked
  std::optional<RiskRecord> risk;                                        // goal "time"; missing: not asked
  // Whether the gap to the bound of any plan says anything: half as much again is no news.
  [[nodiscard]] bool is_near_bound() const { return gap_fraction() < 0.5; }
  // "with the same precisions and trained weights" or "with these execution options": what the bound is of.
  [[nodiscard]] std::string_view bounded_plans() const;
  // The plan is at most so far from the best of all.
  [[nodiscard]] double gap_fraction() const { return std::max(0.0, iteration_s / lower_bound_s - 1); }
  // The same of dollars an iteration. Missing: no prices, no plan, or a plan that costs something where nothing
  // is known but that none costs less than nothing.
  [[nodiscard]] std::optional<double> usd_gap_fraction() const;

  [[nodiscard]] bool has_limits() const { return max_iteration_s || max_usd_per_hour || max_usd_per_iteration; }
  // What a plan that is better does: "is faster", "is cheaper", ...
  [[nodiscard]] std::string_view better() const;

  friend bool operator==(const SearchRecord&, const SearchRecord&) = default;
  static SearchRecord parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
