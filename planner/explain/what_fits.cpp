#include "planner/explain/what_fits.h"

#include <algorithm>
#include <optional>

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

// Of a request whose own search was shorter than a moment.
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
  for (int more = 1; more <= 2 * nodes; more = more == 1 ? 2 : more * 2) {
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
  for (int step = 0; step < 4 && !is_cancelled(); ++step) {
    std::string answer = step == 0   ? with_more_time(request)
                         : step == 1 ? with_recompute(request)
                         : step == 2 ? with_any_layout(request, profile)
                                     : with_more_nodes(request, profile);
    if (!answer.empty()) return answer;
  }
  return "";
}

}  // namespace sextant
