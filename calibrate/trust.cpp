
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "calibrate/familiarity.h"
#include "calibrate/posterior.h"
#include "calibrate/residuals.h"
#include "costmodel/hardware_numbers.h"
#include "costmodel/terms/memory.h"
#include "sextant/predict.h"
#include "sextant/statistics.h"

namespace sextant {
namespace {

// The asked plan as a run that was never measured: one time for every task and for the weight sync if it takes
// any, then the iteration, then the memory of the device that needs most.
class Imagined {
 public:
  Imagined(const PredictionQuery& asked, bool has_weight_sync) {
    Run run;
    run.name = "asked";
    run.cluster = asked.cluster.name();
    run.workflow = asked.workflow.name;
    run.plan = asked.plan.name;
    run.framework = asked.framework;
    for (const Task& task : asked.workflow.tasks) run.tasks[task.name].samples_s = {1.0};
    if (has_weight_sync) run.tasks[kWeightSync].samples_s = {1.0};
    run.iteration.samples_s = {1.0};
    run.peak_memory_bytes = 1.0;
    runs_.clusters.emplace(run.cluster, asked.cluster);
    runs_.workflows.emplace(run.workflow, asked.workflow);
    Plan plan = asked.plan;
    (void)fill_in_unstated(plan, asked.workflow);
    runs_.plans.emplace(run.plan, std::move(plan));
    runs_.runs.push_back(std::move(run));
    prepared_.emplace_back(runs_, runs_.runs.front());
  }
  Imagined(const Imagined&) = delete;
  Imagined& operator=(const Imagined&) = delete;
  ~Imagined() = default;

  [[nodiscard]] const PreparedRun& run() const { return prepared_.front(); }
  [[nodiscard]] int iteration() const { return memory() - 1; }
  [[nodiscard]] int memory() const { return static_cast<int>(run().times().size()) - 1; }

 private:
  Runs runs_;
  std::vector<PreparedRun> prepared_;  // one
};

Interval interval_of(double value, double log_variance) {
  constexpr double kNothingKnown = 1e9;  // a wider interval says no more, and is no number in the end
  const double factor = std::min(std::exp(kNormal90 * std::sqrt(log_variance)), kNothingKnown);
  return {value / factor, value * factor};
}

// Deviations of the logarithm where no run says better. Of devices: the counts without a fit were within 14 %
// of 90 % of the public peaks of other sources. Of hosts: what else runs on a node is not in the plan.
constexpr double kUncalibratedMemory = 0.1;
constexpr double kMinMemory = 0.03;  // allocators round and keep
constexpr double kHostMemory = 0.2;

double memory_log_deviation(const ModelDeviations& deviations) {
  return deviations.memory > 0 ? std::max(kMinMemory, deviations.memory) : kUncalibratedMemory;
}

// The probability that a value is at most the limit.
double probability_of_at_most(double limit, double value, double log_variance) {
  if (limit <= 0) return 0;
  if (value <= 0 || log_variance <= 0) return 1;
  return 0.5 * std::erfc(-std::log(limit / value) / std::sqrt(2 * log_variance));
}

MemoryTrust memory_trust(double needed_bytes, double capacity_bytes, double log_variance) {
  return {interval_of(needed_bytes, log_variance),
          probability_of_at_most(capacity_bytes, needed_bytes, log_variance)};
}

// A device's memory is enough if it is enough for each of its tasks; their errors are the same one.
MemoryTrust memory_trust(const std::vector<MemoryNeed>& needs, double capacity_bytes, double log_variance) {
  MemoryTrust trust{{0, 0}, 1};
  for (const MemoryNeed& need : needs) {
    const Interval predicted = interval_of(need.predicted_bytes, log_variance);
    trust.needed_bytes.low = std::max(trust.needed_bytes.low, need.reserved_bytes + predicted.low);
    trust.needed_bytes.high = std::max(trust.needed_bytes.high, need.reserved_bytes + predicted.high);
    trust.fit_probability = std::min(
        trust.fit_probability,
        probability_of_at_most(capacity_bytes - need.reserved_bytes, need.predicted_bytes, log_variance));
  }
  return trust;
}

// How far a task, or all tasks, of the asked plan are from the runs of a fit (familiarity.h).
struct Distance {
  double steps_outside = 0;  // of the range of the runs
  double distance = 0;       // to the nearest run

  void extend(const Distance& other) {
    steps_outside = std::max(steps_outside, other.steps_outside);
    distance = std::max(distance, other.distance);
  }
};

struct Neighbourhood {
  std::map<std::string, Distance> tasks;  // none if the fit does not say what its runs were
  Distance farthest;

