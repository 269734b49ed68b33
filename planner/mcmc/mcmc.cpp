#include "planner/mcmc/mcmc.h"

#include <algorithm>
#include <random>

#include "planner/mcmc/acceptance.h"
#include "planner/mcmc/meshes.h"

namespace sextant {
namespace {

class Chain {
 public:
  explicit Chain(SearchRun& run)
      : run_(run), evaluator_(run.evaluator()), table_(run), random_(run.request().seed) {
    const std::vector<double> rooms = rooms_of_devices(run.request());
    room_bytes_ = *std::min_element(rooms.begin(), rooms.end());
  }

  // A task that no mesh can hold.
  [[nodiscard]] const Task* task_without_options() const {
    for (int t = 0; t < evaluator_.task_count(); ++t) {
      if (table_.of(t).empty()) return &run_.request().workflow.tasks[static_cast<std::size_t>(t)];
    }
    return nullptr;
  }

  void run() {
    constexpr std::uint64_t kFirstSteps = 8192;
    std::uint64_t steps = kFirstSteps;
    for (int chain = 0; !run_.is_over(); ++chain) {
      const Candidate* best = run_.best();
      const Candidate start = best == nullptr ? fastest_of_each() : chain % 2 == 0 ? *best : drawn();
      cool_down(start, std::min(steps, run_.evaluations_left()));
      if (chain % 2 == 1) steps *= 2;
    }
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t count) { return random_() % count; }
  // Of [0, 1), the same on every machine.
  [[nodiscard]] double unit() { return static_cast<double>(random_() >> 11U) * 0x1.0p-53; }

  [[nodiscard]] Candidate fastest_of_each() const {
    Candidate candidate;
    for (int t = 0; t < evaluator_.task_count(); ++t)
      candidate.tasks.push_back(table_.placement(t, table_.fastest(t)));
    return candidate;
  }

  [[nodiscard]] Candidate drawn() {
    Candidate candidate;
    for (int t = 0; t < evaluator_.task_count(); ++t)
      candidate.tasks.push_back(table_.placement(t, table_.of(t)[below(table_.of(t).size())]));
    return candidate;
  }

  double noted(const Score& score) {
    run_.note(score);
    return loss_of(score, room_bytes_);
  }

  void cool_down(const Candidate& start, std::uint64_t steps) {
    double loss = noted(evaluator_.evaluate(start));
    for (std::uint64_t step = 1; step < steps && !run_.is_over(); ++step) {
      const int task = static_cast<int>(below(static_cast<std::size_t>(evaluator_.task_count())));
      evaluator_.replace_task(task, table_.placement(task, table_.of(task)[below(table_.of(task).size())]));
      const double proposed = noted(evaluator_.score());
      if (unit() < acceptance_probability(loss, proposed, temperature_at(step, steps))) {
        evaluator_.keep();
        loss = proposed;
      } else {
        evaluator_.undo();
      }
    }
    evaluator_.keep();
  }

  SearchRun& run_;
  Evaluator& evaluator_;
  MeshTable table_;
  std::mt19937_64 random_;
  double room_bytes_ = 0;
};

}  // namespace

PlanResult plan_by_mcmc(const PlanRequest& request) {
  SearchRun run(request, 1);
  Chain chain(run);
  const Task* stranded = chain.task_without_options();
  // A table that was cut short says nothing about what could be laid out.
  if (stranded == nullptr) chain.run();
  const bool is_known = stranded != nullptr && !run.is_over();
  return run.result("mcmc", is_known ? "task " + stranded->name + " has no layout on this cluster" : "");
}

}  // namespace sextant
