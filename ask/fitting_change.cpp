#include "ask/fitting_change.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ask/memory_risk.h"
#include "core/units.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"
#include "sextant/task_choices.h"

namespace sextant::inline ask {
namespace {

constexpr int kShardedWeights = 3;  // ZeRO stage

// A change of one option of one task. Returns false if the task has it already or cannot have it.
struct Change {
  const char* words;
  std::function<bool(const Task&, const Workflow&, const TaskChoices*, TaskPlan&)> apply;
};

// Whether the framework has executions with this option.
bool has_execution(const TaskChoices* choices, const std::function<bool(const Execution&)>& has_option) {
  return choices == nullptr || std::any_of(choices->executions.begin(), choices->executions.end(), has_option);
}

bool recompute(const Task& task, const Workflow& /*workflow*/, const TaskChoices* choices, TaskPlan& plan) {
  if (task.kind != TaskKind::training || plan.recompute == Recompute::full) return false;
  if (choices != nullptr && !choices->recompute.empty() &&
      std::find(choices->recompute.begin(), choices->recompute.end(), Recompute::full) ==
          choices->recompute.end())
    return false;
  plan.recompute = Recompute::full;
  return true;
}

bool offload_weights(const Task& /*task*/, const Workflow& /*workflow*/, const TaskChoices* choices,
                     TaskPlan& plan) {
  if (plan.execution.offload_weights ||
      !has_execution(choices, [](const Execution& execution) { return execution.offload_weights; }))
    return false;
  return plan.execution.offload_weights = true;
}

bool shard_weights(const Task& task, const Workflow& /*workflow*/, const TaskChoices* choices, TaskPlan& plan) {
  if (task.kind == TaskKind::generation || plan.execution.zero_stage >= kShardedWeights ||
      plan.data_parallel() * plan.execution.context_parallel == 1 ||
      !has_execution(choices,
                     [](const Execution& execution) { return execution.zero_stage >= kShardedWeights; }))
    return false;
  plan.execution.zero_stage = kShardedWeights;
  return true;
}

// To half, or with `smallest` to the longest sequence.
bool reduce_micro_batch(const Task& task, const Workflow& workflow, bool smallest, TaskPlan& plan) {
  if (task.kind == TaskKind::generation) return false;
  int& tokens = plan.execution.micro_batch_tokens;
  if (tokens > 0) {
    const std::vector<int> smaller = smaller_token_budgets(plan.execution, workflow);
    if (smaller.empty()) return false;
    tokens = smallest ? smaller.back() : smaller.front();
    return true;
  }
  if (plan.execution.micro_batches > 0 || plan.micro_batch_sequences < 2) return false;
  plan.micro_batch_sequences = smallest ? 1 : plan.micro_batch_sequences / 2;
  return true;
}

bool halve_micro_batch(const Task& task, const Workflow& workflow, const TaskChoices* /*choices*/,
                       TaskPlan& plan) {
  return reduce_micro_batch(task, workflow, false, plan);
}

bool shrink_micro_batch(const Task& task, const Workflow& workflow, const TaskChoices* /*choices*/,
                        TaskPlan& plan) {
  return reduce_micro_batch(task, workflow, true, plan);
}

bool halve_cache(const Task& /*task*/, const Workflow& /*workflow*/, const TaskChoices* /*choices*/,
                 TaskPlan& plan) {
  if (plan.execution.kv_cache_bytes <= 0) return false;
  plan.execution.kv_cache_bytes /= 2;
  return true;
}

bool offload_optimizer(const Task& task, const Workflow& /*workflow*/, const TaskChoices* choices,
                       TaskPlan& plan) {
  if (task.kind != TaskKind::training || plan.execution.offload_optimizer ||
      !has_execution(choices, [](const Execution& execution) { return execution.offload_optimizer; }))
    return false;
  return plan.execution.offload_optimizer = true;
}

// In the order in which they usually cost time, the cheapest first.
const Change kChanges[] = {{"weights on the host while other tasks run", offload_weights},
                           {"ZeRO 3", shard_weights},
                           {"recompute full", recompute},
                           {"micro-batches half as large", halve_micro_batch},
                           {"micro-batches of the longest sequence", shrink_micro_batch},
                           {"half the KV cache", halve_cache},
                           {"the optimizer on the host", offload_optimizer}};

class FittingChanges {
 public:
  FittingChanges(const PredictionQuery& asked, const FrameworkProfile* profile) : asked_(asked) {
    if (profile != nullptr && why_not_offered(*profile, asked.workflow).empty())
      choices_ = space_of(*profile, asked.workflow, asked.cluster).choices;
  }

