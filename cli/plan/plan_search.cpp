#include "cli/plan/plan_search.h"

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/plan/search_progress.h"
#include "cli/shared/interrupt.h"
#include "planner/portfolio/portfolio.h"
#include "sextant/trust.h"

namespace sextant::cli {
namespace {

// Until the planner ends, or someone presses Ctrl-C, which mpirun passes on to all ranks. Rank 0 shows its own
// best until then.
PlanOutput search(const Planner& planner, PlanRequest request, RankGroup& ranks) {
  const Interrupt interrupt;
  std::optional<SearchProgress> progress;
  if (ranks.is_first()) progress.emplace(std::string(planner.name), request.budget.seconds);
  if (!ranks.is_alone()) request.ranks = &ranks;
  request.is_cancelled = &interrupt.flag();
  request.on_improvement = [&](const Improvement& improvement) {
    if (progress) progress->improved(improvement);
  };
  const auto start = std::chrono::steady_clock::now();
  PlanResult result = planner.plan(request);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  SearchRecord record = record_of({planner, request, result, wall.count(), interrupt.came()});
  return {std::move(result), std::move(record)};
}

Prediction qualified(const PlanInputs& asked, const PlanResult& result) {
  const ChosenCoefficients& chosen = asked.loaded.chosen;
  Prediction prediction = *result.prediction;
  qualify(prediction,
          {asked.request.cluster, asked.loaded.workflow, *result.plan, chosen.coefficients, chosen.framework});
  return prediction;
}

// Finds a plan that is as sure to fit as asked, where there is one; only one process limits the risk.
AnswerWithinRisk search_within_risk(const PlanOptions& options, const PlanInputs& asked,
                                    const PlanRequest& request, RankGroup& ranks) {
  if (!options.limits_risk(asked.loaded) || !ranks.is_alone())
    return {search(asked.planner, request, ranks), "", request.memory_share};
  AnswerWithinRisk found = plan_within_risk(
      request,
      {options.memory_risk(), [&](const PlanRequest& part) { return search(asked.planner, part, ranks); },
       [&](const PlanResult& result) { return memory_risk_of(qualified(asked, result)); }});
  if (!found.warning.empty()) std::fprintf(stderr, "sextant: %s\n", found.warning.c_str());
  return found;
}

}  // namespace

PlanOutput search_as_asked(const PlanOptions& options, const PlanInputs& asked, RankGroup& ranks) {
  PlanRequest request = asked.request;
  const bool has_budget = request.budget.seconds > 0 || request.budget.evaluations > 0;
  if (!has_budget && asked.planner.name == "portfolio" && ranks.is_alone())
    request.budget.seconds = kPortfolioBudget_s;
  const std::optional<RiskGoal> goal = risk_goal_of(options.planner.goal);
  const std::vector<RunPart> parts = run_parts(options.run);
  if (!goal && parts.empty()) return search_within_risk(options, asked, request, ranks).answer;
  PlanRequest one = request;
  one.budget = part_of(request.budget, kPartOfFirstSearch);
  AnswerWithinRisk first = search_within_risk(options, asked, one, ranks);
  if (first.answer.result.outcome != PlanOutcome::found || first.answer.record.was_interrupted)
    return std::move(first.answer);
  const double part =
      parts.empty() ? kPartOfSearchForRisk : kPartOfFirstSearch / static_cast<double>(parts.size());
  PlanRequest other = request;
  other.budget = part_of(request.budget, part);
  other.memory_share = first.memory_share;
  other.start = nullptr;
  const auto is_sure_to_fit = [&](const PlanResult& result) {
    if (!options.limits_risk(asked.loaded) || !first.warning.empty()) return true;
    const std::optional<MemoryRisk> risk = memory_risk_of(qualified(asked, result));
    return !risk || risk->probability <= options.memory_risk();
  };
  const RiskQuestion question{goal.value_or(RiskGoal{}),
                              options.risk,
                              asked.loaded,
                              asked.planner,
                              other,
                              [&](const PlanRequest& drawn) { return search(asked.planner, drawn, ranks); },
                              is_sure_to_fit};
  if (goal) {
    choose_by_risk(question, first.answer);
  } else {
    choose_for_run(question, parts, options.run.change_s, first.answer);
  }
  return std::move(first.answer);
}

}  // namespace sextant::cli
