#include "ask/plan/plan_search.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/answer.h"
#include "planner/portfolio/portfolio.h"
#include "sextant/predict.h"

namespace sextant::inline ask {
namespace {

std::optional<MemoryRisk> risk_of(const PlanInputs& asked, const PlanResult& result) {
  const ChosenCoefficients& chosen = asked.loaded.chosen;
  return memory_risk_of(
      {asked.request.cluster, asked.loaded.workflow, *result.plan, chosen.coefficients, chosen.framework});
}

// Finds a plan that is as sure to fit as asked, where there is one; only one process limits the risk.
AnswerWithinRisk search_within_risk(const PlanQuestion& question, const PlanInputs& asked,
                                    const PlanRequest& request, const Searcher& searcher) {
  if (!question.limits_risk(asked.loaded) || !searcher.is_alone)
    return {searcher.search(request), request.memory_share};
  const auto start = std::chrono::steady_clock::now();
  AnswerWithinRisk found =
      plan_within_risk(request, {question.memory_risk(), searcher.search,
                                 [&](const PlanResult& result) { return risk_of(asked, result); }});
  // The record is of one of several searches; the question's own budget and time are those of all.
  SearchRecord& record = found.answer.record;
  record.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (request.budget.seconds > 0) record.budget_s = request.budget.seconds;
  if (request.budget.evaluations > 0) record.budget_evaluations = request.budget.evaluations;
  return found;
}

}  // namespace

PlanOutput search_once(const Planner& planner, const PlanRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  PlanResult result = planner.plan(request);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const bool was_interrupted = request.is_cancelled != nullptr && request.is_cancelled->load();
  SearchRecord record = record_of({planner, request, result, wall.count(), was_interrupted});
  return {std::move(result), std::move(record), ""};
}

PlanOutput search_as_asked(const PlanQuestion& question, const PlanInputs& asked, const Searcher& searcher) {
  PlanRequest request = asked.request;
  const bool has_budget = request.budget.seconds > 0 || request.budget.evaluations > 0;
  if (!has_budget && asked.planner.name == "portfolio" && searcher.is_alone)
    request.budget.seconds = kPortfolioBudget_s;
  const std::optional<RiskGoal> goal = risk_goal_of(question.planner.goal);
  const std::vector<RunPart> parts = run_parts(question.run);
  if (!goal && parts.empty()) return search_within_risk(question, asked, request, searcher).answer;
  PlanRequest one = request;
  one.budget = part_of(request.budget, kPartOfFirstSearch);
  AnswerWithinRisk first = search_within_risk(question, asked, one, searcher);
  if (first.answer.result.outcome != PlanOutcome::found || first.answer.record.was_interrupted)
    return std::move(first.answer);
  const double part =
      parts.empty() ? kPartOfSearchForRisk : kPartOfFirstSearch / static_cast<double>(parts.size());
  PlanRequest other = request;
  other.budget = part_of(request.budget, part);
  other.memory_share = first.memory_share;
  other.start = nullptr;
  const auto is_sure_to_fit = [&](const PlanResult& result) {
    if (!question.limits_risk(asked.loaded) || !first.answer.warning.empty()) return true;
    const std::optional<MemoryRisk> risk = risk_of(asked, result);
    return !risk || risk->probability <= question.memory_risk();
  };
  const RiskQuestion risky{goal.value_or(RiskGoal{}), question.risk, asked.loaded, asked.planner, other,
                           searcher.search,           is_sure_to_fit};
  if (goal) {
    choose_by_risk(risky, first.answer);
  } else {
    choose_for_run(risky, parts, question.run.change_s, first.answer);
  }
  return std::move(first.answer);
}

void complete_answer(const PlanQuestion& question, const PlanInputs& asked, PlanOutput& answer) {
  const LoadedInputs& loaded = asked.loaded;
  const ChosenCoefficients& chosen = loaded.chosen;
  record_pins(asked.pins, answer.record);
  if (loaded.profile) answer.record.framework = loaded.profile->name;
  PlanResult& result = answer.result;
  if (result.outcome != PlanOutcome::found) return;
  if (!question.excluded.empty()) {
    result.plan = asked.left.on_whole(*result.plan);
    result.prediction =
        predict(loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients, chosen.framework);
  }
  result.plan->framework = framework_of_plans(loaded);
  require_feasible(verify_plan(loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients,
                               chosen.framework, asked.pins));
  qualify(*result.prediction,
          {loaded.cluster, loaded.workflow, *result.plan, chosen.coefficients, chosen.framework});
  name_coefficients(*result.prediction, chosen);
}

}  // namespace sextant::inline ask
