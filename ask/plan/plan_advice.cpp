#include "ask/plan/plan_advice.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ask/framework.h"
#include "calibrate/spelling.h"
#include "core/units.h"
#include "planner/exact/exact.h"
#include "planner/explain/what_fits.h"
#include "planner/portfolio/portfolio.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"

namespace sextant::inline ask {
namespace {

// The part of the time of all devices that tasks use.
double used_share(const Prediction& prediction, const Cluster& cluster) {
  double used_s = 0;
  for (const auto& [name, task] : prediction.tasks)
    used_s += task.time_s * static_cast<double>(task.devices.size());
  return used_s / (prediction.iteration_s * cluster.device_count());
}

// Gives the request a part of its budget, of no more than the usual seconds: advice must not take longer for a long search.
void shorten(PlanRequest& request, double part) {
  const bool has_budget = request.budget.seconds > 0 || request.budget.evaluations > 0;
  Budget whole = has_budget ? request.budget : Budget{kPortfolioBudget_s, 0};
  whole.seconds = std::min(whole.seconds, kPortfolioBudget_s);
  request.budget = part_of(whole, part);
  request.costing_deadline.reset();
  if (request.budget.seconds <= 0) return;
  request.costing_deadline =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(request.budget.seconds));
}

// A search with a part of the budget for another workflow on the same cluster.
PlanResult short_search(const PlanInputs& asked, const FrameworkProfile* profile, const Workflow& workflow,
                        double part) {
  const PlanRequest& request = asked.request;
  PlanRequest own = with_inputs(request, request.cluster, workflow, request.coefficients);
  shorten(own, part);
  if (profile != nullptr) take_profile(*profile, LayoutRules::as_framework, own);
  return asked.planner.plan(own);
}

// The other trainers of the framework that the question names. None if it names a trainer.
std::vector<std::string> other_trainers(const PlanQuestion& question, const PlanInputs& asked) {
  std::vector<std::string> names;
  if (!asked.loaded.profile || question.any_layout) return names;
  const FrameworkProfile& own = *asked.loaded.profile;
  if (lower_case(question.inputs.framework) != lower_case(own.family)) return names;
  for (const FrameworkProfile& profile : shipped_profiles()) {
    if (profile.family == own.family && profile.name != own.name &&
        why_not_offered(profile, asked.request.workflow).empty())
      names.push_back(profile.name);
  }
  return names;
}

// The iteration of a plan, and its probability of running out of memory.
struct PlanOfTrainer {
  double iteration_s = 0;
  double risk = 0;
};

// The same for another trainer; null if the question cannot be asked of it, or if it has no plan.
std::optional<PlanOfTrainer> plan_of_trainer(PlanQuestion question, const std::string& trainer, double part) {
  question.planner.warm_start.clear();
  question.inputs.framework = trainer;
  question.inputs.save_inputs.clear();
  try {
    PlanInputs asked(question, load_inputs(question.inputs));
    shorten(asked.request, part);
    const PlanResult result = asked.planner.plan(asked.request);
    if (!result.prediction) return std::nullopt;
    const PlanRequest& request = asked.request;
    const std::optional<MemoryRisk> risk = memory_risk_of(
        {request.cluster, request.workflow, *result.plan, request.coefficients, request.framework});
    return PlanOfTrainer{result.prediction->iteration_s, risk ? risk->probability : 0};
  } catch (const Error&) {  // for example LoRA, which this trainer does not have
    return std::nullopt;
  }
}

std::size_t devices_used(const Plan& plan) {
  std::set<DeviceId> used;
  for (const auto& [name, task] : plan.tasks) used.merge(task.devices());
  return used.size();
}

}  // namespace

Advice advice_without_plan(const PlanRequest& request, const FrameworkProfile* profile,
                           const PlanOutput& answer) {
  if (answer.record.was_interrupted) return {};
  if (!request.limits.pins.empty()) return {"; changing a --pin may help", {}};
  constexpr int kMaxDevices = 64;  // of which exact has its options in seconds
  const bool may_be_short = answer.record.proof != Proof::optimal;
  if (may_be_short && profile == nullptr && request.cluster.device_count() <= kMaxDevices) {
    PlanRequest own = request;
    own.budget = {1, 0};
    own.start = nullptr;
    if (request.workflow.algorithm != Algorithm::custom && plan_exactly(own).outcome == PlanOutcome::found)
      return {"; a larger --budget finds one", {}};
  }
  Fitting fitting = what_would_fit(request, profile);
  const std::string& fits = fitting.change;
  if (request.budget.evaluations > 0) fitting.plan.reset();  // any machine must give the same answer
  constexpr std::uint64_t kFewPlans = 1000;
  std::string reason = fits.empty() ? "" : "; " + fits;
  if (may_be_short && !fits.starts_with("a larger --budget") &&
      (fits.empty() || answer.result.candidates < kFewPlans))
    reason += fits.empty() ? (answer.result.candidates < kFewPlans
                                  ? "; a longer search (--budget, --evaluations) may find one"
                                  : "; a smaller model or more GPUs may help")
                           : "; the search was short, so a larger --budget may find one without that";
  return {std::move(reason), std::move(fitting.plan)};
}

