#include "planner/baselines/random_search.h"

#include "planner/baselines/random_candidates.h"

namespace sextant::inline planner {

PlanResult plan_by_random(const PlanRequest& request) {
  SearchRun run(request, 1);
  RandomCandidates candidates(run);
  if (const Task* task = candidates.task_without_shapes())
    return run.result("random", "task " + task->name + " has no layout on this cluster");
  std::mt19937_64 random(request.seed);
  while (!run.is_over()) run.note(run.evaluator().evaluate(candidates.candidate(random)));
  return run.result("random");
}

}  // namespace sextant::inline planner
