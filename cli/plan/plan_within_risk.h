// Searches until the plan is as sure to fit as was asked: how uncertain its memory is, only the plan itself
// says.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/plan/memory_risk.h"
#include "cli/plan/search_record.h"
#include "sextant/planner.h"

namespace sextant::cli {

struct PlanOutput {
  PlanResult result;
  SearchRecord record;
};

// Evaluations are rounded up, because zero would be no limit.
[[nodiscard]] Budget part_of(const Budget& whole, double part);

struct RiskLimit {
  double probability = kUsualRisk;  // of running out of memory; at most
  std::function<PlanOutput(const PlanRequest&)> search;
  std::function<std::optional<MemoryRisk>(const PlanResult&)> risk_of;
};

struct AnswerWithinRisk {
  PlanOutput answer;
  std::string warning;      // empty, or that the plan is riskier than asked
  double memory_share = 1;  // that plans as uncertain as those found may fill
};

// The fastest plan found within the limit; where there is none, the fastest of all, with a warning. A first
// search of a tenth of the budget tells how uncertain plans here are, a second one takes most of it; while a
// plan is too risky, one more search may fill less of the memory. All of them together keep to the budget;
// without a budget each one ends by itself.
[[nodiscard]] AnswerWithinRisk plan_within_risk(PlanRequest request, const RiskLimit& limit);

}  // namespace sextant::cli
