#include "planner/search/finish.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "planner/search/common_options.h"
#include "planner/search/engine_rules.h"
#include "planner/search/search_run.h"
#include "planner/search/shared_layouts.h"
#include "sextant/predict.h"

namespace sextant::inline planner {
namespace {

std::vector<std::size_t> pinned_tasks(const PlanRequest& request) {
  std::vector<std::size_t> pinned;
  for (std::size_t t = 0; t < request.workflow.tasks.size(); ++t) {
    if (request.limits.pins.contains(request.workflow.tasks[t].name)) pinned.push_back(t);
  }
  return pinned;
}

// The rules that name none of these tasks.
EngineRules without(const std::vector<std::size_t>& tasks, EngineRules rules) {
  const auto is_one = [&](std::size_t task) {
    return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
  };
  const auto has_one = [&](const auto& pair) { return is_one(pair.first) || is_one(pair.second); };
  std::erase_if(rules.same_layout, has_one);
  std::erase_if(rules.common_options, [&](const EngineRules::Common& common) {
    return std::any_of(common.tasks.begin(), common.tasks.end(), is_one);
  });
  std::erase_if(rules.offload_when_shared, [&](const auto& rule) { return is_one(rule.first); });
  return rules;
}

// Gives the devices of each task in ascending order to its replicas and stages as the framework does. Returns
// whether anything changed.
bool number_ranks(const PlanRequest& request, const Evaluator& evaluator, Candidate& candidate) {
  const Candidate before = candidate;
  for (std::size_t t = 0; t < candidate.tasks.size(); ++t) {
    const RankOrder order = choices_for(request.choices, t).rank_order;
    if (order == RankOrder::any || request.limits.pins.contains(request.workflow.tasks[t].name)) continue;
    Placement& placement = candidate.tasks[t];
    std::vector<std::uint16_t> devices = placement.devices;
    std::sort(devices.begin(), devices.end());
    placement =
        placed(evaluator.shapes(static_cast<int>(t)).at(placement.shape), placement.shape,
               order == RankOrder::stages_outermost ? DeviceOrder::by_stage : DeviceOrder::by_replica, devices);
  }
  return candidate != before;
}

// Searches the layouts and options with which a candidate obeys.
class Obedience {
 public:
  Obedience(const PlanRequest& request, const EngineRules& rules, SearchTables& tables)
      : request_(request),
        rules_(rules),
        tables_(tables),
        values_(request, tables.evaluator, rules.common_options) {}

  // The best candidate that obeys, which need not fit; empty if none obeys.
  [[nodiscard]] std::optional<Candidate> best(const Candidate& candidate) {
    for (std::size_t t = 0; t < candidate.tasks.size(); ++t)
      asked_offload_.push_back(
          asked_offload(t, plan_of(candidate), request_.workflow, rules_, request_.choices));
    best_.reset();
    try_all(candidate);
    return best_;
  }

 private:
  [[nodiscard]] Plan plan_of(const Candidate& candidate) const {
    return tables_.evaluator.plan_of(candidate, "plan");
  }

  // Tries the promising values of the common options, with one layout for the tasks of connected pairs.
  void try_all(const Candidate& candidate) {
    std::vector<LayoutsOfSet> sets;
    std::set<std::size_t> in_pairs;
    for (TaskNumbers& tasks : connected_tasks(rules_.same_layout)) {
      in_pairs.insert(tasks.begin(), tasks.end());
      sets.emplace_back(request_, tables_, std::move(tasks));
    }
    for (std::size_t t = 0; t < candidate.tasks.size(); ++t) {
      if (!in_pairs.contains(t) && !request_.limits.pins.contains(request_.workflow.tasks[t].name))
        sets.emplace_back(request_, tables_, TaskNumbers{t});
    }
    std::size_t tried = 0;
    for (const OptionValues& values : promising_values(candidate)) {
      if (tried++ >= max_values() && best_ && best_score_.fits()) break;
      const auto filter = [&](std::size_t task, int shape) {
        return values_.has(values, task, shape) && obeys_alone(task, shape);
      };
      try_values(candidate, filter, sets);
    }
  }

  // Changes the sets that do not obey, and all of them, from the leanest on, if the result does not fit.
  void try_values(const Candidate& before, const LayoutsOfSet::Filter& filter,
                  std::vector<LayoutsOfSet>& sets) {
    Candidate candidate = before;
    for (const bool every : {false, true}) {
      for (LayoutsOfSet& set : sets) {
        if (!every) break;
        std::optional<Candidate> leaner = set.leanest(candidate, filter);
        if (!leaner) return;
        candidate = std::move(*leaner);
      }
      for (LayoutsOfSet& set : sets) {
        if (!every && obeys(candidate, set.tasks(), filter)) continue;
        std::optional<Candidate> better = set.best(candidate, filter);
        if (!better) return;
        candidate = std::move(*better);
      }
      const Score score = tables_.evaluator.evaluate(candidate);
      if (!best_ || score.is_better_than(best_score_)) {
        best_ = candidate;
        best_score_ = score;
      }
      if (score.fits()) return;
    }
  }

  [[nodiscard]] bool obeys(const Candidate& candidate, const TaskNumbers& tasks,
                           const LayoutsOfSet::Filter& filter) const {
    const Plan plan = plan_of(candidate);
    const auto planned = [&](std::size_t task) -> const TaskPlan& {
      return plan.tasks.at(request_.workflow.tasks[task].name);
    };
    return std::all_of(tasks.begin(), tasks.end(), [&](std::size_t task) {
      return filter(task, candidate.tasks[task].shape) &&
             have_same_layout(planned(tasks.front()), planned(task));
    });
  }

