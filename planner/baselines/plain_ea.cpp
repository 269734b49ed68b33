#include "planner/baselines/plain_ea.h"

#include <utility>

#include "planner/baselines/random_candidates.h"
#include "planner/sha_ea/arrangement.h"

namespace sextant::inline planner {
namespace {

// The parameters of DEAP's examples.
constexpr std::size_t kPopulation = 100;
constexpr std::size_t kTournament = 3;
constexpr double kCrossed = 0.5;  // of pairs
constexpr double kMutated = 0.2;  // of individuals

class Evolution {
 public:
  explicit Evolution(SearchRun& run, RandomCandidates& candidates)
      : run_(run), candidates_(candidates), random_(run.request().seed) {}

  void run() {
    while (population_.size() < kPopulation && !run_.is_over()) {
      population_.push_back({candidates_.candidate(random_), {}});
      evaluate(population_.back());
    }
    while (!run_.is_over()) next_generation();
  }

 private:
  [[nodiscard]] bool happens(double probability) {
    return static_cast<double>(random_() >> 11U) * 0x1.0p-53 < probability;
  }

  void evaluate(Scored& individual) {
    individual.score = run_.evaluator().evaluate(individual.candidate);
    run_.note(individual.score);
  }

  // The best of three candidates, drawn with repetition.
  [[nodiscard]] const Scored& selected() {
    const Scored* best = &population_[random_() % kPopulation];
    for (std::size_t k = 1; k < kTournament; ++k) {
      const Scored& other = population_[random_() % kPopulation];
      if (other.is_better_than(*best)) best = &other;
    }
    return *best;
  }

  // Uniform crossover: every task with even odds.
  void cross(Candidate& a, Candidate& b) {
    for (std::size_t t = 0; t < a.tasks.size(); ++t) {
      if (random_() % 2 == 0) std::swap(a.tasks[t], b.tasks[t]);
    }
  }

  // One task of the candidate on average.
  void mutate(Candidate& candidate) {
    for (std::size_t t = 0; t < candidate.tasks.size(); ++t) {
      if (random_() % candidate.tasks.size() == 0)
        candidate.tasks[t] = candidates_.placement(static_cast<int>(t), random_);
    }
  }

  void next_generation() {
    std::vector<Scored> offspring;
    for (std::size_t i = 0; i < kPopulation; ++i) offspring.push_back(selected());
    std::vector<bool> is_new(kPopulation, false);
    for (std::size_t i = 1; i < kPopulation; i += 2) {
      if (!happens(kCrossed)) continue;
      cross(offspring[i - 1].candidate, offspring[i].candidate);
      is_new[i - 1] = is_new[i] = true;
    }
    for (std::size_t i = 0; i < kPopulation; ++i) {
      if (happens(kMutated)) {
        mutate(offspring[i].candidate);
        is_new[i] = true;
      }
      if (is_new[i] && run_.is_over()) return;
      if (is_new[i]) evaluate(offspring[i]);
    }
    population_ = std::move(offspring);
  }

  SearchRun& run_;
  RandomCandidates& candidates_;
  std::mt19937_64 random_;
  std::vector<Scored> population_;
};

}  // namespace

PlanResult plan_by_plain_ea(const PlanRequest& request) {
  SearchRun run(request, 1);
  RandomCandidates candidates(run);
  if (const Task* task = candidates.task_without_shapes())
    return run.result("plain-ea", "task " + task->name + " has no layout on this cluster");
  Evolution(run, candidates).run();
  return run.result("plain-ea");
}

}  // namespace sextant::inline planner
