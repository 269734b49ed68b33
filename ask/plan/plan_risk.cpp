#include "ask/plan/plan_risk.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "calibrate/draws.h"
#include "core/text.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/statistics.h"

namespace sextant::inline ask {
namespace {

PlanResult at_documented_values(const PlanRequest& request, Plan plan) {
  PlanResult result;
  result.outcome = PlanOutcome::found;
  result.prediction = predict(request.cluster, request.workflow, plan, request.coefficients, request.framework);
  result.plan = std::move(plan);
  return result;
}

// Searches at other values for plans that may be taken at the documented ones. After Ctrl-C there are no more.
class Searches {
 public:
  explicit Searches(const RiskQuestion& asked) : asked_(asked) {}

  std::optional<Plan> operator()(const PlanRequest& other) {
    if (is_interrupted_) return std::nullopt;
    PlanOutput answer = asked_.search(other);
    is_interrupted_ = answer.record.was_interrupted;
    wall_s_ += answer.record.wall_s;
    if (answer.result.outcome != PlanOutcome::found) return std::nullopt;
    const PlanResult result = at_documented_values(asked_.request, std::move(*answer.result.plan));
    const bool is_allowed =
        judge(asked_.request, asked_.request.cluster, *result.plan, *result.prediction).is_allowed;
    return is_allowed && asked_.is_sure_to_fit(result) ? result.plan : std::nullopt;
  }
  // Adds what these searches took to the record of the first one.
  void record(SearchRecord& first) const {
    first.was_interrupted = is_interrupted_;
    first.wall_s += wall_s_;
  }

 private:
  const RiskQuestion& asked_;
  bool is_interrupted_ = false;
  double wall_s_ = 0;
};

// The spread of the interval that is printed with the plan.
LogSpread spread_of(const RiskQuestion& asked, const Plan& plan) {
  const ChosenCoefficients& chosen = asked.loaded.chosen;
  const Prediction prediction = predict_with_trust(
      {asked.request.cluster, asked.request.workflow, plan, chosen.coefficients, chosen.framework});
  if (!prediction.iteration_interval_s) return {};
  const auto& [low_s, high_s] = *prediction.iteration_interval_s;
  return {std::log(prediction.iteration_s / low_s) / kNormal90,
          std::log(high_s / prediction.iteration_s) / kNormal90};
}

// The plan replaces the fastest one, of which more was proved: what is left is a gap.
void take_plan(const RiskQuestion& asked, Plan plan, PlanOutput& answer) {
  PlanResult& result = answer.result;
  if (plan == *result.plan) return;
  PlanResult other = at_documented_values(asked.request, std::move(plan));
  result.plan = std::move(other.plan);
  result.prediction = std::move(other.prediction);
  result.message = "the best of what several searches found";
  if (result.proof != Proof::none && result.lower_bound > 0) {
    result.gap_fraction = std::max(0.0, result.prediction->iteration_s / result.lower_bound - 1);
    result.proof = Proof::gap;
  }
  answer.record =
      record_of({asked.planner, asked.request, result, answer.record.wall_s, answer.record.was_interrupted});
}

// The whole text as a number.
template <typename T>
std::optional<T> number_of(std::string_view text) {
  T number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "300:1.5"
RunPart run_part(const std::string& text) {
  constexpr double kLargest = 1000;
  constexpr int kMaxIterations = 1'000'000'000;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view all(text);
  const std::optional<int> iterations = number_of<int>(all.substr(0, colon));
  const std::optional<double> factor = number_of<double>(all.substr(std::min(colon + 1, all.size())));
  const bool is_part = iterations && *iterations >= 1 && *iterations <= kMaxIterations && factor &&
                       *factor > 0 && *factor <= kLargest;
  if (!is_part)
    throw_bad_input("--length-schedule: " + in_quotes(text) +
                    ": expected ITERATIONS:LENGTH_FACTOR with at least 1 iteration and a factor above 0 and at "
                    "most 1000, such as 300:1.5");
  return {*iterations, *factor};
}

}  // namespace

CoefficientUncertainty coefficient_uncertainty_of(const LoadedInputs& loaded, int draws, std::uint64_t seed) {
  const ChosenCoefficients& chosen = loaded.chosen;
  CoefficientUncertainty doubt;
  doubt.draws = draw_coefficients(chosen.coefficients, loaded.cluster, chosen.framework, draws, seed);
  if (chosen.coefficients.fit) doubt.model_log_deviation = model_log_deviation(*chosen.coefficients.fit);
  return doubt;
}

std::vector<RunPart> run_parts(const RunOptions& options) {
  std::vector<RunPart> parts;
  for (const std::string& text : options.parts) parts.push_back(run_part(text));
  return parts;
}

void choose_for_run(const RiskQuestion& asked, const std::vector<RunPart>& parts, double change_s,
                    PlanOutput& answer) {
  Searches searches(asked);
  const RunPlan run = plan_for_run(asked.request, *answer.result.plan, {parts, change_s, std::ref(searches)});
  searches.record(answer.record);
  if (!run.plan) {
    answer.result.outcome = answer.record.outcome = PlanOutcome::infeasible;
    answer.result.message = answer.record.message = "no plan was found that fits in all parts of the run";
    return;
  }
  take_plan(asked, *run.plan, answer);
  RunRecord record;
  for (std::size_t p = 0; p < parts.size(); ++p)
    record.parts.push_back(
        {parts[p].iterations, parts[p].length_factor, run.iteration_s[p], run.replanned_s[p]});
  record.change_s = change_s;
  record.changes = run.changes;
  record.total_s = run.total_s;
  record.replanned_total_s = run.replanned_total_s;
  answer.record.run = std::move(record);
}

void choose_by_risk(const RiskQuestion& asked, PlanOutput& answer) {
  const PlanRequest& request = asked.request;
  const CoefficientUncertainty doubt =
      coefficient_uncertainty_of(asked.loaded, asked.options.draws, request.seed);
  const std::vector<RiskDraw> draws =
      risk_draws(request, doubt, asked.options.spread, asked.options.draws, request.seed);
  constexpr int kSearches = 4;
  Searches searches(asked);
  RiskSearch search{asked.goal, draws, kSearches, std::ref(searches)};
  if (!doubt.draws.empty()) search.spread_of = [&](const Plan& plan) { return spread_of(asked, plan); };
  RiskAnswer best = plan_for_risk(request, *answer.result.plan, search);
  searches.record(answer.record);
  take_plan(asked, std::move(best.plan), answer);
  answer.record.risk = RiskRecord{name_of(asked.goal),
                                  static_cast<int>(best.draws),
                                  asked.options.spread.response_lengths,
                                  asked.options.spread.far_links,
                                  static_cast<int>(best.plans),
                                  best.at_goal_s,
                                  best.fastest_at_goal_s};
}

}  // namespace sextant::inline ask
