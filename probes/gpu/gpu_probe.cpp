#include "probes/gpu/gpu_probe.h"

#include <algorithm>
#include <iterator>

#include "core/units.h"
#include "probes/gpu/gpu_measurement.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// Fewer samples than this say little about a device that changes its clock.
constexpr int kMinSamples = 16;
constexpr double kWarmUpShare = 0.25;  // of a point's budget: clocks and power settle
// A point that could have less time than this is not begun.
constexpr double kMinBudget_s = 0.02;
constexpr double kLinkBudget_s = 0.1;

SamplingOptions sampling_for(const GpuProbeOptions& options, double left_s) {
  const double budget_s = std::min(options.budget_s_per_point, left_s);
  SamplingOptions sampling = sampling_options(budget_s, options.target_spread_fraction);
  sampling.stopping.min_samples = kMinSamples;
  sampling.warm_up_s = kWarmUpShare * budget_s;
  return sampling;
}

ProbeResult over_budget(const GpuPoint& point, int gpu, double budget_s) {
  ProbeResult result =
      waived_result(point.name, point.unit, "the probe's " + format_seconds(budget_s) + " were over");
  result.rank = gpu;
  return result;
}

// Earlier measurements are not repeated; earlier failures are.
const ProbeResult* find_done(const GpuProbeOptions& options, const std::string& name, int gpu, int peer) {
  for (const ProbeResult& result : options.done) {
    if (result.name != name || result.rank != gpu || result.peer != peer) continue;
    if (result.has_value() || result.outcome == ProbeOutcome::waived) return &result;
  }
  return nullptr;
}

// One point of a GPU, or between it and its peer (none: -1).
ProbeResult measure_point(const GpuPoint& point, GpuDevices& devices, const GpuFacts& gpu, int peer,
                          GpuSensors& sensors, const GpuProbeOptions& options, double left_s,
                          const Clock& clock) {
  if (options.on_point) options.on_point(point.name);
  ProbeResult result = measure_gpu_point(point, devices, gpu, sensors, sampling_for(options, left_s), clock);
  result.peer = peer;
  if (options.on_result) options.on_result(result);
  return result;
}

constexpr int kNoPeer = -1;

std::vector<ProbeResult> measure_gpu(GpuDevices& devices, const GpuFacts& gpu, GpuSensors& sensors,
                                     const GpuProbeOptions& options, const Clock& clock) {
  const double start_s = clock.now_s();
  std::vector<ProbeResult> results;
  for (const GpuPoint& point : gpu_points(gpu, options.points)) {
    const double left_s = options.total_budget_s - (clock.now_s() - start_s);
    if (const ProbeResult* done = find_done(options, point.name, gpu.index, kNoPeer)) {
      results.push_back(*done);
    } else if (left_s < std::min(kMinBudget_s, options.budget_s_per_point)) {
      results.push_back(over_budget(point, gpu.index, options.total_budget_s));
    } else {
      results.push_back(measure_point(point, devices, gpu, kNoPeer, sensors, options, left_s, clock));
    }
  }
  std::vector<ProbeResult> derived = derive_gpu_results(results);
  std::move(derived.begin(), derived.end(), std::back_inserter(results));
  return results;
}

// Each pair of GPUs, one after another: what a cluster needs first, then other ways and the other direction.
class LinkProbe {
 public:
  LinkProbe(GpuDevices& devices, const std::vector<GpuFacts>& gpus, GpuSensors& sensors,
            const GpuProbeOptions& options, const Clock& clock)
      : devices_(devices), gpus_(gpus), sensors_(sensors), options_(options), clock_(clock) {
    options_.budget_s_per_point = std::min(options.budget_s_per_point, kLinkBudget_s);
  }

  std::vector<ProbeResult> all() {
    const double start_s = clock_.now_s();
    end_s_ = start_s + options_.total_budget_s * static_cast<double>(gpus_.size());
    for (std::size_t from = 0; from < gpus_.size(); ++from) {
      for (std::size_t to = from + 1; to < gpus_.size(); ++to) {
        add(gpus_[from], gpus_[to], gpu_link_points(gpus_[to].index));
      }
    }
    for (const GpuFacts& from : gpus_) {
      for (const GpuFacts& to : gpus_) {
        if (from.index == to.index) continue;
        add(from, to, gpu_peer_points(to.index, from.index < to.index));
      }
    }
    return std::move(results_);
  }

 private:
  void add(const GpuFacts& from, const GpuFacts& to, const std::vector<GpuPoint>& points) {
    for (const GpuPoint& point : points) {
      if (const ProbeResult* done = find_done(options_, point.name, from.index, to.index)) {
        results_.push_back(*done);
      } else if (clock_.now_s() >= end_s_) {
        results_.push_back(
            over_budget(point, from.index, options_.total_budget_s * static_cast<double>(gpus_.size())));
        results_.back().peer = to.index;
      } else {
        results_.push_back(measure_point(point, devices_, from, to.index, sensors_, options_,
                                         options_.budget_s_per_point, clock_));
      }
    }
  }

  GpuDevices& devices_;
  const std::vector<GpuFacts>& gpus_;
  GpuSensors& sensors_;
  GpuProbeOptions options_;
  const Clock& clock_;
  double end_s_ = 0;
  std::vector<ProbeResult> results_;
};

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
  if (options.only_gpu) {
    std::erase_if(probe.devices, [&](const GpuFacts& gpu) { return gpu.index != *options.only_gpu; });
  }
  for (const GpuFacts& gpu : probe.devices) {
    std::vector<ProbeResult> results = measure_gpu(devices, gpu, sensors, options, clock);
    std::move(results.begin(), results.end(), std::back_inserter(probe.results));
  }
  std::vector<ProbeResult> links = probe_gpu_links(devices, probe.devices, sensors, options, clock);
  std::move(links.begin(), links.end(), std::back_inserter(probe.results));
  probe.took_s = clock.now_s() - start_s;
  summarise(probe);
  return probe;
}

std::vector<ProbeResult> probe_gpu_links(GpuDevices& devices, const std::vector<GpuFacts>& gpus,
                                         GpuSensors& sensors, const GpuProbeOptions& options,
                                         const Clock& clock) {
  return LinkProbe(devices, gpus, sensors, options, clock).all();
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
    const bool is_derived = result.samples_s.empty();  // from a point that counts already
    if (is_derived || result.conditions.throttled() == 0) continue;
    ++throttled;
    if (worst == nullptr || result.conditions.throttled() > worst->conditions.throttled()) worst = &result;
  }
  if (worst != nullptr) {
    warnings.push_back(
        std::to_string(throttled) + " measurements were taken while the GPU was throttled, most " +
        worst->name + " (" + worst->conditions.sentence() +
        "): jobs with the same load get these rates; a cooler or less limited card reaches more.");
  }
  if (const int noisy = count(probe.results, ProbeOutcome::noisy); noisy > 0) {
    warnings.push_back(
        std::to_string(noisy) + " of " + std::to_string(probe.results.size()) +
        " measurements missed the target spread: raise --budget, or look for other programs on the GPU.");
  }
  return warnings;
}

}  // namespace sextant::inline probes
