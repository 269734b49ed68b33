#include "ask/plan/plan_standing.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ask/framework.h"
#include "ask/words/layout_text.h"
#include "core/units.h"
#include "planner/explain/judge.h"
#include "planner/verify/framework_rules.h"
#include "sextant/coefficients.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"

namespace sextant::inline ask {
namespace {

constexpr std::array kTensorDegrees{1, 2, 4, 8};

bool has_sharded_training(const Workflow& workflow, const ProfiledSpace& space) {
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    if (workflow.tasks[t].kind != TaskKind::training) continue;
    constexpr int kZero3 = 3;
    const auto& executions = space.choices[t].executions;
    return std::any_of(executions.begin(), executions.end(),
                       [](const Execution& execution) { return execution.zero_stage >= kZero3; });
  }
  return false;
}

bool keeps_training_apart(const Workflow& workflow, const DeviceRules& rules) {
  return std::any_of(rules.apart.begin(), rules.apart.end(), [&](const auto& pair) {
    const auto is = [&](std::size_t task, TaskKind kind) { return workflow.tasks[task].kind == kind; };
    return (is(pair.first, TaskKind::generation) && is(pair.second, TaskKind::training)) ||
           (is(pair.first, TaskKind::training) && is(pair.second, TaskKind::generation));
  });
}

// Layouts in words, those of the smallest degrees first.
std::vector<LayoutOptions> smallest_degrees(const PlanInputs& asked, const ProfiledSpace& space,
                                            int lora_rank) {
  const Workflow& workflow = asked.loaded.workflow;
  const int devices = asked.loaded.cluster.device_count();
  std::string of_generation, of_training;
  int trainers = devices;
  if (keeps_training_apart(workflow, space.device_rules)) {
    trainers = devices / 2;
    of_generation = ",gpus=0-" + std::to_string(devices - trainers - 1);
    of_training = ",gpus=" + std::to_string(devices - trainers) + "-" + std::to_string(devices - 1);
  }
  std::vector<std::string> trainings;
  if (has_sharded_training(workflow, space)) {
    trainings.push_back("fsdp=" + std::to_string(trainers));
  } else {
    constexpr int kMaxStages = 16, kUsualExpertParallel = 8;
    const Model& model = workflow.model_of(workflow.actor_training());
    const std::string of_experts = model.experts ? ",ep=" + std::to_string(kUsualExpertParallel) : "";
    for (const int tensor : kTensorDegrees) trainings.push_back("tp=" + std::to_string(tensor) + of_experts);
    for (int stages = 2; stages <= kMaxStages; stages *= 2)
      trainings.push_back("tp=" + std::to_string(kTensorDegrees.back()) + ",pp=" + std::to_string(stages) +
                          of_experts);
  }
  const std::string adapters = lora_rank > 0 ? ",lora=" + std::to_string(lora_rank) : "";
  std::vector<LayoutOptions> layouts;
  for (const char* offload : {"", ",offload=weights", ",offload=weights+optimizer", ",recompute=full",
                              ",recompute=full,offload=weights+optimizer"}) {
    for (const std::string& training : trainings) {
      for (const int tensor : kTensorDegrees)
        layouts.push_back(
            {training + of_training + adapters + offload, "tp=" + std::to_string(tensor) + of_generation, ""});
    }
  }
  return layouts;
}

struct PlanByHand {
  LayoutOptions layouts;
  Plan plan;
  double iteration_s = 0;
};

// nullopt if it cannot run, or does not fit with the probability that is asked for.
std::optional<PlanByHand> plan_by_hand(const PlanQuestion& question, const PlanInputs& asked,
                                       const ProfiledSpace& space, const LayoutOptions& layouts) {
  const LoadedInputs& loaded = asked.loaded;
  try {
    std::vector<std::string> assumed;
    PlanByHand by_hand{layouts, plan_of(layouts, loaded, assumed), 0};
    if (!uneven_batches(*loaded.profile, loaded.workflow, by_hand.plan).empty() ||
        !framework_violations(by_hand.plan, loaded.workflow, space.choices).empty())
      return std::nullopt;
    const PredictionQuery query{loaded.cluster, loaded.workflow, by_hand.plan, loaded.chosen.coefficients,
                                loaded.chosen.framework};
    const Prediction prediction =
        predict(query.cluster, query.workflow, query.plan, query.coefficients, query.framework);
    const std::optional<MemoryRisk> risk = memory_risk_of(query);
    if (!prediction.fits() || (risk && risk->probability > question.memory_risk())) return std::nullopt;
    by_hand.iteration_s = prediction.iteration_s;
    return by_hand;
  } catch (const Error&) {  // such as degrees that do not divide the model or the devices
    return std::nullopt;
  }
}

// "faster with 88 %", by the coefficients alone, or "with 71 to 88 %" where errors of the model may differ.
std::string sureness(const PlanInputs& asked, const Plan& found, const Plan& other) {
  constexpr int kDraws = 100;
  const CoefficientUncertainty doubt = coefficient_uncertainty_of(asked.loaded, kDraws, asked.request.seed);
  const Cluster& cluster = asked.loaded.cluster;
  const std::optional<Chance> chance =
      chance_of(losses_under(asked.request, cluster, found, doubt),
                losses_under(asked.request, cluster, other, doubt), doubt.model_log_deviation);
  if (!chance) return "";
  const double alone = chance->probability;
  const double with_errors = chance->probability_with_model_error.value_or(alone);
  const auto [low, high] = std::minmax(alone, with_errors);
  const std::string from = format_percent(low, 0), to = format_percent(high, 0);
  return "; this plan is faster with " + (from == to ? to : from.substr(0, from.find(' ')) + " to " + to);
}

}  // namespace