  Neighbourhood(const Imagined& imagined, const FitSummary& fit) {
    if (fit.experience.empty()) return;
    const std::vector<TaskExperience> asked = experience_of(imagined.run());
    for (std::size_t t = 0; t < asked.size(); ++t) {
      const Distance one{steps_outside(asked[t], fit.experience),
                         distance_to_nearest(asked[t], fit.experience)};
      tasks[imagined.run().works()[t].task->name] = one;
      farthest.extend(one);
    }
  }
};

using MemoryNeeds = std::map<DeviceId, std::vector<MemoryNeed>>;

MemoryNeeds memory_needs_of(const PredictionQuery& asked) {
  const Hardware<double> hardware(asked.cluster);
  Plan plan = asked.plan;
  (void)fill_in_unstated(plan, asked.workflow);
  return memory_needs(works_of(asked.workflow, plan, asked.cluster),
                      resolve(asked.coefficients, hardware, asked.framework), hardware);
}

// The part of the fullest device's need that is predicted.
double predicted_share(const MemoryNeeds& needs) {
  double fullest = 0, share = 1;
  for (const auto& [device, of_tasks] : needs) {
    for (const MemoryNeed& need : of_tasks) {
      const double bytes = need.reserved_bytes + need.predicted_bytes;
      if (bytes <= fullest) continue;
      fullest = bytes;
      share = need.predicted_bytes / bytes;
    }
  }
  return share;
}

// The variance of the logarithm of the predicted part of a device's memory, where coefficients were fitted.
double memory_log_variance(const FitSummary& fit, const Posterior& posterior, const Imagined& imagined,
                           const MemoryNeeds& needs) {
  const double distance = Neighbourhood(imagined, fit).farthest.distance;
  const double of_model = memory_log_deviation(deviations_at(fit, distance)), share = predicted_share(needs);
  const double of_all = posterior.log_variances(imagined.run())[static_cast<std::size_t>(imagined.memory())];
  return (share > 0 ? of_all / (share * share) : of_all) + of_model * of_model;
}

constexpr double kUncalibratedVariance = kUncalibratedMemory * kUncalibratedMemory;

void qualify_memory(Prediction& prediction, const MemoryNeeds& needs, double log_variance) {
  for (DeviceMemory& device : prediction.memory) {
    device.trust = memory_trust(needs.at(device.device), device.capacity_bytes, log_variance);
  }
  for (HostMemory& host : prediction.host_memory) {
    if (!host.capacity_bytes) continue;
    host.trust = memory_trust(host.needed_bytes, *host.capacity_bytes, kHostMemory * kHostMemory);
  }
}

struct Intervals {
  std::map<std::string, Interval> tasks;
  std::optional<Interval> iteration, weight_sync;

  // Widens the intervals to cover both.
  void widen(const Intervals& other) {
    const auto cover = [](Interval& mine, const Interval& its) {
      mine = {std::min(mine.low, its.low), std::max(mine.high, its.high)};
    };
    for (auto& [name, interval] : tasks) cover(interval, other.tasks.at(name));
    if (iteration) cover(*iteration, *other.iteration);
    if (weight_sync && other.weight_sync) cover(*weight_sync, *other.weight_sync);
  }
};

// With every step outside of what was calibrated the model adds its variance once more. Scales left out show as
// much: half a step (twice the devices) needs 2.1 times the variance on public training runs and 1.1 times on
// RL iterations.
double growth(double steps) { return 1 + steps; }

// The intervals from the uncertainty of the coefficients and of the model itself.
Intervals intervals_of(const Prediction& prediction, const Imagined& imagined, const Posterior& posterior,
                       const FitSummary& fit) {
  const std::vector<double> variances = posterior.log_variances(imagined.run());
  const std::vector<MeasuredTime>& times = imagined.run().times();
  Neighbourhood near(imagined, fit);
  const auto model_variance = [&fit](const Distance& distance, double ModelDeviations::*of) {
    const double deviation = deviations_at(fit, distance.distance).*of;
    return growth(distance.steps_outside) * deviation * deviation;
  };
  Intervals intervals;
  for (std::size_t t = 0; t < times.size(); ++t) {
    if (times[t].is_iteration()) {
      const double variance = variances[t] + model_variance(near.farthest, &ModelDeviations::iteration);
      intervals.iteration = interval_of(prediction.iteration_s, variance);
    } else if (times[t].what == kWeightSync) {
      intervals.weight_sync = interval_of(prediction.weight_sync_s,
                                          variances[t] + model_variance(near.farthest, &ModelDeviations::task));
    } else if (!times[t].is_memory()) {
      const std::string& name = times[t].what;
      intervals.tasks[name] =
          interval_of(prediction.tasks.at(name).time_s,
                      variances[t] + model_variance(near.tasks[name], &ModelDeviations::task));
    }
  }
  return intervals;
}

// The same of a program that is its own controller.
Intervals intervals_of_loop(const PredictionQuery& asked, const Posterior& posterior) {
  Workflow workflow = asked.workflow;
  workflow.orchestration = Orchestration::loop;
  const PredictionQuery loop{asked.cluster, workflow, asked.plan, asked.coefficients, asked.framework};
  const Prediction prediction =
      predict(loop.cluster, loop.workflow, loop.plan, loop.coefficients, loop.framework);
  return intervals_of(prediction, Imagined(loop, prediction.weight_sync_s > 0), posterior,
                      *asked.coefficients.fit);
}

}  // namespace

double model_log_deviation(const FitSummary& fit) { return deviations_far(fit).iteration; }

double memory_log_deviation(const Coefficients& coefficients) {
  return coefficients.fit ? memory_log_deviation(deviations_far(*coefficients.fit)) : kUncalibratedMemory;
}

void qualify(Prediction& prediction, const PredictionQuery& asked) {
  const std::optional<Posterior> posterior = posterior_of(asked.coefficients);
  const MemoryNeeds needs = memory_needs_of(asked);
  if (!posterior) return qualify_memory(prediction, needs, kUncalibratedVariance);
  const FitSummary& fit = *asked.coefficients.fit;
  const Imagined imagined(asked, prediction.weight_sync_s > 0);
  qualify_memory(prediction, needs, memory_log_variance(fit, *posterior, imagined, needs));
  Intervals intervals = intervals_of(prediction, imagined, *posterior, fit);
  if (asked.workflow.has_controller() && !posterior->knows(asked.framework)) {
    intervals.widen(intervals_of_loop(asked, *posterior));
  }
  for (const auto& [name, interval] : intervals.tasks) prediction.tasks.at(name).interval_s = interval;
  prediction.iteration_interval_s = intervals.iteration;
  prediction.weight_sync_interval_s = intervals.weight_sync;
  if (fit.experience.empty()) return;
  const std::vector<TaskExperience> tasks = experience_of(imagined.run());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    TaskExperience task = tasks[t];
    // Coefficients of all frameworks were asked for: none is the wrong one.
    if (asked.framework == kAny) task.framework.clear();
    std::vector<TaskExperience> seen = fit.experience;
    if (asked.framework == kAny) {
      for (TaskExperience& one : seen) one.framework.clear();
    }
    prediction.tasks.at(asked.workflow.tasks[t].name).familiarity = familiarity_of(task, seen);
  }
}

