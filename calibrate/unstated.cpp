#include "calibrate/unstated.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sextant::inline calibrate {
namespace {

struct Scale {
  double from, to;  // values between which a slope is taken
  UnstatedRange range;
};

Scale scale_of(UnstatedQuantity quantity) {
  constexpr double kTwice = std::numbers::ln2;
  switch (quantity) {
    case UnstatedQuantity::response_tokens:
      return {0, 0.1, {-2, 2}};
    case UnstatedQuantity::recompute:
      return {0, 1, {0, 1}};
    case UnstatedQuantity::memory_share:
      return {-0.05, 0.05, {-0.3, 0.1}};
    case UnstatedQuantity::rule_reward_s:
      return {0, 0.01, {0, 0.1}};
    case UnstatedQuantity::decode_batch_sequences:
    case UnstatedQuantity::prefill_chunk_tokens:
      break;
  }
  return {-kTwice, kTwice, {-3 * kTwice, 3 * kTwice}};
}

int scaled_count(int count, double log_factor) {
  return std::max(1, static_cast<int>(std::lround(count * std::exp(log_factor))));
}

void change_decode_batch(TaskPlan& task, int sequences, double log_factor) {
  int assumed = task.decode_batch_sequences;
  if (assumed == 0) {
    const std::vector<int> of_replicas = replica_sequences(task, sequences);
    assumed = *std::max_element(of_replicas.begin(), of_replicas.end());
  }
  task.decode_batch_sequences = scaled_count(assumed, log_factor);
}

void change_cache(TaskPlan& task, const Cluster& cluster, double share) {
  if (task.execution.kv_cache_bytes <= 0) return;
  double memory_bytes = std::numeric_limits<double>::infinity();
  for (const DeviceId device : task.devices()) {
    memory_bytes = std::min(memory_bytes, cluster.type_of(device).memory_bytes.value);
  }
  constexpr double kMinBytes = 1;  // none would be no limit
  double& bytes = task.execution.kv_cache_bytes;
  bytes = std::max(kMinBytes, bytes + share * memory_bytes);
}

void change_generation(TaskPlan& task, const PreparedRun& run, UnstatedQuantity quantity, double value) {
  if (quantity == UnstatedQuantity::decode_batch_sequences) {
    change_decode_batch(task, run.workflow().sequences(), value);
  } else if (quantity == UnstatedQuantity::memory_share) {
    change_cache(task, run.cluster(), value);
  } else if (task.execution.prefill_chunk_tokens > 0) {
    task.execution.prefill_chunk_tokens = scaled_count(task.execution.prefill_chunk_tokens, value);
  }
}

// Predictions of the run as it is where what is unstated has this value.
std::vector<double> predicted_with(const PreparedRun& run, UnstatedQuantity quantity, double value,
                                   const RunPredictor& predict) {
  if (value == 0) return predict(run);
  Runs changed;
  changed.clusters.emplace(run.run().cluster, run.cluster());
  Workflow& workflow = changed.workflows.emplace(run.run().workflow, run.workflow()).first->second;
  Plan& plan = changed.plans.emplace(run.run().plan, run.plan()).first->second;
  if (quantity == UnstatedQuantity::response_tokens) {
    workflow.response_tokens = scaled(workflow.response_tokens, std::exp(value));
  } else if (quantity == UnstatedQuantity::rule_reward_s) {
    workflow.rule_reward_s_per_sequence += value;
  } else if (quantity == UnstatedQuantity::recompute) {
    for (auto& [name, task] : plan.tasks) task.recompute = Recompute::full;
  } else {
    for (auto& [name, task] : plan.tasks) {
      if (workflow.task(name).kind == TaskKind::generation) change_generation(task, run, quantity, value);
    }
  }
  return predict(PreparedRun(changed, run.run()));
}

}  // namespace

std::vector<double> log_slopes(const PreparedRun& run, UnstatedQuantity quantity, const RunPredictor& predict) {
  const Scale scale = scale_of(quantity);
  const std::vector<double> before = predicted_with(run, quantity, scale.from, predict),
                            after = predicted_with(run, quantity, scale.to, predict);
  std::vector<double> slopes;
  for (std::size_t t = 0; t < before.size(); ++t) {
    slopes.push_back(std::log(after[t] / before[t]) / (scale.to - scale.from));
  }
  return slopes;
}

UnstatedRange range_of(UnstatedQuantity quantity) { return scale_of(quantity).range; }

std::vector<double> unstated_factors(const PreparedRun& run, const std::vector<UnstatedValue>& values,
                                     const RunPredictor& predict) {
  std::vector<double> factors(run.times().size(), 1.0);
  for (const Unstated& unstated : run.run().unstated) {
    for (const UnstatedValue& value : values) {
      if (value.quantity != unstated.quantity || value.group != unstated.group || value.value == 0) continue;
      const std::vector<double> slopes = log_slopes(run, value.quantity, predict);
      for (std::size_t t = 0; t < factors.size(); ++t) factors[t] *= std::exp(slopes[t] * value.value);
    }
  }
  return factors;
}

std::vector<double> unstated_variances(const PreparedRun& run, const std::vector<UnstatedValue>& values,
                                       const RunPredictor& predict) {
  std::vector<double> variances(run.times().size(), 0.0);
  for (const Unstated& unstated : run.run().unstated) {
    double deviation = unstated.deviation;
    for (const UnstatedValue& value : values) {
      if (value.quantity == unstated.quantity && value.group == unstated.group) deviation = value.deviation;
    }
    const std::vector<double> slopes = log_slopes(run, unstated.quantity, predict);
    for (std::size_t t = 0; t < variances.size(); ++t) variances[t] += std::pow(slopes[t] * deviation, 2);
  }
  return variances;
}

}  // namespace sextant::inline calibrate