  // The rules about one task.
  [[nodiscard]] bool obeys_alone(std::size_t task, int position) const {
    const int t = static_cast<int>(task);
    const Shape& shape = tables_.evaluator.shapes(t).at(position);
    return !asked_offload_[task] ||
           tables_.evaluator.execution(t, shape).offload_weights == *asked_offload_[task];
  }

  // Fewer on large clusters, whose layouts take long to cost.
  [[nodiscard]] std::size_t max_values() const {
    constexpr int kMaximum = 24, kMinimum = 4, kDevices = 128;
    return static_cast<std::size_t>(
        std::clamp(kMaximum * kDevices / std::max(1, request_.cluster.device_count()), kMinimum, kMaximum));
  }

  // The values of common options. First a few that most tasks of the candidate have, by their time, as the
  // candidate fits; then those with which the tasks may be fastest.
  [[nodiscard]] std::vector<OptionValues> promising_values(const Candidate& candidate) {
    struct Choice {
      double changed_s = 0;  // time of the tasks that have other values
      double sum_s = 0;
      OptionValues values;
    };
    std::vector<Choice> choices;
    for (OptionValues& values : values_.all()) {
      Choice choice;
      for (std::size_t t = 0; t < candidate.tasks.size(); ++t) {
        const double time_s = fastest_s(candidate, t, values);
        choice.sum_s += time_s;
        if (!values_.has(values, t, candidate.tasks[t].shape)) choice.changed_s += time_s;
      }
      choice.values = std::move(values);
      choices.push_back(std::move(choice));
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.changed_s < b.changed_s; });
    const auto few = choices.begin() + static_cast<std::ptrdiff_t>(std::min(choices.size(), max_values() / 2));
    std::stable_sort(few, choices.end(), [](const Choice& a, const Choice& b) { return a.sum_s < b.sum_s; });
    std::vector<OptionValues> all;
    for (Choice& choice : choices) all.push_back(std::move(choice.values));
    return all;
  }

  // The time of a task on its devices: as it is, or if that has other values, as fast as it is known to be.
  [[nodiscard]] double fastest_s(const Candidate& candidate, std::size_t task, const OptionValues& values) {
    const int t = static_cast<int>(task);
    const Placement& own = candidate.tasks[task];
    if (values_.has(values, task, own.shape)) return tables_.evaluator.value_of(t, own).time_s;
    std::vector<std::uint16_t> devices = own.devices;
    std::sort(devices.begin(), devices.end());
    const std::vector<Option>& options = tables_.options.of(t, devices);
    for (const Option& option : options) {
      if (values_.has(values, task, option.shape)) return option.value.time_s;
    }
    constexpr double kUnknown = 1.05;  // of options that were not worth keeping
    return options.empty() ? 0 : kUnknown * options.front().value.time_s;
  }

  const PlanRequest& request_;
  const EngineRules& rules_;
  SearchTables& tables_;
  CommonOptionValues values_;
  std::vector<std::optional<bool>> asked_offload_;  // by task
  std::optional<Candidate> best_;
  Score best_score_;
};

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
  result.message =
      "no plan fits in which tasks of one engine have the layout and the options that the framework gives them "
      "all";
  result.plan.reset();
  result.prediction.reset();
  result.proof = Proof::none;
  result.gap_fraction = std::numeric_limits<double>::infinity();
}

// Gives the task the fastest option on its devices with which the plan fits and its loss is not above the limit.
void shorten(int task, double max_loss, std::optional<bool> offloads_weights, SearchTables& tables,
             Candidate& candidate) {
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
    if (offloads_weights && evaluator.execution(task, shape).offload_weights != *offloads_weights) continue;
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

void obey_engine_rules(const PlanRequest& request, PlanResult& result) {
  if (!result.plan) return;
  const EngineRules rules = without(pinned_tasks(request), request.engine_rules);
  const auto has_order = [](const TaskChoices& choices) { return choices.rank_order != RankOrder::any; };
  if (rules.empty() && std::none_of(request.choices.begin(), request.choices.end(), has_order)) return;
  SearchTables tables(request);
  std::optional<Candidate> candidate = candidate_of(*result.plan, request, tables.evaluator);
  if (!candidate) return;
  const bool is_numbered = !number_ranks(request, tables.evaluator, *candidate);
  const Plan numbered = tables.evaluator.plan_of(*candidate, std::string(result.plan->name));
  const bool obeys = broken_engine_rules(numbered, request.workflow, rules, request.choices).empty();
  if (obeys && is_numbered) return;
  if (!obeys || !tables.evaluator.evaluate(*candidate).fits())
    candidate = Obedience(request, rules, tables).best(*candidate);
  if (!candidate || !tables.evaluator.evaluate(*candidate).fits()) return drop_plan(result);
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
  const EngineRules& rules = request.engine_rules;
  std::set<std::size_t> fixed;
  for (const auto& [task, other] : rules.same_layout) fixed.insert({task, other});
  for (const EngineRules::Common& common : rules.common_options)
    fixed.insert(common.tasks.begin(), common.tasks.end());
  const double max_loss = evaluator.evaluate(*candidate).loss * (1 + kMaxLossOfSlack);
  const Candidate before = *candidate;
  for (std::size_t t = 0; t < candidate->tasks.size(); ++t) {
    if (!fixed.contains(t) && !request.limits.pins.contains(request.workflow.tasks[t].name))
      shorten(static_cast<int>(t), max_loss,
              asked_offload(t, *result.plan, request.workflow, rules, request.choices), tables, *candidate);
  }
  if (*candidate == before) return;
  take_candidate(*candidate, request, evaluator, result);
  end_curve_at(loss_of_answer(request, result), result);
}

}  // namespace sextant::inline planner
