#include "ask/check/beyond_peak.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "calibrate/accuracy.h"
#include "calibrate/residuals.h"
#include "core/units.h"

namespace sextant::inline ask {
namespace {

constexpr double kMeasuredSlack = 1.1;  // a measured rate is that of some shapes; others can be faster

// FLOP of one sequence in a forward pass over all layers; causal attention sees half of the tokens.
double forward_flop(const Model& model, double tokens, double head_tokens) {
  const LayerFlop layer = model.layer_flop(tokens);
  return model.layers * (layer.projections + layer.mlp + layer.attention / 2) + model.head_flop(head_tokens);
}

double task_flop(const Task& task, const TaskPlan& plan, const Workflow& workflow) {
  const Model& model = workflow.model_of(task);
  const double prompt = workflow.prompt_tokens.mean_tokens(), response = workflow.response_tokens.mean_tokens();
  if (task.kind == TaskKind::generation) {
    return workflow.prompts * forward_flop(model, prompt, 0) +
           workflow.sequences() * forward_flop(model, response, response);
  }
  const double forward = forward_flop(model, prompt + response, response);
  if (task.kind == TaskKind::inference) return workflow.sequences() * forward;
  constexpr double kForwardAndBackward = 3, kWithoutWeightGradients = 2;
  return workflow.sequences() * forward *
         (plan.execution.lora_rank > 0 ? kWithoutWeightGradients : kForwardAndBackward);
}

// The fastest rate at which the device computes for the task.
const Quantity* rate_of(const DeviceType& type, const TaskPlan& plan, const Workflow& workflow) {
  const Execution& execution = plan.execution;
  const Quantity* fastest = nullptr;
  for (const auto& precision :
       {std::optional<Precision>(workflow.precision), execution.precision, execution.expert_precision}) {
    const auto found = precision ? type.flop_per_s.find(*precision) : type.flop_per_s.end();
    if (found != type.flop_per_s.end() && (fastest == nullptr || found->second.value > fastest->value))
      fastest = &found->second;
  }
  return fastest;
}

// Adds up the work and the devices of the tasks of one timer.
class Bound {
 public:
  Bound(const Cluster& cluster, const Workflow& workflow, const Plan& plan)
      : cluster_(cluster), workflow_(workflow), plan_(plan) {}

  void add(const Task& task) {
    const TaskPlan& plan = plan_.tasks.at(task.name);
    flop_ += task_flop(task, plan, workflow_);
    for (const DeviceId device : plan.devices()) {
      const Quantity* rate = rate_of(cluster_.type_of(device), plan, workflow_);
      is_known_ = is_known_ && rate != nullptr;
      if (rate == nullptr) continue;
      double& of_device = rates_[device];
      of_device = std::max(of_device, rate->value);
      is_measured_ = is_measured_ || rate->source == Source::measured;
    }
  }

  [[nodiscard]] std::optional<BeyondPeak> exceeded_in(const std::string& what, double time_s) const {
    double all = 0, fastest = 0;
    std::map<std::string, int> counts;
    for (const auto& [device, rate] : rates_) {
      all += rate;
      fastest = std::max(fastest, rate);
      ++counts[cluster_.type_name(device)];
    }
    if (!is_known_ || !(all > 0) || !(time_s > 0)) return std::nullopt;
    const double share = flop_ / (all * time_s);
    if (share <= (is_measured_ ? kMeasuredSlack : 1.0)) return std::nullopt;
    std::string devices;
    for (const auto& [type, count] : counts)
      devices += (devices.empty() ? "" : " and ") + std::to_string(count) + " " + type;
    return BeyondPeak{what, time_s, share, devices, fastest, is_measured_};
  }

 private:
  const Cluster& cluster_;
  const Workflow& workflow_;
  const Plan& plan_;
  double flop_ = 0;
  std::map<DeviceId, double> rates_;
  bool is_known_ = true, is_measured_ = false;
};

bool has_unstated_lengths(const Run& run) {
  return std::any_of(run.unstated.begin(), run.unstated.end(),
                     [](const Unstated& one) { return one.quantity == UnstatedQuantity::response_tokens; });
}

}  // namespace

std::string BeyondPeak::sentence() const {
  return what + " in " + format_seconds(measured_s) + " is " + format_percent(share, 0) + " of the " +
         (is_measured ? "measured rate of " : "peak of ") + devices + " (" + format_flop_per_s(flop_per_s) +
         " each): the GPUs, the tokens or the times are wrong";
}

std::vector<BeyondPeak> beyond_peak(const Run& run, const Cluster& cluster, const Workflow& workflow,
                                    const Plan& plan) {
  std::vector<BeyondPeak> found;
  if (has_unstated_lengths(run)) return found;
  const auto look = [&](const std::string& what, const Timing& timing, const std::vector<std::string>& tasks) {
    Bound bound(cluster, workflow, plan);
    for (const std::string& name : tasks) {
      if (workflow.has_task(name)) bound.add(workflow.task(name));
    }
    if (const auto exceeded = bound.exceeded_in(what, timing.median_s())) found.push_back(*exceeded);
  };
  for (const auto& [timer, timing] : run.tasks) look(timer, timing, parts_of_timer(timer));
  for (const auto& [task, timing] : run.elapsed) look(elapsed_name(task), timing, {task});
  if (run.iteration.empty()) return found;
  std::vector<std::string> all;
  for (const Task& task : workflow.tasks) all.push_back(task.name);
  look(kIteration, run.iteration, all);
  return found;
}

std::vector<std::string> beyond_peak_of_all(const Runs& runs) {
  std::vector<std::string> sentences;
  for (const Run& run : runs.runs) {
    for (const BeyondPeak& found :
         beyond_peak(run, runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run)))
      sentences.push_back(run.name + ": " + found.sentence() + ".");
  }
  return sentences;
}

}  // namespace sextant::inline ask
