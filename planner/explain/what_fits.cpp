#include "planner/explain/what_fits.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "core/units.h"
#include "planner/explain/change.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant::inline planner {
namespace {

constexpr double kMoment_s = 0.5;

std::optional<PlanResult> fitting_plan(PlanRequest request) {
  request.budget = {kMoment_s, 0};
  constexpr double kMaxCosting_s = 10;
  using Clock = std::chrono::steady_clock;
  request.costing_deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(kMaxCosting_s));
  request.start = nullptr;
  request.ranks = nullptr;
  request.on_improvement = {};
  PlanResult result = find_planner("portfolio")->plan(request);
  return result.outcome == PlanOutcome::found ? std::optional<PlanResult>(std::move(result)) : std::nullopt;
}

Fitting phrase(const std::string& change, const PlanResult& found) {
  return {change + " one does, which takes " + format_seconds(found.prediction->iteration_s), {}};
}

Fitting with_nothing_changed(PlanResult found) {
  const std::string time = format_seconds(found.prediction->iteration_s);
  return {"a larger --budget finds one, which takes " + time, std::move(found)};
}

// Searches again for a moment if the request's own search was shorter.
Fitting with_more_time(const PlanRequest& request) {
  const bool was_short =
      request.budget.evaluations > 0 || (request.budget.seconds > 0 && request.budget.seconds < kMoment_s);
  auto found = was_short ? fitting_plan(request) : std::nullopt;
  return found ? with_nothing_changed(std::move(*found)) : Fitting{};
}

Fitting with_recompute(const PlanRequest& request) {
  const bool is_tried =
      request.limits.try_recompute ||
      std::any_of(request.choices.begin(), request.choices.end(), [](const TaskChoices& choices) {
        return choices.recompute.size() > 1 ||
               (choices.recompute.size() == 1 && choices.recompute.front() == Recompute::full);
      });
  if (is_tried) return {};
  PlanRequest other = request;
  other.limits.try_recompute = true;
  auto found = fitting_plan(other);
  if (!found) return {};
  const bool recomputes =
      std::any_of(found->plan->tasks.begin(), found->plan->tasks.end(),
                  [](const auto& named) { return named.second.recompute != Recompute::none; });
  return recomputes ? phrase("with --recompute", *found) : with_nothing_changed(std::move(*found));
}

// Executions whose token budgets are smaller by so many steps, as far as a sequence still fits.
std::vector<Execution> with_smaller_budgets(const std::vector<Execution>& executions, const Workflow& workflow,
                                            std::size_t steps) {
  std::vector<Execution> all;
  for (Execution execution : executions) {
    const std::vector<int> smaller = smaller_token_budgets(execution, workflow);
    if (!smaller.empty()) execution.micro_batch_tokens = smaller[std::min(steps, smaller.size()) - 1];
    if (std::find(all.begin(), all.end(), execution) == all.end()) all.push_back(execution);
  }
  return all;
}

// The largest token budget of the plan that the request does not have; zero if the plan is one of the request's own.
int new_tokens(const Plan& plan, const PlanRequest& request) {
  int tokens = 0;
  for (std::size_t t = 0; t < request.choices.size(); ++t) {
    const std::vector<Execution>& own = request.choices[t].executions;
    const Execution& planned = plan.tasks.at(request.workflow.tasks[t].name).execution;
    if (std::find(own.begin(), own.end(), planned) == own.end())
      tokens = std::max(tokens, planned.micro_batch_tokens);
  }
  return tokens;
}

// Empty if a profile has tried the smallest budgets already, or if nothing is counted in tokens.
Fitting with_smaller_micro_batches(const PlanRequest& request) {
  constexpr std::size_t kMaxSteps = 8;
  PlanRequest other = request;
  for (std::size_t steps = 1; steps <= kMaxSteps; ++steps) {
    bool is_new = false, is_smaller = false;
    for (std::size_t t = 0; t < request.choices.size(); ++t) {
      const std::vector<Execution>& before = request.choices[t].executions;
      std::vector<Execution> executions = with_smaller_budgets(before, request.workflow, steps);
      for (const Execution& execution : executions)
        is_new = is_new || std::find(before.begin(), before.end(), execution) == before.end();
      is_smaller = is_smaller || executions != other.choices[t].executions;
      other.choices[t].executions = std::move(executions);
    }
    if (!is_new || !is_smaller) return {};
    if (auto found = fitting_plan(other)) {
      const int tokens = new_tokens(*found->plan, request);
      return tokens == 0
                 ? with_nothing_changed(std::move(*found))
                 : phrase("with micro-batches of at most " + std::to_string(tokens) + " tokens", *found);
    }
  }
  return {};
}

constexpr int kUsualLoraRank = 32;