void take_plan(const PlanInputs& asked, PlanResult plan, PlanOutput& answer) {
  const SearchRecord before = std::move(answer.record);
  plan.candidates += answer.result.candidates;
  answer.result = std::move(plan);
  answer.record = record_of({asked.planner, asked.request, answer.result, before.wall_s, false});
  answer.record.budget_s = before.budget_s;
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
  constexpr double kWellUsed = 0.9;
  if (used_share(*found.prediction, asked.loaded.cluster) > kWellUsed) return "";
  Workflow together = request.workflow;
  together.mode = Mode::synchronous;
  together.staleness = 0;
  together.streamed_parts = 1;
  together.rollout.batches_in_flight = 0;
  if (profile != nullptr && !why_not_offered(*profile, together).empty()) return "";
  constexpr double kPart = 0.15, kFaster = 0.95;
  const PlanResult result = short_search(asked, profile, together, kPart);
  if (!result.prediction || result.prediction->iteration_s > kFaster * found.prediction->iteration_s) return "";
  const double less = 1 - result.prediction->iteration_s / found.prediction->iteration_s;
  return "with --mode synchronous an iteration would take " + format_seconds(result.prediction->iteration_s) +
         ", " + format_percent(less) + " less: here generation or training waits for the other";
}

std::string gain_of_another_batch(const PlanInputs& asked, const FrameworkProfile* profile,
                                  const PlanResult& found) {
  const PlanRequest& request = asked.request;
  const int devices = request.cluster.device_count();
  const bool must_be_even = std::any_of(request.choices.begin(), request.choices.end(),
                                        [](const TaskChoices& choices) { return choices.has_even_batch; });
  if (profile == nullptr || !must_be_even || !request.limits.pins.empty() ||
      devices_used(*found.plan) == static_cast<std::size_t>(devices))
    return "";
  Workflow other = request.workflow;
  const int step = devices / std::gcd(devices, other.responses_per_prompt);
  constexpr double kMaxChange = 0.1;  // of the batch: more would be another experiment
  const int below = other.prompts / step * step, above = below + step;
  const int nearest = below > 0 && other.prompts - below <= above - other.prompts ? below : above;
  if (nearest == other.prompts || std::abs(nearest - other.prompts) > kMaxChange * other.prompts) return "";
  other.prompts = nearest;
  constexpr double kPart = 0.3, kFaster = 1.05;
  const PlanResult result = short_search(asked, profile, other, kPart);
  if (!result.prediction || result.prediction->sequences_per_s < kFaster * found.prediction->sequences_per_s)
    return "";
  return "with --prompts " + std::to_string(nearest) + ", which all " + std::to_string(devices) +
         " devices can share evenly, " + format_number(result.prediction->sequences_per_s) +
         " sequences a second instead of " + format_number(found.prediction->sequences_per_s);
}

std::string gain_of_another_trainer(const PlanQuestion& question, const PlanInputs& asked,
                                    const PlanResult* found, bool is_above_risk) {
  if (!asked.request.limits.pins.empty() || question.planner.goal != AskedGoal::time) return "";
  constexpr double kPart = 0.3, kFaster = 0.9;  // less is within what the model can tell
  const double faster_s =
      found != nullptr ? kFaster * found->prediction->iteration_s : std::numeric_limits<double>::infinity();
  std::string best;
  double best_s = std::numeric_limits<double>::infinity();
  bool keeps_risk = false;
  for (const std::string& trainer : other_trainers(question, asked)) {
    const std::optional<PlanOfTrainer> other = plan_of_trainer(question, trainer, kPart);
    if (!other || other->iteration_s >= best_s) continue;
    const bool keeps = is_above_risk && other->risk <= question.memory_risk();
    if (!keeps && other->iteration_s >= faster_s) continue;
    best = trainer;
    best_s = other->iteration_s;
    keeps_risk = keeps;
  }
  if (best.empty()) return "";
  if (keeps_risk)
    return "with --framework " + best + ", another trainer of " + asked.loaded.profile->family +
           ", an iteration would take " + format_seconds(best_s) + " and keep that probability";
  if (found == nullptr)
    return "; --framework " + best + " has a plan of " + format_seconds(best_s) + " an iteration";
  return "with --framework " + best + ", another trainer of " + asked.loaded.profile->family +
         ", an iteration would take " + format_seconds(best_s) + ", " +
         format_percent(1 - best_s / found->prediction->iteration_s) + " less than with " +
         asked.loaded.profile->name;
}

}  // namespace sextant::inline ask
