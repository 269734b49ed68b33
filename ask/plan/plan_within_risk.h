// Searches until the plan respects the memory risk: the uncertainty of a plan's memory is known only once the
// plan is.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ask/memory_risk.h"
#include "ask/plan/search_record.h"
#include "sextant/planner.h"
#include "sextant/predict.h"

namespace sextant::inline ask {

struct PlanOutput {
  PlanResult result;
  SearchRecord record;
  std::string warning;  // empty, or that the plan exceeds the risk limit
};

// Returns a part of the budget. Evaluations are rounded up, because zero means no limit.
[[nodiscard]] Budget part_of(const Budget& whole, double part);

struct RiskLimit {
  double probability = kUsualRisk;  // maximum probability of running out of memory
  std::function<PlanOutput(const PlanRequest&)> search;
  std::function<std::optional<MemoryRisk>(const PlanResult&)> risk_of;
};

struct AnswerWithinRisk {
  PlanOutput answer;
  double memory_share = 1;  // fraction that plans as uncertain as those found may fill
};

// Returns the fastest plan found within the limit; if there is none, the least risky of all, with a warning. A
// first search with a tenth of the budget shows how uncertain plans are here, a second one takes most of it;
// while a plan is too risky, one more search may fill less of the memory. Together they respect the budget;
// without a budget each one ends by itself.
[[nodiscard]] AnswerWithinRisk plan_within_risk(PlanRequest request, const RiskLimit& limit);

}  // namespace sextant::inline ask
