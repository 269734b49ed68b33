#include "probes/cuda/gpu_probe.h"

#include <algorithm>
#include <functional>

#include "core/error.h"

namespace sextant {
namespace {

constexpr double kLeastSample_s = 1e-3;
constexpr double kTimesTheCache = 8;
constexpr double kLeastBytes = 512.0 * 1024 * 1024;
constexpr int kGemmSizes[] = {2048, 4096, 8192};

using Prepare = std::function<GpuOperationOrReason()>;

ProbeResult measure(const std::string& name, const std::string& unit, const Prepare& prepare,
                    const SamplingOptions& sampling, const Clock& clock) {
  try {
    const GpuOperationOrReason prepared = prepare();
    if (!prepared.operation) return waived_result(name, unit, prepared.reason);
    GpuOperation& operation = *prepared.operation;
    const TimedBatch batch = [&](int repeats) { return operation.run_s(repeats); };
    ProbeResult result = rate_result(name, unit, operation.work(), take_samples(sampling, batch, clock));
    if (operation.is_right()) return result;
    return failed_result(std::move(result), "the data was wrong after the measurement");
  } catch (const Error& error) {
    // One bad device or size must not hide the others.
    return failed_result(waived_result(name, unit, "failed"), error.what());
  }
}

std::vector<ProbeResult> measure_gpu(GpuDevices& devices, const GpuFacts& gpu, const SamplingOptions& sampling,
                                     const Clock& clock) {
  std::vector<ProbeResult> results;
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
    for (const int size : kGemmSizes) {
      const std::string name = "gemm/" + std::string(name_of(precision)) + "/" + std::to_string(size);
      results.push_back(measure(
          name, "flop/s", [&] { return devices.square_gemm(gpu.index, precision, size); }, sampling, clock));
    }
  }
  const double wanted_bytes = std::max(kLeastBytes, kTimesTheCache * gpu.last_level_cache_bytes);
  const auto bytes = static_cast<std::size_t>(std::min(wanted_bytes, gpu.free_memory_bytes / 4));
  results.push_back(measure(
      "memory/copy", "bytes/s", [&] { return devices.copy(gpu.index, bytes); }, sampling, clock));
  results.push_back(measure(
      "memory/read", "bytes/s", [&] { return devices.read(gpu.index, bytes); }, sampling, clock));
  for (ProbeResult& result : results) result.rank = gpu.index;
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
  probe.sentence = std::to_string(probe.devices.size()) + " GPU(s), points: " + std::to_string(measured) +
                   " measured, " + std::to_string(noisy) + " noisy, " + std::to_string(waived) + " waived, " +
                   std::to_string(failed) + " failed";
  if (failed > 0) {
    probe.outcome = ProbeOutcome::failed;
  } else if (noisy > 0) {
    probe.outcome = ProbeOutcome::noisy;
  } else {
    probe.outcome = measured > 0 ? ProbeOutcome::measured : ProbeOutcome::waived;
  }
}

}  // namespace

GpuProbe probe_gpus(GpuDevices& devices, const GpuProbeOptions& options, const Clock& clock) {
  GpuProbe probe;
  probe.versions = devices.versions();
  probe.sentence = devices.absence();
  if (!probe.sentence.empty()) return probe;
  SamplingOptions sampling = sampling_options(options.budget_s_per_point, options.target_spread_fraction);
  sampling.least_sample_s = kLeastSample_s;
  probe.devices = devices.list();
  for (const GpuFacts& gpu : probe.devices) {
    const auto results = measure_gpu(devices, gpu, sampling, clock);
    probe.results.insert(probe.results.end(), results.begin(), results.end());
  }
  summarise(probe);
  return probe;
}

GpuProbe probe_gpus(const GpuProbeOptions& options) { return probe_gpus(*make_gpu_devices(), options); }

}  // namespace sextant
