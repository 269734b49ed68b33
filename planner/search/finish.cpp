#include "planner/search/finish.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "planner/search/search_run.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

using TaskSet = std::vector<std::size_t>;

// The part of a placement that the tasks of a set have in common.
struct SharedLayout {
  std::vector<std::uint16_t> devices;  // by position
  std::vector<int> layers;             // by stage
  int width = 1;
  int replicas = 1;
  int context_parallel = 1, expert_parallel = 1, expert_tensor_parallel = 0;

  friend auto operator<=>(const SharedLayout&, const SharedLayout&) = default;
};

SharedLayout layout_of(const Shape& shape, const Execution& execution, std::vector<std::uint16_t> devices) {
  return {std::move(devices),
          shape.layers,
          shape.tensor_parallel,
          shape.data_parallel(),
          execution.context_parallel,
          execution.expert_parallel,
          execution.expert_tensor_parallel};
}

// Searches the layout of one set of tasks.
class LayoutOfSet {
 public:
  LayoutOfSet(const PlanRequest& request, SearchTables& tables, const TaskSet& tasks)
      : request_(request), evaluator_(tables.evaluator), options_(tables.options), tasks_(tasks) {}

  // The candidate with the best shared layout, which need not fit; empty if the tasks have none in common.
  [[nodiscard]] std::optional<Candidate> best(const Candidate& candidate) {
    std::optional<Candidate> best;
    Score best_score;
    std::size_t tried = 0;
    for (const SharedLayout& layout : promising(candidate)) {
      const bool is_for_all = std::none_of(
          tasks_.begin(), tasks_.end(), [&](std::size_t task) { return placements_of(task, layout).empty(); });
      if (!is_for_all) continue;
      if (++tried > max_layouts() && best && best_score.fits()) break;
      const Score score = choose(layout, candidate);
      if (best && !score.is_better_than(best_score)) continue;
      best = evaluator_.current();
      best_score = score;
    }
    return best;
  }

 private:
  using Timed = std::pair<double, Placement>;  // seconds of the task alone

  // Unless none of so many fits. Fewer on large clusters, whose layouts take long to cost.
  [[nodiscard]] std::size_t max_layouts() const {
    constexpr int kMaximum = 24, kMinimum = 3, kDevices = 512;
    const int devices = std::max(1, request_.cluster.device_count());
    return static_cast<std::size_t>(std::clamp(kMaximum * kDevices / devices, kMinimum, kMaximum));
  }

  // The layouts that some task of the set would choose alone, and those of the candidate; those first in which the
  // tasks may be fastest.
  [[nodiscard]] std::vector<SharedLayout> promising(const Candidate& candidate) {
    std::vector<std::uint16_t> devices = candidate.tasks[tasks_.front()].devices;
    std::sort(devices.begin(), devices.end());
    // A vector has an entry for each task of the set: the fastest time of the task, or with this layout.
    std::map<SharedLayout, std::vector<double>> times_s;
    std::vector<double> fastest_s;
    for (const std::size_t task : tasks_) {
      const std::vector<Option>& options = options_.of(static_cast<int>(task), devices);
      fastest_s.push_back(options.empty() ? 0 : options.front().value.time_s);
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const int t = static_cast<int>(tasks_[i]);
      std::set<SharedLayout> seen;  // options are sorted: the first with a layout is the fastest
      const auto add = [&](int shape, std::vector<std::uint16_t> on, double time_s) {
        const Shape& of = evaluator_.shapes(t).at(shape);
        SharedLayout layout = layout_of(of, evaluator_.execution(t, of), std::move(on));
        const auto entry = times_s.try_emplace(layout, fastest_s).first;
        if (seen.insert(std::move(layout)).second) entry->second[i] = time_s;
      };
      for (const Option& option : options_.of(t, devices)) {
        const Shape& shape = evaluator_.shapes(t).at(option.shape);
        add(option.shape, placed(shape, option.shape, option.order, devices).devices, option.value.time_s);
      }
      const Placement& own = candidate.tasks[tasks_[i]];
      if (std::is_permutation(own.devices.begin(), own.devices.end(), devices.begin(), devices.end()))
        add(own.shape, own.devices, fastest_s[i]);
    }
    std::vector<std::pair<double, const SharedLayout*>> sorted;
    for (const auto& [layout, seconds] : times_s)
      sorted.emplace_back(std::accumulate(seconds.begin(), seconds.end(), 0.0), &layout);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<SharedLayout> layouts;
    for (const auto& [seconds, layout] : sorted) layouts.push_back(*layout);
    return layouts;
  }

