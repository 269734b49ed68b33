#include "planner/search/chain.h"

#include <algorithm>
#include <deque>

#include "planner/search/acceptance.h"
#include "planner/space/composed_plan.h"

namespace sextant::inline planner {
namespace {

using Choices = std::vector<std::vector<TaskChoice>>;

// A number in [0, 1), the same on every machine.
double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1.0p-53; }

// The evaluations of a chain: the start, and plans with another choice for a task; the run counts them.
class Evaluated {
 public:
  Evaluated(SearchRun& run, const Choices& choices)
      : run_(run), evaluator_(run.evaluator()), choices_(choices) {}

  Scored begin(const Candidate& start) {
    Scored scored{start, evaluator_.evaluate(start)};
    run_.note(scored.score);
    return scored;
  }
  Score replace(std::size_t task, std::size_t choice) {
    const int t = static_cast<int>(task);
    evaluator_.replace_task(t, placement_of(evaluator_, t, choices_[task][choice]));
    const Score score = evaluator_.score();
    run_.note(score);
    return score;
  }
  void keep() { evaluator_.keep(); }
  void undo() { evaluator_.undo(); }
  // The current plan, better than all before.
  Scored best(const Score& score) { return {evaluator_.current(), score}; }

 private:
  SearchRun& run_;
  Evaluator& evaluator_;
  const Choices& choices_;
};

class Composed {
 public:
  Composed(SearchRun& run, const Choices& choices)
      : run_(run),
        evaluator_(run.evaluator()),
        choices_(choices),
        plan_(evaluator_, run.options(), run.request().workflow, run.request().objective,
              run.free_memory_bytes()) {
    for (const std::vector<TaskChoice>& of_task : choices_) {
      std::vector<ComposedPlan::Part>& parts = parts_.emplace_back();
      const std::vector<std::uint16_t>* devices = nullptr;
      for (const TaskChoice& choice : of_task) {
        if (devices != choice.devices) add_set(*choice.devices);
        devices = choice.devices;
        parts.push_back(plan_.part(*choice.option, sets_.back()));
      }
    }
  }

  Scored begin(const Candidate& start) {
    start_ = start;
    std::vector<ComposedPlan::Part> parts;
    for (int task = 0; task < evaluator_.task_count(); ++task) {
      const Placement& placement = start.tasks[static_cast<std::size_t>(task)];
      start_options_.push_back(run_.options().as_option(task, placement));
      add_set(placement.devices);
      parts.push_back(plan_.part(start_options_.back(), sets_.back()));
    }
    chosen_.assign(parts.size(), nullptr);
    plan_.begin(std::move(parts));
    best_ = evaluated();
    run_.count(best_.score);
    return best_;
  }

  Score replace(std::size_t task, std::size_t choice) {
    task_ = task;
    before_ = chosen_[task];
    chosen_[task] = &choices_[task][choice];
    Score score = plan_.replace(task, parts_[task][choice]);
    // The sum of parts may exceed what any device needs.
    if (score.excess_bytes > 0 && score.overrun <= 0 && best_.score.fits() && score.loss < best_.score.loss)
      score.excess_bytes = evaluated().score.excess_bytes;
    run_.count(score);
    return score;
  }
  void keep() {}
  void undo() {
    plan_.undo();
    chosen_[task_] = before_;
  }
  Scored best(const Score&) { return best_ = evaluated(); }

 private:
  void add_set(const std::vector<std::uint16_t>& devices) {
    sets_.push_back(device_set(devices, run_.free_memory_bytes().size()));
  }

  // The current plan as the evaluator has it, offered to the run.
  Scored evaluated() {
    Scored scored;
    for (std::size_t t = 0; t < chosen_.size(); ++t) {
      scored.candidate.tasks.push_back(
          chosen_[t] == nullptr ? start_.tasks[t] : placement_of(evaluator_, static_cast<int>(t), *chosen_[t]));
    }
    scored.score = evaluator_.evaluate(scored.candidate);
    run_.offer(scored.score);
    return scored;
  }

  SearchRun& run_;
  Evaluator& evaluator_;
  const Choices& choices_;
  std::deque<std::vector<std::uint64_t>> sets_;
  std::vector<std::vector<ComposedPlan::Part>> parts_;  // by task, as its choices are
  std::deque<Option> start_options_;
  ComposedPlan plan_;
  Candidate start_;
  std::vector<const TaskChoice*> chosen_;  // by task; null: as in the start
  Scored best_;
  std::size_t task_ = 0;  // that was changed last, and what it had before
  const TaskChoice* before_ = nullptr;
};

template <typename Plans>
Scored cool_down(SearchRun& run, Plans plans, const Choices& choices, const Candidate& start,
                 std::uint64_t steps, std::mt19937_64& random) {
  constexpr std::uint64_t kAtOneTemperature = 16;  // steps, between which nobody looks at the clock
  const double free_memory_bytes =
      *std::min_element(run.free_memory_bytes().begin(), run.free_memory_bytes().end());
  Scored best = plans.begin(start);
  double loss = loss_of(best.score, free_memory_bytes), temperature = temperature_at(0, steps);
  for (std::uint64_t step = 1; step < steps; ++step) {
    if (step % kAtOneTemperature == 1) {
      if (run.is_over()) break;
      temperature = temperature_at(step, steps);
    }
    const std::size_t task = random() % choices.size();
    const Score score = plans.replace(task, random() % choices[task].size());
    const double proposed = loss_of(score, free_memory_bytes);
    if (unit(random) < acceptance_probability(loss, proposed, temperature)) {
      plans.keep();
      loss = proposed;
      if (score.is_better_than(best.score)) best = plans.best(score);
    } else {
      plans.undo();
    }
  }
  plans.keep();
  return best;
}

}  // namespace

Placement placement_of(const Evaluator& evaluator, int task, const TaskChoice& choice) {
  const Option& option = *choice.option;
  return placed(evaluator.shapes(task).at(option.shape), option.shape, option.order, *choice.devices);
}

Scored cool_down(SearchRun& run, const Choices& choices, const Candidate& start, std::uint64_t steps,
                 std::mt19937_64& random) {
  if (run.evaluator().is_composable()) {
    return cool_down(run, Composed(run, choices), choices, start, steps, random);
  }
  return cool_down(run, Evaluated(run, choices), choices, start, steps, random);
}

}  // namespace sextant::inline planner
