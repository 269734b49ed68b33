#include "ask/plan/plan_advice.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/units.h"
#include "planner/exact/exact.h"
#include "planner/explain/what_fits.h"
#include "planner/portfolio/portfolio.h"
#include "sextant/error.h"
#include "sextant/profile_space.h"

namespace sextant {
namespace {

// The part of the time of all devices that tasks use.
double used_share(const Prediction& prediction, const Cluster& cluster) {
  double used_s = 0;
  for (const auto& [name, task] : prediction.tasks)
    used_s += task.time_s * static_cast<double>(task.devices.size());
  return used_s / (prediction.iteration_s * cluster.device_count());
}

}  // namespace

std::string advice_without_plan(const PlanRequest& request, const FrameworkProfile* profile,
                                const PlanOutput& answer) {
  if (answer.record.was_interrupted) return "";
  if (!request.limits.pins.empty()) return "; changing a --pin may help";
  constexpr int kMaxDevices = 64;  // of which exact has its options in seconds
  const bool may_be_short = answer.record.proof != Proof::optimal;
  if (may_be_short && profile == nullptr && request.cluster.device_count() <= kMaxDevices) {
    PlanRequest own = request;
    own.budget = {1, 0};
    own.start = nullptr;
    if (request.workflow.algorithm != Algorithm::custom && plan_exactly(own).outcome == PlanOutcome::found)
      return "; a larger --budget finds one";
  }
  const std::string fits = what_would_fit(request, profile);
  constexpr std::uint64_t kFewPlans = 1000;
  std::string reason = fits.empty() ? "" : "; " + fits;
  if (may_be_short && !fits.starts_with("a larger --budget") &&
      (fits.empty() || answer.result.candidates < kFewPlans))
    reason += fits.empty() ? (answer.result.candidates < kFewPlans ? "; a larger --budget may find one"
                                                                   : "; a smaller model or more GPUs may help")
                           : "; the search was short, so a larger --budget may find one without that";
  return reason;
}

std::string cost_of_limits(const PlanInputs& asked, const PlanResult& found) {
  const FrameworkProfile& profile = *asked.loaded.profile;
  PlanRequest own = asked.request;
  own.start = nullptr;
  own.on_improvement = {};
  std::string text = "framework " + profile.name + " ";
  try {
    take_profile(profile, LayoutRules::as_framework, own);
    const PlanResult result = asked.planner.plan(own);
    const double longer =
        result.prediction ? result.prediction->iteration_s / found.prediction->iteration_s - 1 : 0;
    text += result.prediction ? "can run a plan of " + format_seconds(result.prediction->iteration_s) +
                                    ": its limits cost " + format_percent(std::max(0.0, longer))
                              : "can run no plan: " + result.message;
  } catch (const Error& error) {
    text += std::string("can run no plan: ") + error.what();
  }
  return text;
}

std::string gain_of_synchronous(const PlanInputs& asked, const FrameworkProfile* profile,
                                const PlanResult& found) {
  const PlanRequest& request = asked.request;
  if (request.workflow.mode == Mode::synchronous || !request.limits.pins.empty()) return "";
  constexpr double kWellUsed = 0.8;
  if (used_share(*found.prediction, asked.loaded.cluster) > kWellUsed) return "";
  Workflow together = request.workflow;
  together.mode = Mode::synchronous;
  together.staleness = 0;
  together.streamed_parts = 1;
  if (profile != nullptr && !why_not_offered(*profile, together).empty()) return "";
  PlanRequest own = with_inputs(request, request.cluster, together, request.coefficients);
  constexpr double kPart = 0.15, kFaster = 0.95;
  const bool has_budget = request.budget.seconds > 0 || request.budget.evaluations > 0;
  own.budget = part_of(has_budget ? request.budget : Budget{kPortfolioBudget_s, 0}, kPart);
  own.costing_deadline =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(own.budget.seconds));
  if (own.budget.seconds <= 0) own.costing_deadline.reset();
  if (profile != nullptr) take_profile(*profile, LayoutRules::as_framework, own);
  const PlanResult result = asked.planner.plan(own);
  if (!result.prediction || result.prediction->iteration_s > kFaster * found.prediction->iteration_s) return "";
  const double less = 1 - result.prediction->iteration_s / found.prediction->iteration_s;
  return "with --mode synchronous an iteration would take " + format_seconds(result.prediction->iteration_s) +
         ", " + format_percent(less) + " less: here generation or training waits for the other";
}

}  // namespace sextant
