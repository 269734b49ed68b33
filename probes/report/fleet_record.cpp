#include "probes/report/fleet_record.h"

#include "core/json_value.h"

namespace sextant {
namespace {

FleetRecord::HostEntry parse_host(const JsonView& view) {
  view.allow_only({"name", "region", "zone", "has_devices", "why_no_devices", "results", "warnings", "why_lost",
                   "refusals"});
  FleetRecord::HostEntry host;
  host.name = view.required("name").text();
  host.region = view.required("region").text();
  host.zone = view.required("zone").text();
  host.has_devices = view.required("has_devices").flag();
  if (const auto why = view.optional("why_no_devices")) host.why_no_devices = why->text();
  if (const auto why = view.optional("why_lost")) host.why_lost = why->text();
  if (const auto refusals = view.optional("refusals")) host.refusals = parse_refusals(*refusals);
  if (const auto results = view.optional("results")) {
    for (const JsonView& result : results->items()) host.results.push_back(ProbeResult::parse(result));
  }
  if (const auto warnings = view.optional("warnings")) {
    for (const JsonView& warning : warnings->items()) host.warnings.push_back(warning.any_text());
  }
  return host;
}

Json host_to_json(const FleetRecord::HostEntry& host) {
  Json out = {
      {"name", host.name}, {"region", host.region}, {"zone", host.zone}, {"has_devices", host.has_devices}};
  if (!host.why_no_devices.empty()) out["why_no_devices"] = host.why_no_devices;
  if (!host.why_lost.empty()) out["why_lost"] = host.why_lost;
  if (host.refusals) out["refusals"] = to_json(*host.refusals);
  if (!host.results.empty()) out["results"] = to_json(host.results);
  if (!host.warnings.empty()) out["warnings"] = host.warnings;
  return out;
}

}  // namespace

FleetRecord FleetRecord::of(const FleetOutcome& outcome) {
  FleetRecord record;
  for (const HostOutcome& host : outcome.hosts) {
    const DeviceReport& devices = host.devices ? *host.devices : DeviceReport{};
    record.hosts.push_back({host.host.name, host.host.region, host.host.zone, host.devices.has_value(),
                            host.why_no_devices, devices.results, devices.warnings, host.why_lost,
                            host.refusals});
  }
  record.pairs = outcome.pairs;
  record.failed_pairs = outcome.failed_pairs;
  record.is_interrupted = outcome.is_interrupted;
  return record;
}

FleetRecord FleetRecord::parse(const JsonView& view) {
  view.allow_only({"hosts", "pairs", "failed_pairs", "is_interrupted"});
  FleetRecord record;
  for (const JsonView& host : view.required("hosts").items()) record.hosts.push_back(parse_host(host));
  for (const JsonView& pair : view.required("pairs").items())
    record.pairs.push_back(PairMeasurement::parse(pair));
  for (const JsonView& pair : view.required("failed_pairs").items()) {
    pair.allow_only({"from", "to", "why"});
    record.failed_pairs.push_back(
        {pair.required("from").text(), pair.required("to").text(), pair.required("why").any_text()});
  }
  record.is_interrupted = view.required("is_interrupted").flag();
  return record;
}

Json FleetRecord::to_json() const {
  Json out = {{"hosts", Json::array()}, {"pairs", Json::array()}, {"failed_pairs", Json::array()}};
  for (const HostEntry& host : hosts) out["hosts"].push_back(host_to_json(host));
  for (const PairMeasurement& pair : pairs) out["pairs"].push_back(pair.to_json());
  for (const FailedPair& pair : failed_pairs) {
    out["failed_pairs"].push_back({{"from", pair.from}, {"to", pair.to}, {"why", pair.why}});
  }
  out["is_interrupted"] = is_interrupted;
  return out;
}

}  // namespace sextant
