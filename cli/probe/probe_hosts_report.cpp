#include "cli/probe/probe_hosts_report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "cli/probe/verdict_line.h"
#include "cli/shared/command.h"
#include "cli/shared/table.h"
#include "core/units.h"
#include "probes/fleet/fleet_cluster.h"
#include "probes/fleet/fleet_outliers.h"
#include "probes/fleet/fleet_record.h"

namespace sextant::cli {
namespace {

namespace fs = std::filesystem;

std::string describe(const FleetOutcome& outcome) {
  Table table(
      {"pair", "round trip", "p99", "one stream", "back", "several", "back", "loss", "jitter", "clock"});
  const auto rate = [](const StreamRate* stream) {
    return stream == nullptr ? "-" : format_bytes_per_s(stream->bytes_per_s);
  };
  for (const PairMeasurement& pair : outcome.pairs) {
    const int streams = pair.rates.back().streams;
    const StreamRate* several = streams > 1 ? pair.rate(Direction::there, streams) : nullptr;
    const StreamRate* several_back = streams > 1 ? pair.rate(Direction::back, streams) : nullptr;
    const auto& loss = pair.datagrams;
    table.add({pair.from + " " + pair.to, format_seconds(pair.round_trips.median_s),
               pair.round_trips.p99_s ? format_seconds(*pair.round_trips.p99_s) : "-",
               rate(pair.rate(Direction::there, 1)), rate(pair.rate(Direction::back, 1)), rate(several),
               rate(several_back),
               loss ? format_percent(1 - static_cast<double>(loss->returned) / loss->sent) : "-",
               loss ? format_seconds(std::max(loss->jitter_there_s, loss->jitter_back_s)) : "-",
               format_seconds(pair.round_trips.clock_offset_s)});
  }
  return table.text();
}

void warn(const std::string& what) { std::fprintf(stderr, "warning: %s\n", what.c_str()); }

// "a", "a, b and 62 more"
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNamed = 4;
  std::string text;
  const std::size_t shown = std::min(names.size(), kMaxNamed);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

// Prints the warnings of the device probes: once for all hosts with the same text.
void warn_of_devices(const FleetOutcome& outcome) {
  std::vector<std::string> warnings;  // in the order they came
  std::map<std::string, std::vector<std::string>> hosts;
  for (const HostOutcome& host : outcome.hosts) {
    if (!host.devices) continue;
    for (const std::string& warning : host.devices->warnings) {
      auto& who = hosts[warning];
      if (who.empty()) warnings.push_back(warning);
      if (who.empty() || who.back() != host.host.name) who.push_back(host.host.name);
    }
  }
  for (const std::string& warning : warnings) warn(some_of(hosts[warning]) + ": " + warning);
}

// Several streams that could not be measured; the pair itself was.
void warn_of_parts(const FleetOutcome& outcome) {
  for (const PairMeasurement& pair : outcome.pairs) {
    if (pair.why_fewer_rates.empty()) continue;
    warn(pair.from + " and " + pair.to + ": several streams were not measured: " + pair.why_fewer_rates);
  }
}

void warn_of_failures(const FleetOutcome& outcome) {
  std::uint64_t strangers = 0;
  std::set<std::string> lost;
  for (const HostOutcome& host : outcome.hosts) {
    if (!host.why_lost.empty()) {
      warn(host.host.name + " " + host.why_lost);
      lost.insert(host.host.name);
    }
    if (!host.why_no_devices.empty() && host.why_no_devices != host.why_lost) {
      warn(host.host.name + ": devices were not measured: " + host.why_no_devices);
    }
    strangers += host.refusals.value_or(Refusals{}).total();
  }
  std::size_t of_lost = 0;
  for (const FailedPair& pair : outcome.failed_pairs) {
    if (lost.contains(pair.from) || lost.contains(pair.to)) {
      ++of_lost;
      continue;
    }
    warn(pair.from + " and " + pair.to + " were not measured: " + pair.why);
  }
  if (of_lost > 0) warn(std::to_string(of_lost) + " pairs of the hosts above were not measured");
  if (strangers > 0) warn(std::to_string(strangers) + " connections from other programs were refused");
}

bool is_whole(const ProbeHostsOptions& options, const FleetOutcome& outcome, const FleetCluster& fleet) {
  const bool lacks_cluster = options.fleet.probe_devices && !fleet.cluster;
  return !lacks_cluster && !outcome.is_interrupted && outcome.failed_pairs.empty() &&
         std::all_of(outcome.hosts.begin(), outcome.hosts.end(), [](const HostOutcome& host) {
           return host.why_lost.empty() && host.why_no_devices.empty();
         });
}

}  // namespace

int report_on_hosts(const ProbeHostsOptions& options, const FleetOutcome& outcome) {
  if (!options.samples.empty()) save_document(options.samples, FleetRecord::of(outcome));
  const FleetCluster fleet = assemble_fleet_cluster(options.name, outcome, options.sockets);
  if (fleet.cluster && !options.out.empty()) save_document(options.out, *fleet.cluster);
  if (!options.json) {
    std::fputs(describe(outcome).c_str(), stdout);
  } else if (fleet.cluster) {
    print_document(*fleet.cluster);
  } else {  // what there is
    print_document(FleetRecord::of(outcome));
  }
  warn_of_failures(outcome);
  warn_of_parts(outcome);
  warn_of_devices(outcome);
  for (const std::string& odd : describe_oddities(outcome)) warn(odd);
  if (options.fleet.probe_devices) {
    for (const std::string& warning : fleet.warnings) warn(warning);
    if (!fleet.cluster) warn("no cluster document: " + fleet.failure_reason);
  }
  if (!options.samples.empty()) say_wrote(options.samples);
  if (fleet.cluster && !options.out.empty()) say_wrote(options.out);
  if (fleet.cluster && !options.json) print_verdict(*fleet.cluster);
  if (is_whole(options, outcome, fleet)) {
    fs::remove(options.journal);
    return kDone;
  }
  std::fprintf(stderr, "%s; finished measurements are in %s, and --resume measures the rest\n",
               outcome.is_interrupted ? "interrupted" : "some measurements are missing",
               options.journal.c_str());
  return kMachineFailed;
}

}  // namespace sextant::cli