std::optional<MemoryRisk> memory_risk_of(const PredictionQuery& asked) {
  const MemoryNeeds needs = memory_needs_of(asked);
  if (needs.empty()) return std::nullopt;
  const std::optional<Posterior> posterior = posterior_of(asked.coefficients);
  const double log_variance =
      posterior ? memory_log_variance(*asked.coefficients.fit, *posterior, Imagined(asked, false), needs)
                : kUncalibratedVariance;
  MemoryRisk risk{0, std::sqrt(log_variance)};
  for (const auto& [device, of_tasks] : needs) {
    const double capacity_bytes = asked.cluster.type_of(device).memory_bytes.value;
    const double probability = memory_trust(of_tasks, capacity_bytes, log_variance).fit_probability;
    risk.probability = std::max(risk.probability, 1 - probability);
  }
  return risk;
}

Prediction predict_with_trust(const PredictionQuery& asked) {
  Prediction prediction =
      predict(asked.cluster, asked.workflow, asked.plan, asked.coefficients, asked.framework);
  qualify(prediction, asked);
  return prediction;
}

std::vector<Sensitivity> sensitivities_of(const PredictionQuery& asked) {
  constexpr double kNothing = 1e-9;
  std::vector<Sensitivity> all;
  Coefficients coefficients = asked.coefficients;
  const bool fitted = coefficients.fit.has_value();
  if (!fitted) coefficients.fit.emplace();
  const std::optional<Posterior> posterior = posterior_of(coefficients);
  const Imagined imagined(asked, false);
  double variance = 0;
  std::vector<Posterior::Influence> influences = posterior->influences(imagined.run(), imagined.iteration());
  for (const Posterior::Influence& influence : influences) variance += influence.variance;
  for (const Posterior::Influence& influence : influences) {
    const Parameter& parameter = posterior->parameters[static_cast<std::size_t>(influence.parameter)];
    // Elasticities are by the logarithm of the value.
    const bool linear = parameter.spec().scale == CoefficientScale::linear && !parameter.is_deviation;
    const double coordinate = posterior->coordinates[static_cast<std::size_t>(influence.parameter)];
    const double elasticity = linear ? influence.slope * coordinate : influence.slope;
    if (std::abs(elasticity) <= kNothing && influence.variance <= kNothing) continue;
    Sensitivity sensitivity{std::string(parameter.spec().name),
                            parameter.framework == kAny ? parameter.device_type : parameter.framework, false,
                            elasticity, std::nullopt};
    if (fitted && variance > 0) sensitivity.variance_share = influence.variance / variance;
    all.push_back(std::move(sensitivity));
  }
  std::stable_sort(all.begin(), all.end(), [](const Sensitivity& a, const Sensitivity& b) {
    return std::abs(a.elasticity) > std::abs(b.elasticity);
  });
  for (Sensitivity& sensitivity :
       hardware_sensitivities(asked.cluster, asked.workflow, asked.plan, asked.coefficients, asked.framework)) {
    all.push_back(std::move(sensitivity));
  }
  return all;
}

}  // namespace sextant
