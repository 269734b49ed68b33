#include "planner/sha_ea/recombination.h"

#include <limits>

namespace sextant {

void recombine(SearchRun& run, const SeenSets& seen, std::uint64_t steps, std::mt19937_64& random,
               Scored& scored) {
  // No task takes longer than the iteration of a better plan.
  const bool is_timed = scored.score.fits() && run.request().objective.goal == Goal::time;
  const double below_s = is_timed ? scored.score.time_s : std::numeric_limits<double>::infinity();
  std::vector<std::vector<TaskChoice>> choices;
  for (int task = 0; task < run.evaluator().task_count(); ++task) {
    choices.push_back(seen.of(task, below_s));
    if (choices.back().empty()) return;
  }
  const Scored best = cool_down(run, choices, scored.candidate, steps, random);
  if (best.is_better_than(scored)) scored = best;
}

}  // namespace sextant
