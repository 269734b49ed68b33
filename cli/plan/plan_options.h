// The options of sextant plan, and what every rank makes of them.
#pragma once

#include <string>
#include <vector>

#include "ask/plan/plan_question.h"
#include "cli/plan/explain.h"
#include "cli/probe/rank_group.h"

namespace sextant::cli {

struct PlanOptions : PlanQuestion {
  ExplainOptions explain;
  std::string out;
  std::string prediction_out;
  std::string search_out;
  int pareto_points = 0;
  bool compares_modes = false;
  bool is_list = false;
  bool json = false;

  [[nodiscard]] bool makes_several() const { return pareto_points > 0 || compares_modes; }
};

// The inputs of a plan, as every rank reads them from its own files. Throws Error(bad_input) for options that
// contradict each other, that the planner does not support, or that several ranks cannot do together.
struct AskedPlan : PlanInputs {
  AskedPlan(const PlanOptions& options, const RankGroup& ranks);

  Scenarios scenarios;
};

}  // namespace sextant::cli
