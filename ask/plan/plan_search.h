// The search for a plan: divides its budget over the requested searches, and completes their answer.
#pragma once

#include <functional>

#include "ask/plan/plan_question.h"
#include "ask/plan/plan_within_risk.h"

namespace sextant::inline ask {

// Searches once, until the planner ends or the request is cancelled.
[[nodiscard]] PlanOutput search_once(const Planner& planner, const PlanRequest& request);

struct Searcher {
  std::function<PlanOutput(const PlanRequest&)> search;
  bool is_alone = true;  // false: one of several processes, which do not limit the memory risk
};

// One search, several to respect the memory risk, or those that a risk goal or a run of several parts needs.
[[nodiscard]] PlanOutput search_as_asked(const PlanQuestion& question, const PlanInputs& asked,
                                         const Searcher& searcher);

// Records pins and framework, returns the plan to the whole cluster, verifies it again, and adds intervals to its
// prediction. Throws Error(machine) if the plan breaks a rule.
void complete_answer(const PlanQuestion& question, const PlanInputs& asked, PlanOutput& answer);

}  // namespace sextant::inline ask
