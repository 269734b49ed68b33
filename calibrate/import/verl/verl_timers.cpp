#include "calibrate/import/verl/verl_timers.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sextant/run.h"
#include "sextant/workflow.h"

namespace sextant::verl_timers {
namespace {

bool any_step_has(const std::vector<VerlStep>& steps, const std::string& key) {
  return std::any_of(steps.begin(), steps.end(), [&key](const VerlStep& step) { return step.has(key); });
}

bool any_step_has(const std::vector<const VerlStep*>& steps, const std::string& key) {
  return std::any_of(steps.begin(), steps.end(), [&key](const VerlStep* step) { return step->has(key); });
}

double value_or_zero(const VerlStep& step, const std::string& key) {
  return step.has(key) ? step.at(key) : 0.0;
}

// The parts of verl's generation timer: the weight sync is included while it has no timer of its own, and the
// log-probabilities in the first version.
std::string generation_timer(const std::vector<const VerlStep*>& steps) {
  std::string name = task_names::kActorGeneration;
  if (!any_step_has(steps, kSeconds + "old_log_prob")) name += std::string("+") + kOldLogProb;
  if (!any_step_has(steps, kSeconds + "update_weights")) name += std::string("+") + kWeightSync;
  return name;
}

}  // namespace

// github.com/yuzhaouoe/GUI-Cursor-Moving has a loop of its own around the rollout.
void use_usual_names(VerlLog& log) {
  const std::string fork = kSeconds + "get_batch_rollout_with_filtering", usual = kSeconds + "gen";
  for (VerlStep& step : log.steps) {
    if (!step.has(fork) || step.has(usual)) continue;
    step.metrics.set(usual, step.at(fork));
    step.metrics.erase(fork);
  }
}

bool is_asynchronous(const std::vector<VerlStep>& steps) {
  for (const char* key : {"wait_prev_gen", "generate_async", "sync_rollout_weights", "wait_for_enough_samples",
                          "timing_s/param_sync", "switch_wait", "switch_to_rollout", "switch_to_trainer"}) {
    if (any_step_has(steps, kSeconds + key)) return true;
  }
  return any_step_has(steps, "fully_async/trainer/idle_ratio");
}

bool is_phase(const std::string& phase) {
  static const std::set<std::string> kOthers{
      "step",    "testing",       "save_checkpoint", "generate_sequences",
      "reshard", "start_profile", "stop_profile",    "dump_rollout_generations"};
  return phase.find('/') == std::string::npos && !kOthers.contains(phase);
}

double phases_s(const VerlStep& step) {
  double sum = 0;
  for (const auto& [key, value] : step.metrics) {
    if (key.starts_with(kSeconds) && is_phase(std::string(key.substr(kSeconds.size())))) sum += value;
  }
  return sum;
}

// Up to 0.5.0 the step holds validation and saving, from 0.7.1 saving alone, others neither, and the log does not say which
// it is: the phases do.
double iteration_s(const VerlStep& step) {
  const double whole_s = step.at(kSeconds + "step"), sum_s = phases_s(step);
  const double tested_s = value_or_zero(step, kSeconds + "testing"),
               saved_s = value_or_zero(step, kSeconds + "save_checkpoint");
  double iteration_s = whole_s;
  for (const double beside_s : {tested_s, saved_s, tested_s + saved_s}) {
    if (std::abs(whole_s - beside_s - sum_s) < std::abs(iteration_s - sum_s)) iteration_s = whole_s - beside_s;
  }
  return iteration_s;
}

std::map<std::string, std::string> timers_of(const std::vector<const VerlStep*>& steps) {
  std::map<std::string, std::string> timers{{"gen", generation_timer(steps)},
                                            {"old_log_prob", kOldLogProb},
                                            {"ref", task_names::kReferenceInference},
                                            {"values", task_names::kCriticInference},
                                            {"update_critic", task_names::kCriticTraining},
                                            {"update_actor", task_names::kActorTraining},
                                            {"update_weights", kWeightSync}};
  if (!any_step_has(steps, kSeconds + "update_weights")) timers["reshard"] = kWeightSync;
  return timers;
}

VerlTasks tasks_of(const std::vector<VerlStep>& steps) {
  return {any_step_has(steps, kSeconds + "ref"),
          any_step_has(steps, kSeconds + "values") || any_step_has(steps, kSeconds + "update_critic")};
}

}  // namespace sextant::verl_timers
