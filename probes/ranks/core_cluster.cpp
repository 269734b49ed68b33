#include "probes/ranks/core_cluster.h"

#include <string>

#include "core/units.h"

namespace sextant::inline probes {
namespace {

// Appends the fit of each pair to its measurements.
void append_link_fits(const std::vector<LinkMeasurement>& links, std::vector<ProbeResult>& results) {
  for (const LinkMeasurement& link : links) {
    if (!link.fit) continue;
    const auto add = [&](const char* name, const char* unit, double value, double spread_fraction) {
      ProbeResult result = waived_result(name, unit, link.sentence);
      result.outcome = ProbeOutcome::measured;
      result.rank = link.pair.low;
      result.peer = link.pair.high;
      result.value = value;
      result.spread_fraction = spread_fraction;
      results.push_back(std::move(result));
    };
    add("link/latency", "s", link.fit->latency_s, link.fit->latency_spread_fraction);
    add("link/bandwidth", "bytes/s", link.fit->bytes_per_s, link.fit->bytes_per_s_spread_fraction);
  }
}

void warn_of_results(const std::vector<ProbeResult>& results, std::vector<std::string>& warnings) {
  const ProbeResult* noisiest = nullptr;
  int noisy = 0;
  for (const ProbeResult& result : results) {
    if (result.outcome == ProbeOutcome::failed) {
      warnings.push_back(result.name + " of rank " + std::to_string(result.rank) +
                         " failed: " + result.sentence + ".");
    }
    if (result.outcome != ProbeOutcome::noisy) continue;
    ++noisy;
    if (noisiest == nullptr || result.spread_fraction > noisiest->spread_fraction) noisiest = &result;
  }
  if (noisiest == nullptr) return;
  warnings.push_back(std::to_string(noisy) + " of " + std::to_string(results.size()) +
                     " measurements missed the target spread, worst " + noisiest->name + " of rank " +
                     std::to_string(noisiest->rank) + " (" + format_percent(noisiest->spread_fraction) +
                     "): their values are medians of the samples taken in the time limit. Raise --budget, or "
                     "look for other programs.");
}

}  // namespace

ClusterProbe assemble_core_cluster(const Findings& found, const ProbeOptions& options) {
  ClusterProbe probe = probe_without_cluster(found);
  for (const RankReport& report : found.reports) append(probe.warnings, report.warnings);
  if (found.reports.size() == 1 && found.is_whole()) {
    probe.results.push_back(waived_links());
  } else {
    append_link_fits(links_of(found.reports), probe.results);
  }
  warn_of_lost(probe);
  append(
      probe.warnings, set_cluster(probe, [&] {
        return assemble_cluster({options.name, options.hosts, !found.is_whole()}, found.reports_without_lost());
      }));
  warn_of_results(probe.results, probe.warnings);
  return probe;
}

}  // namespace sextant::inline probes