std::string gain_over_smallest_degrees(const PlanQuestion& question, const PlanInputs& asked,
                                       const PlanResult& found) {
  const LoadedInputs& loaded = asked.loaded;
  if (!loaded.profile || question.any_layout || !question.excluded.empty() || !asked.pins.empty() ||
      !asked.request.objective.is_time_alone() || !why_not_offered(*loaded.profile, loaded.workflow).empty())
    return "";
  const ProfiledSpace space = space_of(*loaded.profile, loaded.workflow, loaded.cluster);
  for (const LayoutOptions& layouts : smallest_degrees(asked, space, question.lora_rank)) {
    const std::optional<PlanByHand> by_hand = plan_by_hand(question, asked, space, layouts);
    if (!by_hand) continue;
    const std::string words = "the smallest degrees that fit (--train " + layouts.train + " --rollout " +
                              layouts.rollout + ", otherwise as the framework does by default)";
    constexpr double kAlike = 0.005;
    const double more = by_hand->iteration_s / found.prediction->iteration_s - 1;
    if (more < kAlike) return "as fast as " + words;
    return "beats " + words + ", which take " + format_seconds(by_hand->iteration_s) + ", " +
           format_percent(more, more < 1 ? 1 : 0) + " more" + sureness(asked, *found.plan, by_hand->plan);
  }
  return "nothing to compare with: no uniform degrees fit as the framework does by default, with or without "
         "offloading and recomputation";
}

std::string number_known_worst(const PlanInputs& asked, const PlanResult& found) {
  const LoadedInputs& loaded = asked.loaded;
  std::map<std::string, double> shares;  // of the variance, by coefficient
  for (const Sensitivity& one : sensitivities_of({loaded.cluster, loaded.workflow, *found.plan,
                                                  loaded.chosen.coefficients, loaded.chosen.framework})) {
    if (one.variance_share) shares[one.name] += *one.variance_share;
  }
  const auto least = std::max_element(shares.begin(), shares.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least == shares.end() || !(least->second > 0)) return "";
  const auto spec = std::find_if(coefficient_table().begin(), coefficient_table().end(),
                                 [&](const CoefficientSpec& one) { return one.name == least->first; });
  return "least known: " + least->first +
         (spec == coefficient_table().end() ? "" : " (" + std::string(spec->help) + ")") + ", " +
         format_percent(std::min(1.0, least->second), 0) +  // covariances may be negative
         " of the variance of the time; a log of any run on these GPUs narrows it: sextant calibrate --start";
}

void record_standing(const PlanQuestion& question, const PlanInputs& asked, PlanOutput& answer) {
  answer.record.standing.clear();
  for (std::string& sentence : std::array{gain_over_smallest_degrees(question, asked, answer.result),
                                          number_known_worst(asked, answer.result)}) {
    if (!sentence.empty()) answer.record.standing.push_back(std::move(sentence));
  }
}

}  // namespace sextant::inline ask
