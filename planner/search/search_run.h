// What searches have in common: the evaluator, the budget, the best plan so far and how it was found.
#pragma once

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/search/islands.h"
#include "planner/space/options.h"
#include "sextant/planner.h"

namespace sextant {

// As a request asks; stages are no wider than the largest machine.
[[nodiscard]] ShapeLimits shape_limits_of(const PlanRequest& request);

// Bytes that tasks may take, by device: what it has, less what the runtime itself takes.
[[nodiscard]] std::vector<double> free_memory_by_device(const PlanRequest& request);

struct Scored {
  Candidate candidate;
  Score score;

  [[nodiscard]] bool is_better_than(const Scored& other) const { return score.is_better_than(other.score); }
};

// What a search looks plans up in. Runs one after the other may have one in common: what one has costed the
// next need not cost again.
struct SearchTables {
  explicit SearchTables(const PlanRequest& request);

  Evaluator evaluator;
  OptionTable options;
  std::vector<double> free_memory_bytes;  // free_memory_by_device
};

class SearchRun {
 public:
  // The request must outlive it. default_s: how long a search without a budget goes on; zero: until it has seen
  // all it looks at. Throws Error(bad_input) for a cluster that the evaluator cannot hold.
  SearchRun(const PlanRequest& request, double default_s);
  // tables: made for the same request but for budget and seed. Both must outlive it.
  SearchRun(const PlanRequest& request, double default_s, SearchTables& tables);

  [[nodiscard]] const PlanRequest& request() const { return request_; }
  [[nodiscard]] Evaluator& evaluator() { return tables_.evaluator; }
  [[nodiscard]] OptionTable& options() { return tables_.options; }
  [[nodiscard]] const SearchTables& tables() const { return tables_; }
  [[nodiscard]] const std::vector<double>& free_memory_bytes() const { return tables_.free_memory_bytes; }

  // The budget is spent, someone cancelled, or a task cannot run where it is pinned.
  [[nodiscard]] bool is_over() const { return is_cancelled() || is_spent() || !stranded_.empty(); }

  // A task that is pinned: its devices ascending, or in the order of the layout that it is pinned to.
  struct Pinned {
    std::vector<std::uint16_t> devices;
    bool has_layout = false;  // its only option
  };
  // Null: the search says where the task runs.
  [[nodiscard]] const Pinned* pinned(int task) const;
  // The tasks for which it does; where there is none the first, of which nothing that is said matters.
  [[nodiscard]] const std::vector<int>& dealt_tasks() const { return dealt_tasks_; }

  // Counts the evaluator's current candidate, or the move that is tried on it, as one evaluation, and keeps it
  // where it is better than all before: by more than rounding, so that of equals the first stays.
  void note(const Score& score) {
    count(score);
    offer(score);
  }
  // The two apart: for plans that are costed otherwise first (space/composed_plan.h).
  void count(const Score& score);
  void offer(const Score& score);
  // The same of a plan that no candidate can hold (unlike replicas or stages); made where it is kept.
  void note(const Score& score, const std::function<Plan()>& make_plan);
  // Counts evaluations of what is no answer to the request: of a workflow that stands in for it.
  void spend(std::uint64_t evaluations);

  // Calls `pause` whenever so many evaluations have been counted, where a search may wait without harm.
  void pause_every(std::uint64_t evaluations, std::function<void()> pause);

  // The best so far, or of those that do not fit the one that lacks least; null before the first, and where it
  // was noted as a plan.
  [[nodiscard]] const Candidate* best() const { return best_ && !best_->plan ? &best_->candidate : nullptr; }

  // suffix: of the plan's name, that of the planner. hindrance: why nothing fits, where the search knows better
  // than that it found nothing. The gap is infinite: a search proves nothing.
  [[nodiscard]] PlanResult result(const std::string& suffix, const std::string& hindrance = {}) const;

  // The same as one of several searches, by its number among them.
  [[nodiscard]] IslandEnd end(int number, const std::string& suffix) const;

  // Until the budget of them is spent; as many as there are numbers where there is none.
  [[nodiscard]] std::uint64_t evaluations_left() const;

  static constexpr double kRounding = 1e-9;  // relative: plans that are this near are equally good

 private:
  [[nodiscard]] bool is_cancelled() const;
  [[nodiscard]] bool is_spent() const;
  [[nodiscard]] double seconds() const;
  [[nodiscard]] bool is_better(const Score& score) const;
  [[nodiscard]] Plan best_plan(const std::string& suffix) const;
  [[nodiscard]] std::string shortage() const;
  SearchRun(const PlanRequest& request, double default_s, std::unique_ptr<SearchTables> own);
  void pin(int task, const Pin& pin);

  const PlanRequest& request_;
  std::chrono::steady_clock::time_point start_;
  Budget budget_;
  std::unique_ptr<SearchTables> own_tables_;  // where they are not someone else's
  SearchTables& tables_;
  std::uint64_t evaluations_ = 0, feasible_ = 0;
  std::uint64_t pause_at_ = std::numeric_limits<std::uint64_t>::max(), pause_every_ = 0;  // evaluations
  std::function<void()> pause_;
  struct Best {
    Candidate candidate;
    Score score;
    std::optional<Plan> plan = {};  // in place of the candidate
  };
  void take(Best best);
  std::optional<Best> best_;
  std::vector<Improvement> improvements_;
  std::vector<std::optional<Pinned>> pinned_;  // by task
  std::vector<int> dealt_tasks_;
  std::string stranded_;  // what is wrong with a pin
};

// A layout of a task as a search for the request holds it. Nothing where its replicas or stages are not cut
// alike, or its execution is not among the task's choices.
[[nodiscard]] std::optional<CanonicalLayout> canonical_layout_in_search(int task, const TaskPlan& layout,
                                                                        const PlanRequest& request);

// Why a pinned task has no layout on as many devices as it is pinned to; empty where it has.
[[nodiscard]] std::string infeasible_pin_reason(const PlanRequest& request, int task, int devices);

// "best of 12 plans that fit, of 40 that were looked at".
[[nodiscard]] std::string best_of_plans(std::uint64_t feasible, std::uint64_t looked_at);

}  // namespace sextant