  // The placements of a task that have this layout, fastest first.
  const std::vector<Timed>& placements_of(std::size_t task, const SharedLayout& layout) {
    const auto [entry, is_new] = known_.try_emplace({task, layout});
    if (!is_new) return entry->second;
    const int t = static_cast<int>(task);
    const auto [shapes, is_first] = shapes_.try_emplace(task);
    if (is_first)
      shapes->second = shapes_of(request_.workflow.tasks[task], request_.workflow,
                                 static_cast<int>(layout.devices.size()), shape_limits_of(request_));
    for (const Shape& shape : shapes->second) {
      if (layout_of(shape, evaluator_.execution(t, shape), layout.devices) != layout) continue;
      const Placement placement{evaluator_.shapes(t).add(shape), layout.devices};
      entry->second.emplace_back(evaluator_.value_of(t, placement).time_s, placement);
    }
    std::stable_sort(entry->second.begin(), entry->second.end(),
                     [](const Timed& a, const Timed& b) { return a.first < b.first; });
    return entry->second;
  }

  // Makes the candidate with this layout of the set current, each task with the options that fit best.
  [[nodiscard]] Score choose(const SharedLayout& layout, Candidate candidate) {
    for (const std::size_t task : tasks_) candidate.tasks[task] = placements_of(task, layout).front().second;
    Score score = evaluator_.evaluate(candidate);
    constexpr int kRounds = 2;
    for (int round = 0; round < kRounds; ++round) {
      for (const std::size_t task : tasks_) {
        for (const auto& [seconds, placement] : placements_of(task, layout)) {
          evaluator_.replace_task(static_cast<int>(task), placement);
          const Score tried = evaluator_.score();
          if (tried.is_better_than(score, SearchRun::kRounding)) {
            evaluator_.keep();
            score = tried;
          } else {
            evaluator_.undo();
          }
        }
      }
    }
    return score;
  }

  const PlanRequest& request_;
  Evaluator& evaluator_;
  OptionTable& options_;
  const TaskSet& tasks_;
  std::map<std::size_t, std::vector<Shape>> shapes_;  // by task, on the set's devices
  std::map<std::pair<std::size_t, SharedLayout>, std::vector<Timed>> known_;
};

bool obeys(const Plan& plan, const Workflow& workflow, const TaskSet& tasks) {
  const TaskPlan& first = plan.tasks.at(workflow.tasks[tasks.front()].name);
  return std::all_of(tasks.begin(), tasks.end(), [&](std::size_t task) {
    return have_same_layout(first, plan.tasks.at(workflow.tasks[task].name));
  });
}

// The sets that break the rule and are not pinned.
std::vector<TaskSet> sets_to_mend(const PlanRequest& request, const Plan& plan) {
  std::vector<TaskSet> sets;
  for (TaskSet& tasks : connected_tasks(request.device_rules.same_layout)) {
    const bool is_pinned = std::any_of(tasks.begin(), tasks.end(), [&](std::size_t task) {
      return request.limits.pins.contains(request.workflow.tasks[task].name);
    });
    if (!is_pinned && !obeys(plan, request.workflow, tasks)) sets.push_back(std::move(tasks));
  }
  return sets;
}

double loss_of_answer(const PlanRequest& request, const PlanResult& result) {
  return loss_of(request.objective, result.prediction->iteration_s, rented_by(*result.plan, request.cluster));
}

void take_candidate(const Candidate& candidate, const PlanRequest& request, const Evaluator& evaluator,
                    PlanResult& result) {
  result.plan = evaluator.plan_of(candidate, std::string(result.plan->name));
  result.prediction =
      predict(request.cluster, request.workflow, *result.plan, request.coefficients, request.framework);
}

// The last improvement is the answer: those that only the rule made impossible go.
void end_curve_at(double loss, PlanResult& result) {
  std::vector<Improvement>& curve = result.improvements;
  if (curve.empty()) return;
  Improvement last = curve.back();
  last.iteration_s = result.prediction->iteration_s;
  last.loss = loss;
  while (!curve.empty() && curve.back().loss <= loss * (1 + SearchRun::kRounding)) curve.pop_back();
  curve.push_back(last);
}

void drop_plan(PlanResult& result) {
  result.outcome = PlanOutcome::infeasible;
  result.message = "no plan fits in which the tasks of one engine have one layout, as the framework demands";
  result.plan.reset();
  result.prediction.reset();
  result.proof = Proof::none;
  result.gap_fraction = std::numeric_limits<double>::infinity();
}

