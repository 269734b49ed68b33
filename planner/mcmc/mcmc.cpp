#include "planner/mcmc/mcmc.h"

#include <algorithm>
#include <random>

#include "planner/mcmc/meshes.h"
#include "planner/search/chain.h"

namespace sextant::inline planner {
namespace {

class McmcSearch {
 public:
  explicit McmcSearch(SearchRun& run)
      : run_(run), evaluator_(run.evaluator()), table_(run), random_(run.request().seed) {}

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
      (void)cool_down(run_, table_.choices(), start, std::min(steps, run_.evaluations_left()), random_);
      if (chain % 2 == 1) steps *= 2;
    }
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t count) { return random_() % count; }
  [[nodiscard]] Candidate fastest_of_each() const {
    Candidate candidate;
    for (int t = 0; t < evaluator_.task_count(); ++t)
      candidate.tasks.push_back(placement_of(evaluator_, t, table_.fastest(t)));
    return candidate;
  }

  [[nodiscard]] Candidate drawn() {
    Candidate candidate;
    for (int t = 0; t < evaluator_.task_count(); ++t)
      candidate.tasks.push_back(placement_of(evaluator_, t, table_.of(t)[below(table_.of(t).size())]));
    return candidate;
  }

  SearchRun& run_;
  Evaluator& evaluator_;
  MeshTable table_;
  std::mt19937_64 random_;
};

}  // namespace

PlanResult plan_by_mcmc(const PlanRequest& request) {
  SearchRun run(request, 1);
  McmcSearch search(run);
  const Task* stranded = search.task_without_options();
  // A table that was cut short says nothing about what could be laid out.
  if (stranded == nullptr) search.run();
  const bool is_known = stranded != nullptr && !run.is_over();
  return run.result("mcmc", is_known ? "task " + stranded->name + " has no layout on this cluster" : "");
}

}  // namespace sextant::inline planner
