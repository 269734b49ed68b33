// A question for a plan: its options, and the request that they and the documents make.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ask/inputs.h"
#include "ask/memory_risk.h"
#include "ask/plan/plan_risk.h"
#include "ask/plan/planner_options.h"
#include "planner/request/subcluster.h"

namespace sextant::inline ask {

struct PlanQuestion {
  ModelInputs inputs;
  PlannerOptions planner;
  std::vector<std::string> excluded;  // nodes, devices (node/3), zones or regions
  bool any_layout = false;
  int lora_rank = 0;  // of all training tasks; 0: all weights train, or what the framework's profile says
  std::optional<double> max_memory_risk;  // unset: the usual one for plans of a framework, else any
  RiskOptions risk;
  RunOptions run;

  [[nodiscard]] double memory_risk() const { return max_memory_risk.value_or(kUsualRisk); }
  [[nodiscard]] bool limits_risk(const LoadedInputs& loaded) const {
    return loaded.profile.has_value() || max_memory_risk.has_value();
  }
};

// The process that plans.
struct PlanningProcess {
  int processes_on_host = 1;  // with the same cores, this one included: they share its threads
  bool uses_start = true;     // false: the plan of --warm-start is not loaded
};

// Throws Error(bad_input) for options that contradict each other or that the planner does not support.
struct PlanInputs {
  // loaded: load_inputs(question.inputs).
  PlanInputs(const PlanQuestion& question, LoadedInputs loaded, const PlanningProcess& process = {});
  PlanInputs(const PlanInputs&) = delete;  // the request refers to members
  PlanInputs& operator=(const PlanInputs&) = delete;

  LoadedInputs loaded;
  Subcluster left;
  const Planner& planner;
  PlanRequest request;
  Pins pins;  // on the whole cluster
  PlanResult start;
  std::vector<std::string> notes;  // what the plans of pins and the start leave out

  // The framework whose layouts the search respects.
  [[nodiscard]] const FrameworkProfile* profile_in_force(const PlanQuestion& question) const {
    return loaded.profile && !question.any_layout ? &*loaded.profile : nullptr;
  }
};

}  // namespace sextant::inline ask