// Gives the task the fastest option on its devices with which the plan fits and its loss is not above the limit.
void shorten(int task, double max_loss, SearchTables& tables, Candidate& candidate) {
  Evaluator& evaluator = tables.evaluator;
  std::vector<std::uint16_t> devices = candidate.tasks[static_cast<std::size_t>(task)].devices;
  std::sort(devices.begin(), devices.end());
  const std::vector<Option>& options = tables.options.of(task, devices);
  (void)evaluator.evaluate(candidate);
  const double task_s = evaluator.task_s(task);
  constexpr double kWorthwhile = 0.05;
  for (const Option& option : options) {
    if (option.value.time_s >= task_s * (1 - kWorthwhile)) return;
    const Shape& shape = evaluator.shapes(task).at(option.shape);
    evaluator.replace_task(task, placed(shape, option.shape, option.order, devices));
    const Score score = evaluator.score();
    if (score.fits() && score.loss <= max_loss) {
      evaluator.keep();
      candidate = evaluator.current();
      return;
    }
    evaluator.undo();
  }
}

}  // namespace

bool have_same_layout(const TaskPlan& task, const TaskPlan& other) {
  const auto degrees = [](const Execution& execution) {
    return std::tuple(execution.context_parallel, execution.expert_parallel, execution.expert_tensor_parallel);
  };
  return degrees(task.execution) == degrees(other.execution) &&
         std::equal(task.replicas.begin(), task.replicas.end(), other.replicas.begin(), other.replicas.end(),
                    [](const Replica& a, const Replica& b) { return a.stages == b.stages; });
}

std::vector<std::vector<std::size_t>> connected_tasks(const TaskPairs& pairs) {
  std::vector<std::set<std::size_t>> sets;
  for (const auto& [task, other] : pairs) {
    std::set<std::size_t> joined{task, other};
    std::erase_if(sets, [&](const std::set<std::size_t>& set) {
      if (!set.contains(task) && !set.contains(other)) return false;
      joined.insert(set.begin(), set.end());
      return true;
    });
    sets.push_back(std::move(joined));
  }
  std::vector<std::vector<std::size_t>> listed;
  for (const std::set<std::size_t>& set : sets) listed.emplace_back(set.begin(), set.end());
  return listed;
}

void share_layouts(const PlanRequest& request, PlanResult& result) {
  if (!result.plan) return;
  const std::vector<TaskSet> sets = sets_to_mend(request, *result.plan);
  if (sets.empty()) return;
  SearchTables tables(request);
  std::optional<Candidate> candidate = candidate_of(*result.plan, request, tables.evaluator);
  if (!candidate) return;
  for (const TaskSet& tasks : sets) {
    candidate = LayoutOfSet(request, tables, tasks).best(*candidate);
    if (!candidate) return drop_plan(result);
  }
  if (!tables.evaluator.evaluate(*candidate).fits()) return drop_plan(result);
  const double loss_before = loss_of_answer(request, result);
  take_candidate(*candidate, request, tables.evaluator, result);
  const double loss = loss_of_answer(request, result);
  end_curve_at(loss, result);
  if (loss <= loss_before * (1 + SearchRun::kRounding) || result.proof == Proof::none) return;
  if (result.proof == Proof::optimal) result.proof = Proof::gap;
  if (result.lower_bound > 0) result.gap_fraction = loss / result.lower_bound - 1;
}

void use_slack(const PlanRequest& request, PlanResult& result) {
  if (!result.plan) return;
  SearchTables tables(request);
  Evaluator& evaluator = tables.evaluator;
  std::optional<Candidate> candidate = candidate_of(*result.plan, request, evaluator);
  if (!candidate) return;
  std::set<std::size_t> fixed;
  for (const TaskSet& tasks : connected_tasks(request.device_rules.same_layout))
    fixed.insert(tasks.begin(), tasks.end());
  const double max_loss = evaluator.evaluate(*candidate).loss * (1 + kMaxLossOfSlack);
  const Candidate before = *candidate;
  for (std::size_t t = 0; t < candidate->tasks.size(); ++t) {
    if (!fixed.contains(t) && !request.limits.pins.contains(request.workflow.tasks[t].name))
      shorten(static_cast<int>(t), max_loss, tables, *candidate);
  }
  if (*candidate == before) return;
  take_candidate(*candidate, request, evaluator, result);
  end_curve_at(loss_of_answer(request, result), result);
}

}  // namespace sextant
