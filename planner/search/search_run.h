// Common parts of searches: the evaluator, the budget, the best plan so far and the improvements.
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

namespace sextant::inline planner {

// The request's limits of shapes; stages are no wider than the largest machine.
[[nodiscard]] ShapeLimits shape_limits_of(const PlanRequest& request);

// Bytes that tasks may use, by device: its memory without what the runtime itself takes.
[[nodiscard]] std::vector<double> free_memory_by_device(const PlanRequest& request);

struct Scored {
  Candidate candidate;
  Score score;

  [[nodiscard]] bool is_better_than(const Scored& other) const { return score.is_better_than(other.score); }
};

// The caches of a search. Consecutive runs may share them, so that the next run does not repeat the costing of
// the previous one.
struct SearchTables {
  explicit SearchTables(const PlanRequest& request);

  Evaluator evaluator;
  OptionTable options;
  std::unique_ptr<OptionExchange> known_options;  // PlanRequest::known_options; null if there are none
  std::vector<double> free_memory_bytes;          // free_memory_by_device
};

class SearchRun {
 public:
  // The request must outlive the run. default_s: time limit of a search without a budget; zero: it runs until
  // its space is exhausted. Throws Error(bad_input) for a cluster that the evaluator cannot handle.
  SearchRun(const PlanRequest& request, double default_s);
  // tables: made for a request that differs in budget and seed only. Both must outlive the run.
  SearchRun(const PlanRequest& request, double default_s, SearchTables& tables);

  [[nodiscard]] const PlanRequest& request() const { return request_; }
  [[nodiscard]] Evaluator& evaluator() { return tables_.evaluator; }
  [[nodiscard]] OptionTable& options() { return tables_.options; }
  [[nodiscard]] const SearchTables& tables() const { return tables_; }
  [[nodiscard]] const std::vector<double>& free_memory_bytes() const { return tables_.free_memory_bytes; }

  // True if the budget is spent, the search is cancelled, or a task cannot run where it is pinned.
  [[nodiscard]] bool is_over() const { return is_cancelled() || is_spent() || !stranded_.empty(); }

  // A pinned task; its devices are ascending, or in the order of its pinned layout.
  struct Pinned {
    std::vector<std::uint16_t> devices;
    bool has_layout = false;  // its only option
  };
  // Null if the task is not pinned.
  [[nodiscard]] const Pinned* pinned(int task) const;
  // Tasks that are not pinned. If all are pinned, it holds task 0 as a placeholder.
  [[nodiscard]] const std::vector<int>& dealt_tasks() const { return dealt_tasks_; }

  // Counts the evaluator's current candidate, or its current move, as one evaluation, and stores it if it is
  // better than all before by more than rounding, so that of equal plans the first stays.
  void note(const Score& score) {
    count(score);
    offer(score);
  }
  // The two steps of note(), for plans that are first costed in another way (space/composed_plan.h).
  void count(const Score& score);
  void offer(const Score& score);
  // The same for a plan that no candidate can hold (unlike replicas or stages); make_plan builds it if stored.
  void note(const Score& score, const std::function<Plan()>& make_plan);
  // Counts evaluations of plans for a substitute workflow, which do not answer the request.
  void spend(std::uint64_t evaluations);

  // Calls `pause` after every `evaluations` counted evaluations, at points where the search may wait.
  void pause_every(std::uint64_t evaluations, std::function<void()> pause);

  // The best candidate so far, or if none fits the one with the smallest excess; null before the first, and if
  // the best was noted as a plan.
  [[nodiscard]] const Candidate* best() const { return best_ && !best_->plan ? &best_->candidate : nullptr; }

  // The result of the search. suffix: of the plan's name, usually the planner's. hindrance: the reason why
  // nothing fits, if the search knows it. The gap is infinite, because a search proves nothing.
  [[nodiscard]] PlanResult result(const std::string& suffix, const std::string& hindrance = {}) const;

  // The same for one of several searches, with its number.
  [[nodiscard]] IslandEnd end(int number, const std::string& suffix) const;

  // Remaining evaluations of the budget; the maximum of the type if there is no limit.
  [[nodiscard]] std::uint64_t evaluations_left() const;

  static constexpr double kRounding = 1e-9;  // relative: plans within this margin are equally good

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
  std::unique_ptr<SearchTables> own_tables_;  // unless the caller gave tables
  SearchTables& tables_;
  std::uint64_t evaluations_ = 0, feasible_ = 0;
  std::uint64_t pause_at_ = std::numeric_limits<std::uint64_t>::max(), pause_every_ = 0;  // evaluations
  std::function<void()> pause_;
  struct Best {
    Candidate candidate;
    Score score;
    std::optional<Plan> plan = {};  // instead of the candidate
  };
  void take(Best best);
  std::optional<Best> best_;
  std::vector<Improvement> improvements_;
  std::vector<std::optional<Pinned>> pinned_;  // by task
  std::vector<int> dealt_tasks_;
  std::string stranded_;  // error message of an infeasible pin
};

// The layout of a task in the representation of searches. Returns nullopt if its replicas or stages differ, or
// if its execution is not among the task's choices.
[[nodiscard]] std::optional<CanonicalLayout> canonical_layout_in_search(int task, const TaskPlan& layout,
                                                                        const PlanRequest& request);

// A plan as a candidate of the evaluator. Returns nullopt if canonical_layout_in_search does for a task, or if a
// task is missing.
[[nodiscard]] std::optional<Candidate> candidate_of(const Plan& plan, const PlanRequest& request,
                                                    Evaluator& evaluator);

// The reason why a pinned task has no layout on that number of devices; empty if it has one.
[[nodiscard]] std::string infeasible_pin_reason(const PlanRequest& request, int task, int devices);

// "best of 12 plans that fit, of 40 that were looked at".
[[nodiscard]] std::string best_of_plans(std::uint64_t feasible, std::uint64_t looked_at);

}  // namespace sextant::inline planner