// The request with another option of all training tasks, which the framework has and no search has tried yet.
std::optional<PlanRequest> with_option_of_training(const PlanRequest& request, const FrameworkProfile* profile,
                                                   const char* option, void (*set)(Execution&)) {
  if (profile == nullptr || !profile->option_names.contains(option)) return std::nullopt;
  PlanRequest other = request;
  bool is_new = false;
  for (std::size_t t = 0; t < request.choices.size(); ++t) {
    const Task& task = request.workflow.tasks[t];
    if (task.kind != TaskKind::training) continue;
    const std::vector<Execution>& before = request.choices[t].executions;
    std::vector<Execution> executions;
    for (Execution execution : before) {
      set(execution);
      if (!can_execute(execution, task, request.workflow, request.cluster)) continue;
      is_new = is_new || std::find(before.begin(), before.end(), execution) == before.end();
      if (std::find(executions.begin(), executions.end(), execution) == executions.end())
        executions.push_back(execution);
    }
    if (executions.empty()) return std::nullopt;
    other.choices[t].executions = std::move(executions);
  }
  return is_new ? std::optional<PlanRequest>(std::move(other)) : std::nullopt;
}

Fitting with_optimizer_on_host(const PlanRequest& request, const FrameworkProfile* profile) {
  constexpr const char* kOption = "training.offload_optimizer";
  const auto other = with_option_of_training(request, profile, kOption,
                                             [](Execution& execution) { execution.offload_optimizer = true; });
  const auto found = other ? fitting_plan(*other) : std::nullopt;
  return found ? phrase("with the optimizer on the host (" + profile->option_names.at(kOption) + ")", *found)
               : Fitting{};
}

Fitting with_lora(const PlanRequest& request, const FrameworkProfile* profile) {
  const auto other = with_option_of_training(request, profile, "training.lora_rank", [](Execution& execution) {
    if (execution.lora_rank == 0) execution.lora_rank = kUsualLoraRank;
  });
  const auto found = other ? fitting_plan(*other) : std::nullopt;
  return found ? phrase("with LoRA (--lora-rank " + std::to_string(kUsualLoraRank) + ")", *found) : Fitting{};
}

Fitting with_any_layout(const PlanRequest& request, const FrameworkProfile* profile) {
  if (profile == nullptr || request.device_rules.empty()) {
    const bool has_rules = std::any_of(request.choices.begin(), request.choices.end(),
                                       [](const TaskChoices& choices) { return choices.has_rules(); });
    if (profile == nullptr || !has_rules) return {};
  }
  PlanRequest other = request;
  take_profile(*profile, LayoutRules::any, other);
  other.limits.balances_load = true;
  const auto found = fitting_plan(other);
  return found ? phrase("with --any-layout, which " + profile->name + " cannot run,", *found) : Fitting{};
}

Fitting with_more_nodes(const PlanRequest& request, const FrameworkProfile* profile) {
  const Node& first = request.cluster.nodes().front();
  const int nodes = static_cast<int>(request.cluster.nodes().size());
  constexpr int kFewNodes = 2;
  std::set<int> wanted{nodes + 1, 2 * nodes, 3 * nodes, 4 * nodes};
  if (nodes <= kFewNodes) wanted.insert(8 * nodes);
  for (const int count : wanted) {
    const int more = count - nodes;
    std::optional<Cluster> larger;
    try {
      larger = changed(request.cluster, AddMachines{first.device_type, more, ""});
    } catch (const Error&) {
      return {};  // the document does not say how nodes would meet
    }
    PlanRequest other{*larger, request.workflow, request.coefficients, request.framework};
    other.limits = request.limits;
    other.limits.pins = {};
    other.objective = request.objective;
    other.threads = request.threads;
    other.is_cancelled = request.is_cancelled;
    other.weight_sync = request.weight_sync;
    other.memory_share = request.memory_share;
    if (profile != nullptr) {
      take_profile(*profile, LayoutRules::as_framework, other);
    } else {
      other.choices = request.choices;
    }
    if (const auto found = fitting_plan(other))
      return phrase("with " + std::to_string(more) + (more == 1 ? " more node of " : " more nodes of ") +
                        std::to_string(first.devices) + " " + first.device_type,
                    *found);
  }
  return {};
}

}  // namespace

Fitting what_would_fit(const PlanRequest& request, const FrameworkProfile* profile) {
  const auto is_cancelled = [&] { return request.is_cancelled != nullptr && request.is_cancelled->load(); };
  for (int step = 0; step < 7 && !is_cancelled(); ++step) {
    Fitting answer = step == 0   ? with_more_time(request)
                     : step == 1 ? with_smaller_micro_batches(request)
                     : step == 2 ? with_recompute(request)
                     : step == 3 ? with_lora(request, profile)
                     : step == 4 ? with_optimizer_on_host(request, profile)
                     : step == 5 ? with_any_layout(request, profile)
                                 : with_more_nodes(request, profile);
    if (!answer.change.empty()) return answer;
  }
  return {};
}

}  // namespace sextant::inline planner
