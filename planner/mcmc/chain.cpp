#include "planner/mcmc/chain.h"

#include <algorithm>

#include "planner/mcmc/acceptance.h"

namespace sextant {
namespace {

// Of [0, 1), the same on every machine.
double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1.0p-53; }

}  // namespace

Placement placement_of(const Evaluator& evaluator, int task, const TaskChoice& choice) {
  return placed(evaluator.shapes(task).at(choice.shape), choice.shape, choice.order, *choice.devices);
}

Scored cool_down(SearchRun& run, const std::vector<std::vector<TaskChoice>>& choices, const Candidate& start,
                 std::uint64_t steps, std::mt19937_64& random) {
  Evaluator& evaluator = run.evaluator();
  const std::vector<double> rooms = rooms_of_devices(run.request());
  const double room_bytes = *std::min_element(rooms.begin(), rooms.end());
  Scored best{start, evaluator.evaluate(start)};
  run.note(best.score);
  double loss = loss_of(best.score, room_bytes);
  for (std::uint64_t step = 1; step < steps && !run.is_over(); ++step) {
    const std::size_t task = random() % choices.size();
    const TaskChoice& drawn = choices[task][random() % choices[task].size()];
    evaluator.replace_task(static_cast<int>(task), placement_of(evaluator, static_cast<int>(task), drawn));
    const Score score = evaluator.score();
    run.note(score);
    const double proposed = loss_of(score, room_bytes);
    if (unit(random) < acceptance_probability(loss, proposed, temperature_at(step, steps))) {
      evaluator.keep();
      loss = proposed;
      if (score.is_better_than(best.score)) best = {evaluator.current(), score};
    } else {
      evaluator.undo();
    }
  }
  evaluator.keep();
  return best;
}

}  // namespace sextant
