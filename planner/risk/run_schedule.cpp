#include "planner/risk/run_schedule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "planner/explain/judge.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct Candidates {
  std::vector<Plan> plans;
  std::vector<std::vector<double>> iteration_s;  // by part, then plan; infinite where it does not fit
};

double iteration_s(const PlanRequest& request, const Workflow& workflow, const Plan& plan) {
  PlanRequest of_part = with_inputs(request, request.cluster, workflow, request.coefficients);
  of_part.objective = {};
  const Judgement judgement = judge(of_part, request.cluster, plan, request.coefficients);
  return judgement.is_allowed ? judgement.loss : kInfinite;
}

Candidates candidates_of(const PlanRequest& request, const Plan& first, const std::vector<Workflow>& workflows,
                         const RunSearch& search) {
  Candidates found{{first}, {}};
  for (const Workflow& workflow : workflows) {
    std::optional<Plan> plan =
        search.plan(with_inputs(request, request.cluster, workflow, request.coefficients));
    if (plan && std::find(found.plans.begin(), found.plans.end(), *plan) == found.plans.end())
      found.plans.push_back(std::move(*plan));
  }
  for (const Workflow& workflow : workflows) {
    std::vector<double>& times_s = found.iteration_s.emplace_back();
    for (const Plan& plan : found.plans) times_s.push_back(iteration_s(request, workflow, plan));
  }
  return found;
}

void find_one_plan(const Candidates& candidates, const std::vector<RunPart>& parts, RunPlan& run) {
  run.total_s = kInfinite;
  for (std::size_t c = 0; c < candidates.plans.size(); ++c) {
    double total_s = 0;
    for (std::size_t p = 0; p < parts.size(); ++p)
      total_s += parts[p].iterations * candidates.iteration_s[p][c];
    if (total_s >= run.total_s) continue;
    run.total_s = total_s;
    run.plan = candidates.plans[c];
    run.iteration_s.clear();
    for (std::size_t p = 0; p < parts.size(); ++p) run.iteration_s.push_back(candidates.iteration_s[p][c]);
  }
}

// Least of the run until a part that ends with each plan, and which plan came before.
void find_sequence(const Candidates& candidates, const RunSearch& search, RunPlan& run) {
  const std::size_t plans = candidates.plans.size(), parts = search.parts.size();
  std::vector<std::vector<double>> until_s(parts, std::vector<double>(plans, kInfinite));
  std::vector<std::vector<std::size_t>> before(parts, std::vector<std::size_t>(plans, 0));
  for (std::size_t p = 0; p < parts; ++p) {
    for (std::size_t c = 0; c < plans; ++c) {
      double min_s = p == 0 ? 0 : kInfinite;
      for (std::size_t b = 0; p > 0 && b < plans; ++b) {
        const double changed_s = until_s[p - 1][b] + (b == c ? 0 : search.change_s);
        if (changed_s >= min_s) continue;
        min_s = changed_s;
        before[p][c] = b;
      }
      until_s[p][c] = min_s + search.parts[p].iterations * candidates.iteration_s[p][c];
    }
  }
  const std::vector<double>& last = until_s.back();
  auto c = static_cast<std::size_t>(std::min_element(last.begin(), last.end()) - last.begin());
  run.replanned_total_s = last[c];
  run.replanned_s.assign(parts, 0);
  for (std::size_t p = parts; p-- > 0;) {
    run.replanned_s[p] = candidates.iteration_s[p][c];
    if (p > 0 && before[p][c] != c) ++run.changes;
    c = before[p][c];
  }
}

}  // namespace

Workflow with_longer_responses(Workflow workflow, double factor) {
  workflow.response_tokens = scaled(std::move(workflow.response_tokens), factor);
  return workflow;
}

RunPlan plan_for_run(const PlanRequest& request, const Plan& first, const RunSearch& search) {
  SEXTANT_CHECK(!search.parts.empty());
  std::vector<Workflow> workflows;
  for (const RunPart& part : search.parts)
    workflows.push_back(with_longer_responses(request.workflow, part.length_factor));
  const Candidates candidates = candidates_of(request, first, workflows, search);
  RunPlan run;
  find_one_plan(candidates, search.parts, run);
  find_sequence(candidates, search, run);
  return run;
}

}  // namespace sextant::inline planner
