#include "cli/plan/plan_search.h"

#include <optional>
#include <string>

#include "cli/plan/search_progress.h"
#include "cli/shared/interrupt.h"
#include "cli/shared/notes.h"

namespace sextant::cli {
namespace {

// Rank 0 shows its own best until the search ends.
PlanOutput search(const Planner& planner, PlanRequest request, RankGroup& ranks) {
  const Interrupt interrupt;
  std::optional<SearchProgress> progress;
  if (ranks.is_first()) progress.emplace(std::string(planner.name), request.budget.seconds);
  if (!ranks.is_alone()) request.ranks = &ranks;
  request.is_cancelled = &interrupt.flag();
  request.on_improvement = [&](const Improvement& improvement) {
    if (progress) progress->improved(improvement);
  };
  return search_once(planner, request);
}

}  // namespace

PlanOutput search_aloud(const PlanOptions& options, const AskedPlan& asked, RankGroup& ranks) {
  PlanOutput answer = search_as_asked(
      options, asked,
      {[&](const PlanRequest& request) { return search(asked.planner, request, ranks); }, ranks.is_alone()});
  if (!answer.warning.empty()) say({answer.warning});
  return answer;
}

}  // namespace sextant::cli
