#include "probes/gpu/gpu_measurement.h"

#include <algorithm>
#include <exception>
#include <optional>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// The states of the last `count` batches are those of the samples: what came before was the warm-up.
DeviceConditions conditions_of(std::vector<DeviceState> states, std::size_t count) {
  if (states.size() > count) states.erase(states.begin(), states.end() - static_cast<std::ptrdiff_t>(count));
  return {std::move(states)};
}

std::optional<ProbeResult> best_of(const std::vector<ProbeResult>& results, const std::string& name) {
  const ProbeResult* best = nullptr;
  int variants = 0;
  for (const ProbeResult& result : results) {
    if (!result.name.starts_with(name + "/") || !result.has_value()) continue;
    ++variants;
    if (best == nullptr || result.value > best->value) best = &result;
  }
  if (best == nullptr) return std::nullopt;
  ProbeResult result = *best;
  result.name = name;
  result.how = "best of " + std::to_string(variants) + " ways: " + best->name + "; " + best->how;
  result.samples_s.clear();  // they are with the variant
  return result;
}

std::optional<ProbeResult> per_node(const std::vector<ProbeResult>& results) {
  const ProbeResult* one = find_value(results, "launch/graph/1");
  const ProbeResult* many = find_value(results, "launch/graph/" + std::to_string(kLongGraphNodes));
  if (one == nullptr || many == nullptr || many->value <= one->value) return std::nullopt;
  ProbeResult result;
  result.name = "launch/graph/per_node";
  const bool is_measured = one->outcome == ProbeOutcome::measured && many->outcome == ProbeOutcome::measured;
  result.outcome = is_measured ? ProbeOutcome::measured : ProbeOutcome::noisy;
  result.sentence = "from " + one->name + " and " + many->name;
  result.unit = "s";
  result.rank = one->rank;
  const double difference_s = many->value - one->value;
  result.value = difference_s / (kLongGraphNodes - 1);
  result.spread_fraction =
      (one->spread_fraction * one->value + many->spread_fraction * many->value) / difference_s;
  return result;
}

}  // namespace

ProbeResult measure_gpu_point(const GpuPoint& point, GpuDevices& devices, const GpuFacts& gpu,
                              GpuSensors& sensors, const SamplingOptions& sampling, const Clock& clock) {
  ProbeResult result = waived_result(point.name, point.unit, point.why_not);
  result.rank = gpu.index;
  if (!point.why_not.empty()) return result;
  try {
    const GpuOperationOrReason prepared = devices.make(gpu.index, point.work);
    if (!prepared.operation) {
      result.sentence = prepared.reason;
      return result;
    }
    GpuOperation& operation = *prepared.operation;
    std::vector<DeviceState> states;
    const bool has_sensors = sensors.absence().empty();
    const WhileRunning look = [&] {
      if (has_sensors) states.push_back(sensors.read(gpu.bus_id));
    };
    const TimedBatch batch = [&](int repeats) { return operation.run_s(repeats, look); };
    SamplingOptions options = sampling;
    options.min_sample_s = std::max(options.min_sample_s, point.min_sample_s);
    Sampled sampled = take_samples(options, batch, clock);
    const std::size_t samples = sampled.samples_s.size();
    result = point.unit == "s" ? time_result(point.name, 1, std::move(sampled))
                               : rate_result(point.name, point.unit, operation.work(), std::move(sampled));
    result.work = operation.work();
    result.rank = gpu.index;
    result.how = operation.how();
    result.conditions = conditions_of(std::move(states), samples);
    if (!result.conditions.throttle_sentence().empty()) {
      result.sentence += "; " + result.conditions.sentence();
    }
    if (operation.is_right()) return result;
    return failed_result(std::move(result), "the data was wrong after the measurement");
  } catch (const std::exception& error) {
    return failed_result(std::move(result), error.what());
  }
}

std::vector<ProbeResult> derive_gpu_results(const std::vector<ProbeResult>& results) {
  std::vector<ProbeResult> derived;
  for (const char* name : {"memory/copy", "memory/read"}) {
    if (auto best = best_of(results, name)) derived.push_back(std::move(*best));
  }
  if (auto node = per_node(results)) derived.push_back(std::move(*node));
  return derived;
}

}  // namespace sextant::inline probes
