#include "probes/cuda/gpu_probe.h"

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/units.h"
#include "probes/cuda/gpu_measurement.h"

namespace sextant {
namespace {

// Fewer samples than this say little about a device that changes its clock.
constexpr int kLeastSamples = 16;
constexpr double kWarmUpShare = 0.25;  // of a point's budget: clocks and power settle
// A point that could have less time than this is not begun.
constexpr double kLeastBudget_s = 0.02;
constexpr double kLinkBudget_s = 0.1;

SamplingOptions sampling_for(const GpuProbeOptions& options, double left_s) {
  const double budget_s = std::min(options.budget_s_per_point, left_s);
  SamplingOptions sampling = sampling_options(budget_s, options.target_spread_fraction);
  sampling.stopping.least_samples = kLeastSamples;
  sampling.warm_up_s = kWarmUpShare * budget_s;
  return sampling;
}

std::vector<ProbeResult> measure_gpu(GpuDevices& devices, const GpuFacts& gpu, GpuSensors& sensors,
                                     const GpuProbeOptions& options, const Clock& clock) {
  const double start_s = clock.now_s();
  std::vector<ProbeResult> results;
  for (const GpuPoint& point : gpu_points(gpu, options.points)) {
    const double left_s = options.total_budget_s - (clock.now_s() - start_s);
    if (left_s < std::min(kLeastBudget_s, options.budget_s_per_point)) {
      results.push_back(waived_result(point.name, point.unit,
                                      "the probe's " + format_seconds(options.total_budget_s) + " were over"));
      results.back().rank = gpu.index;
      continue;
    }
    if (options.on_point) options.on_point(point.name);
    results.push_back(measure_gpu_point(point, devices, gpu, sensors, sampling_for(options, left_s), clock));
  }
  std::vector<ProbeResult> derived = derive_gpu_results(results);
  std::move(derived.begin(), derived.end(), std::back_inserter(results));
  return results;
}

// Each pair of GPUs, one after another.
std::vector<ProbeResult> measure_links(GpuDevices& devices, const std::vector<GpuFacts>& gpus,
                                       GpuSensors& sensors, const GpuProbeOptions& options,
                                       const Clock& clock) {
  GpuProbeOptions short_options = options;
  short_options.budget_s_per_point = std::min(options.budget_s_per_point, kLinkBudget_s);
  std::vector<ProbeResult> results;
  for (std::size_t from = 0; from < gpus.size(); ++from) {
    for (std::size_t to = from + 1; to < gpus.size(); ++to) {
      for (const GpuPoint& point : gpu_link_points(gpus[from].index, gpus[to].index)) {
        if (options.on_point) options.on_point(point.name);
        results.push_back(measure_gpu_point(point, devices, gpus[from], sensors,
                                            sampling_for(short_options, kLinkBudget_s), clock));
        results.back().peer = gpus[to].index;
      }
    }
  }
  return results;
}

int count(const std::vector<ProbeResult>& results, ProbeOutcome outcome) {
  return static_cast<int>(std::count_if(results.begin(), results.end(),
                                        [&](const ProbeResult& result) { return result.outcome == outcome; }));
}

void summarise(GpuProbe& probe) {
  const int failed = count(probe.results, ProbeOutcome::failed);
  const int noisy = count(probe.results, ProbeOutcome::noisy);
  const int measured = count(probe.results, ProbeOutcome::measured);
  const int waived = count(probe.results, ProbeOutcome::waived);
  probe.sentence = std::to_string(probe.devices.size()) + " GPU(s) in " + format_seconds(probe.took_s) +
                   ", points: " + std::to_string(measured) + " measured, " + std::to_string(noisy) +
                   " noisy, " + std::to_string(waived) + " waived, " + std::to_string(failed) + " failed";
  if (failed > 0) {
    probe.outcome = ProbeOutcome::failed;
  } else if (noisy > 0) {
    probe.outcome = ProbeOutcome::noisy;
  } else {
    probe.outcome = measured > 0 ? ProbeOutcome::measured : ProbeOutcome::waived;
  }
}

}  // namespace

GpuProbe probe_gpus(GpuDevices& devices, GpuSensors& sensors, const GpuProbeOptions& options,
                    const Clock& clock) {
  GpuProbe probe;
  const double start_s = clock.now_s();
  probe.versions = devices.versions();
  probe.sentence = devices.absence();
  if (!probe.sentence.empty()) return probe;
  probe.no_sensors = sensors.absence();
  probe.devices = devices.list();
  for (const GpuFacts& gpu : probe.devices) {
    std::vector<ProbeResult> results = measure_gpu(devices, gpu, sensors, options, clock);
    std::move(results.begin(), results.end(), std::back_inserter(probe.results));
  }
  std::vector<ProbeResult> links = measure_links(devices, probe.devices, sensors, options, clock);
  std::move(links.begin(), links.end(), std::back_inserter(probe.results));
  probe.took_s = clock.now_s() - start_s;
  summarise(probe);
  return probe;
}

GpuProbe probe_gpus(const GpuProbeOptions& options) {
  const auto devices = make_gpu_devices();
  const auto sensors = make_nvml_sensors();
  return probe_gpus(*devices, *sensors, options);
}

std::vector<std::string> warnings_of(const GpuProbe& probe) {
  std::vector<std::string> warnings;
  if (!probe.no_sensors.empty()) warnings.push_back(probe.no_sensors + ".");
  int throttled = 0;
  const ProbeResult* worst = nullptr;
  for (const ProbeResult& result : probe.results) {
    if (result.outcome == ProbeOutcome::failed) {
      warnings.push_back(result.name + " of GPU " + std::to_string(result.rank) +
                         " failed: " + result.sentence + ".");
    }
    if (result.conditions.throttled() == 0) continue;
    ++throttled;
    if (worst == nullptr || result.conditions.throttled() > worst->conditions.throttled()) worst = &result;
  }
  if (worst != nullptr) {
    warnings.push_back(std::to_string(throttled) + " points were measured while the GPU was held back, most " +
                       worst->name + " (" + worst->conditions.sentence() +
                       "): a job that works as hard gets these rates, a cooler or less limited card more.");
  }
  if (const int noisy = count(probe.results, ProbeOutcome::noisy); noisy > 0) {
    warnings.push_back(std::to_string(noisy) + " of " + std::to_string(probe.results.size()) +
                       " points are less well known than asked: raise the budget of a point, or look for other "
                       "programs on the GPU.");
  }
  return warnings;
}

}  // namespace sextant
