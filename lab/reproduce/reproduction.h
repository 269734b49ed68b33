// Results of the planners on the experiments of a paper, with the published figures.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"
#include "sextant/prediction.h"

namespace sextant::inline lab {

struct ReproducedTask {
  double time_s = 0;
  double exposed_s = 0;  // time that it adds to the iteration
  Term largest_term = Term::compute;
  double largest_term_s = 0;

  friend bool operator==(const ReproducedTask&, const ReproducedTask&) = default;
};

// A predicted plan, or the reason why there is none.
struct ReproducedPlan {
  std::string name;     // in the tables: "sha-ea", "searched"
  std::string planner;  // the planner that found it; empty: the paper prints it
  std::string problem;  // empty: there is a plan, described by the members below
  std::string layout;
  double iteration_s = 0;
  double sequences_per_s = 0;
  double tokens_per_s = 0;  // prompts and responses
  double weight_sync_s = 0;
  double usd_per_hour = 0;       // for the devices that it uses; zero if no price is known
  std::uint64_t candidates = 0;  // evaluated by the search; zero if not known
  double found_s = 0;            // wall-clock time since the search began
  std::map<std::string, ReproducedTask> tasks;

  [[nodiscard]] bool has_plan() const { return problem.empty(); }
  friend bool operator==(const ReproducedPlan&, const ReproducedPlan&) = default;
};

// The results of one workflow on one cluster.
struct ReproducedCell {
  std::string name;  // "multi-country/Qwen3-8B/ppo/sync"
  std::string cluster;
  int devices = 1;
  std::vector<ReproducedPlan> plans;
  std::optional<double> lower_bound_s = {};  // no plan of any planner takes less

  friend bool operator==(const ReproducedCell&, const ReproducedCell&) = default;
};

// One number of the model and the published one, which may be a range over several cells.
struct Comparison {
  std::string group;  // figures that the paper states together: "multi-country, sync: over verl"
  std::string cell;
  std::string source;  // section or table
  std::string unit;    // "x" for ratios
  std::optional<double> ours;
  double published_low = 0;
  double published_high = 0;
  bool agrees = false;
  std::string sentence;  // if they disagree: by how much, and what the prediction shows about it

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

// The reason why the figures of a group disagree, found by changing one thing at a time.
struct Cause {
  std::string group;
  std::string sentence;

  friend bool operator==(const Cause&, const Cause&) = default;
};

// Adds the sentence as the cause for each of these groups.
inline void add_cause(std::vector<Cause>& all, std::initializer_list<const char*> groups,
                      const std::string& sentence) {
  for (const char* group : groups) all.push_back({group, sentence});
}

struct ReproducedExperiment {
  std::string name;  // "hetrl"
  std::string paper;
  std::string coefficients;  // a file's name, or "none"
  std::string framework;
  std::vector<std::string> assumptions;  // unstated in the paper; sentences
  std::vector<ReproducedCell> cells;
  std::vector<Comparison> comparisons;
  std::vector<Cause> causes = {};
  std::vector<std::string> contradictions = {};  // inside the paper; sentences

  friend bool operator==(const ReproducedExperiment&, const ReproducedExperiment&) = default;
};

struct Reproduction {
  static constexpr std::string_view kKind = "reproduction";
  static constexpr SchemaVersion kVersion{2, 1};

  // The end of each search: a time, or a number of candidates (nodes of a tree). 0: not that.
  double budget_s = 0;
  std::uint64_t budget_evaluations = 0;
  std::uint64_t seed = 1;
  int threads = 1;
  bool was_interrupted = false;
  std::vector<ReproducedExperiment> experiments;

  friend bool operator==(const Reproduction&, const Reproduction&) = default;
  static Reproduction parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::inline lab
