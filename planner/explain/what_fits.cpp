#include "planner/explain/what_fits.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/units.h"
#include "planner/explain/change.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant {
namespace {

constexpr double kMoment_s = 0.5;

// Seconds of an iteration, where a plan fits.
std::optional<double> time_s(PlanRequest request) {
  request.budget = {kMoment_s, 0};
  request.start = nullptr;
  request.ranks = nullptr;
  request.on_improvement = {};
  const PlanResult result = find_planner("portfolio")->search(request);
  if (result.outcome != PlanOutcome::found) return std::nullopt;
  return result.prediction->iteration_s;
}

std::string phrase(const std::string& change, double iteration_s) {
  return change + " one does, which takes " + format_seconds(iteration_s);
}

// Searches again for a moment if the request's own search was shorter.
std::string with_more_time(const PlanRequest& request) {
  const bool was_short =
      request.budget.evaluations > 0 || (request.budget.seconds > 0 && request.budget.seconds < kMoment_s);
  const auto found = was_short ? time_s(request) : std::nullopt;
  return found ? "a larger --budget finds one, which takes " + format_seconds(*found) : "";
}

std::string with_recompute(const PlanRequest& request) {
  const bool is_tried =
      request.limits.try_recompute ||
      std::any_of(request.choices.begin(), request.choices.end(), [](const TaskChoices& choices) {
        return choices.recompute.size() > 1 ||
               (choices.recompute.size() == 1 && choices.recompute.front() == Recompute::full);
      });
  if (is_tried) return "";
  PlanRequest other = request;
  other.limits.try_recompute = true;
  const auto found = time_s(other);
  return found ? phrase("with --recompute", *found) : "";
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

// Empty if a profile has tried the smallest budgets already, or if nothing is counted in tokens.
std::string with_smaller_micro_batches(const PlanRequest& request) {
  constexpr std::size_t kMaxSteps = 8;
  PlanRequest other = request;
  for (std::size_t steps = 1; steps <= kMaxSteps; ++steps) {
    bool is_new = false, is_smaller = false;
    int tokens = 0;
    for (std::size_t t = 0; t < request.choices.size(); ++t) {
      const std::vector<Execution>& before = request.choices[t].executions;
      std::vector<Execution> executions = with_smaller_budgets(before, request.workflow, steps);
      for (const Execution& execution : executions) {
        is_new = is_new || std::find(before.begin(), before.end(), execution) == before.end();
        tokens = std::max(tokens, execution.micro_batch_tokens);
      }
      is_smaller = is_smaller || executions != other.choices[t].executions;
      other.choices[t].executions = std::move(executions);
    }
    if (!is_new || !is_smaller) return "";
    if (const auto found = time_s(other))
      return phrase("with micro-batches of at most " + std::to_string(tokens) + " tokens", *found);
  }
  return "";
}

std::string with_any_layout(const PlanRequest& request, const FrameworkProfile* profile) {
  if (profile == nullptr || request.device_rules.empty()) {
    const bool has_rules = std::any_of(request.choices.begin(), request.choices.end(),
                                       [](const TaskChoices& choices) { return choices.has_rules(); });
    if (profile == nullptr || !has_rules) return "";
  }
  PlanRequest other = request;
  take_profile(*profile, LayoutRules::any, other);
  other.limits.balances_load = true;
  const auto found = time_s(other);
  return found ? phrase("with --any-layout, which " + profile->name + " cannot run,", *found) : "";
}

std::string with_more_nodes(const PlanRequest& request, const FrameworkProfile* profile) {
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
      return "";  // the document does not say how nodes would meet
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
    if (const auto found = time_s(other))
      return phrase("with " + std::to_string(more) + (more == 1 ? " more node of " : " more nodes of ") +
                        std::to_string(first.devices) + " " + first.device_type,
                    *found);
  }
  return "";
}

}  // namespace

std::string what_would_fit(const PlanRequest& request, const FrameworkProfile* profile) {
  const auto is_cancelled = [&] { return request.is_cancelled != nullptr && request.is_cancelled->load(); };
  for (int step = 0; step < 5 && !is_cancelled(); ++step) {
    std::string answer = step == 0   ? with_more_time(request)
                         : step == 1 ? with_smaller_micro_batches(request)
                         : step == 2 ? with_recompute(request)
                         : step == 3 ? with_any_layout(request, profile)
                                     : with_more_nodes(request, profile);
    if (!answer.empty()) return answer;
  }
  return "";
}

}  // namespace sextant
