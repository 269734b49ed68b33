// The inputs of sextant plan: its options, and the request that they and the documents make.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ask/inputs.h"
#include "cli/plan/explain.h"
#include "cli/plan/plan_risk.h"
#include "cli/plan/planner_options.h"
#include "cli/probe/rank_group.h"
#include "cli/shared/memory_risk.h"
#include "planner/request/subcluster.h"

namespace sextant::cli {

struct PlanOptions {
  ModelInputs inputs;
  PlannerOptions planner;
  ExplainOptions explain;
  std::string out;
  std::string prediction_out;
  std::string search_out;
  std::vector<std::string> excluded;
  int pareto_points = 0;
  bool any_layout = false;
  std::optional<double> max_memory_risk;  // unset: the usual one for plans of a framework, else any

  [[nodiscard]] double memory_risk() const { return max_memory_risk.value_or(kUsualRisk); }
  [[nodiscard]] bool limits_risk(const LoadedInputs& loaded) const {
    return loaded.profile.has_value() || max_memory_risk.has_value();
  }
  RiskOptions risk;
  RunOptions run;
  bool compares_modes = false;
  bool is_list = false;
  bool json = false;

  [[nodiscard]] bool makes_several() const { return pareto_points > 0 || compares_modes; }
};

// The inputs of a plan, as every rank reads them from its own files. Throws Error(bad_input) for options that
// contradict each other or that the planner does not support.
struct PlanInputs {
  PlanInputs(const PlanOptions& options, const RankGroup& ranks);

  LoadedInputs loaded;
  Subcluster left;
  const Planner& planner;
  std::vector<Scenario> scenarios;
  PlanRequest request;
  Pins pins;  // on the whole cluster
  PlanResult start;

  // The framework whose layouts the search respects.
  [[nodiscard]] const FrameworkProfile* profile_in_force(const PlanOptions& options) const {
    return loaded.profile && !options.any_layout ? &*loaded.profile : nullptr;
  }
};

}  // namespace sextant::cli
