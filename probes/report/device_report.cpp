#include "probes/report/device_report.h"

#include <algorithm>

namespace sextant::inline probes {
namespace {

void add_samples(DeviceReport& report, const JsonView& view) {
  report.results = parse_results(view.required("results"));
  for (const JsonView& warning : view.required("warnings").items()) {
    report.warnings.push_back(warning.any_text());
  }
}

}  // namespace

DeviceReport DeviceReport::parse(const JsonView& view) {
  view.allow_only({"cluster", "results", "warnings"});
  DeviceReport report;
  report.cluster = view.required("cluster").json();
  add_samples(report, view);
  return report;
}

Json DeviceReport::to_json() const {
  return {{"cluster", cluster}, {"results", sextant::to_json(results)}, {"warnings", warnings}};
}

DeviceReport read_device_report(const std::string& cluster, const std::string& samples, std::size_t max_bytes) {
  DeviceReport report;
  report.cluster = parse_json(cluster);
  if (samples.empty()) return report;
  const Json json = parse_json(samples);
  add_samples(report, JsonView(json));
  if (report.to_json().dump().size() <= max_bytes) return report;
  for (ProbeResult& result : report.results) {
    result.samples_s.clear();
    result.conditions = {};
  }
  report.warnings.emplace_back(
      "the samples of its devices are left out, because they are too many to be handed over: values, spreads "
      "and "
      "outcomes are there.");
  return report;
}

}  // namespace sextant::inline probes