  // The fastest of single changes; else as many as are needed.
  [[nodiscard]] std::optional<FittingChange> find() const {
    std::optional<FittingChange> best;
    double best_s = 0;
    for (const Change& change : kChanges) {
      Plan plan = asked_.plan;
      const std::string words = apply(change, plan);
      const std::optional<double> time_s = words.empty() ? std::nullopt : time_if_it_fits(plan);
      if (!time_s || (best && *time_s >= best_s)) continue;
      best = FittingChange{std::move(plan), sentence(words, *time_s)};
      best_s = *time_s;
    }
    return best ? best : find_several();
  }

 private:
  [[nodiscard]] static std::string sentence(const std::string& words, double time_s) {
    return "The plan fits with " + words + ": " + format_seconds(time_s) + " an iteration.";
  }

  // Applies the change to all tasks that it is for, and returns it in words; empty: to none.
  [[nodiscard]] std::string apply(const Change& change, Plan& plan) const {
    std::string tasks;
    for (std::size_t t = 0; t < asked_.workflow.tasks.size(); ++t) {
      const Task& task = asked_.workflow.tasks[t];
      const TaskChoices* choices = choices_.empty() ? nullptr : &choices_[t];
      if (change.apply(task, asked_.workflow, choices, plan.tasks.at(task.name)))
        tasks += (tasks.empty() ? "" : ", ") + task.name;
    }
    return tasks.empty() ? "" : change.words + (" (" + tasks + ")");
  }

  [[nodiscard]] std::optional<FittingChange> find_several() const {
    std::vector<const Change*> needed;
    for (const Change& change : kChanges) {
      Plan plan = asked_.plan;
      if (!apply(change, plan).empty()) needed.push_back(&change);
    }
    if (!time_with(needed)) return std::nullopt;
    for (std::size_t i = needed.size(); i-- > 0;) {
      std::vector<const Change*> fewer = needed;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (time_with(fewer)) needed = std::move(fewer);
    }
    Plan plan = asked_.plan;
    std::string words;
    for (const Change* change : needed) words += (words.empty() ? "" : ", ") + apply(*change, plan);
    const double time_s = *time_with(needed);
    return FittingChange{std::move(plan), sentence(words, time_s)};
  }

  [[nodiscard]] std::optional<double> time_with(const std::vector<const Change*>& changes) const {
    Plan plan = asked_.plan;
    for (const Change* change : changes) (void)apply(*change, plan);
    return time_if_it_fits(plan);
  }

  [[nodiscard]] std::optional<double> time_if_it_fits(const Plan& plan) const {
    try {
      const Prediction prediction =
          predict(asked_.cluster, asked_.workflow, plan, asked_.coefficients, asked_.framework);
      if (!prediction.fits()) return std::nullopt;
      const std::optional<MemoryRisk> risk =
          memory_risk_of({asked_.cluster, asked_.workflow, plan, asked_.coefficients, asked_.framework});
      if (!risk || risk->probability <= kUsualRisk) return prediction.iteration_s;
    } catch (const Error&) {  // such as a link to the host whose rate is not known
    }
    return std::nullopt;
  }

  const PredictionQuery& asked_;
  std::vector<TaskChoices> choices_;  // by task; empty: any
};

}  // namespace

std::optional<FittingChange> change_that_fits(const PredictionQuery& asked, const FrameworkProfile* profile) {
  return FittingChanges(asked, profile).find();
}

}  // namespace sextant::inline ask
