#include "reports/sections/warnings.h"

#include "core/units.h"
#include "reports/charts/coefficient_charts.h"
#include "reports/content/names.h"

namespace sextant::inline reports {
namespace {

using Warnings = std::vector<Warning>;

void warn_error(Warnings& warnings, const char* what, const ErrorSummary& summary, double limit) {
  if (summary.count == 0 || summary.mape <= limit) return;
  warnings.push_back({std::string("The mean error of held-out ") + what + " times is " +
                      format_percent(summary.mape) + ", above " + format_percent(limit, 0) +
                      ": compare plans with care, and measure more runs like those with the largest errors."});
}

void warn_accuracy(Warnings& warnings, const ReportInput& input) {
  if (!input.accuracy) {
    if (input.prediction) {
      warnings.push_back(
          {"No runs were held out for this report, so the error of its predictions is not known."});
    }
    return;
  }
  const Accuracy& accuracy = input.accuracy->content;
  if (accuracy.held_out_tasks.count == 0) {
    warnings.push_back({"The accuracy document has no held-out runs: in-sample errors are too optimistic."});
  }
  warn_error(warnings, "task", accuracy.held_out_tasks, kTaskErrorLimit);
  warn_error(warnings, "iteration", accuracy.held_out_iterations, kIterationErrorLimit);
  if (accuracy.has_intervals && accuracy.interval_coverage < kCoverageLimit) {
    warnings.push_back(
        {"Only " + format_percent(accuracy.interval_coverage) +
         " of the held-out times lie inside their 90 % interval: the intervals are too narrow."});
  }
}

void warn_fit(Warnings& warnings, const ReportInput& input) {
  if (!input.coefficients) return;
  const Coefficients& coefficients = input.coefficients->content;
  if (coefficients.fit && !coefficients.fit->converged) {
    warnings.push_back({as_sentence("The fit did not converge: " + coefficients.fit->message)});
  }
  std::vector<std::string> at_bound;
  for (const Coefficient& coefficient : coefficients.values) {
    // Many bounds are the neutral value, and an effect may well be absent.
    if (coefficient.is_driven_to_bound() && coefficient.value != spec_of(coefficient.id).neutral) {
      at_bound.push_back(charts::label_of(coefficient));
    }
  }
  if (!at_bound.empty()) {
    warnings.push_back(
        {"These coefficients are at a bound of the fit: " + shown_list(at_bound) +
         ". The model is probably missing an effect there, or the runs do not separate it from another."});
  }
}

void warn_extrapolation(Warnings& warnings, const ReportInput& input) {
  if (!input.prediction) return;
  std::vector<std::string> far;
  for (const auto& [task, predicted] : input.prediction->content.tasks) {
    if (predicted.familiarity && predicted.familiarity->extrapolating()) far.push_back(shown_name(task));
  }
  if (!far.empty()) {
    warnings.push_back({"The prediction is extrapolating for " + shown_list(far) +
                        ": no calibrated run is similar. Measure a similar run before you trust it."});
  }
}

// "87.4 GiB of 79.2 GiB"
std::string need_of_capacity(double needed_bytes, double capacity_bytes) {
  return format_bytes(needed_bytes) + " of " + format_bytes(capacity_bytes);
}

void warn_memory(Warnings& warnings, const ReportInput& input) {
  if (!input.prediction) return;
  const Prediction& prediction = input.prediction->content;
  std::vector<DeviceId> full;
  const DeviceMemory* fullest = nullptr;
  for (const DeviceMemory& memory : prediction.memory) {
    if (memory.fits()) continue;
    full.push_back(memory.device);
    const auto excess = [](const DeviceMemory& each) { return each.needed_bytes() - each.capacity_bytes; };
    if (fullest == nullptr || excess(memory) > excess(*fullest)) fullest = &memory;
  }
  if (fullest != nullptr) {
    warnings.push_back({"The plan needs more memory than is available on " +
                        std::string(full.size() == 1 ? "device " : "devices ") + device_ranges(full) +
                        ": at most " + need_of_capacity(fullest->needed_bytes(), fullest->capacity_bytes) +
                        "."});
  }
  for (const HostMemory& memory : prediction.host_memory) {
    if (memory.fits()) continue;
    warnings.push_back({"The plan needs more memory than is available on host " + memory.node + ": " +
                        need_of_capacity(memory.needed_bytes, *memory.capacity_bytes) + "."});
  }
}

void warn_spread(Warnings& warnings, const ReportInput& input) {
  if (!input.runs) return;
  std::vector<std::string> noisy;
  for (const Run& run : input.runs->content.runs) {
    if (run.iteration.samples_s.size() > 1 && run.iteration.spread_fraction() > kSpreadLimit)
      noisy.push_back(run.name);
  }
  if (!noisy.empty()) {
    warnings.push_back({std::to_string(noisy.size()) + " of " +
                        std::to_string(input.runs->content.runs.size()) +
                        " runs have a spread of iteration times above ±" + format_percent(kSpreadLimit, 0) +
                        ": " + shown_list(noisy) + ". Other programs may have used the machine."});
  }
}

void warn_sources(Warnings& warnings, const ReportInput& input) {
  if (!input.cluster) return;
  std::vector<std::string> assumed;
  const auto look = [&](const Quantity& quantity, const std::string& name) {
    if (quantity.source == Source::assumed) assumed.push_back(name);
  };
  const Cluster& cluster = input.cluster->content;
  for (const auto& [name, type] : cluster.device_types()) {
    look(type.memory_bytes, "memory of " + name);
    look(type.memory_bytes_per_s, "memory rate of " + name);
    for (const auto& [precision, rate] : type.flop_per_s) {
      look(rate, std::string(name_of(precision)) + " rate of " + name);
    }
  }
  for (const auto& [level, rate] : cluster.levels()) {
    look(rate.latency_s, "latency " + shown_name(level));
    look(rate.bytes_per_s, "bandwidth " + shown_name(level));
  }
  if (!assumed.empty()) {
    warnings.push_back(
        {"These values are assumed, neither measured nor from a datasheet: " + shown_list(assumed) + "."});
  }
}

}  // namespace

std::vector<Warning> report_warnings(const ReportInput& input) {
  Warnings warnings;
  warn_accuracy(warnings, input);
  warn_extrapolation(warnings, input);
  warn_memory(warnings, input);
  warn_fit(warnings, input);
  warn_spread(warnings, input);
  warn_sources(warnings, input);
  return warnings;
}

}  // namespace sextant::inline reports
