#include "planner/sha_ea/recombination.h"

#include <algorithm>
#include <limits>

namespace sextant::inline planner {

namespace {

std::vector<std::uint16_t> ascending(std::vector<std::uint16_t> devices) {
  std::sort(devices.begin(), devices.end());
  return devices;
}

}  // namespace

void recombine(SearchRun& run, const SeenSets& seen, std::uint64_t steps, std::mt19937_64& random,
               Scored& scored, RecombinedSets sets) {
  // In a better plan no task takes longer than the iteration of this one.
  const bool is_timed = scored.score.fits() && run.request().objective.goal == Goal::time;
  const double below_s = is_timed ? scored.score.time_s : std::numeric_limits<double>::infinity();
  std::vector<std::vector<TaskChoice>> choices;
  for (int task = 0; task < run.evaluator().task_count(); ++task) {
    choices.push_back(seen.of(task, below_s));
    if (sets == RecombinedSets::own) {
      const auto own = ascending(scored.candidate.tasks[static_cast<std::size_t>(task)].devices);
      std::erase_if(choices.back(),
                    [&](const TaskChoice& choice) { return ascending(*choice.devices) != own; });
    }
    if (choices.back().empty()) return;
  }
  const Scored best = cool_down(run, choices, scored.candidate, steps, random);
  if (best.is_better_than(scored)) scored = best;
}

}  // namespace sextant::inline planner
