#include "probes/report/fleet_record.h"

#include "core/json_value.h"

namespace sextant::inline probes {
namespace {

HostOutcome parse_host(const JsonView& view) {
  view.allow_only({"name", "region", "zone", "has_devices", "why_no_devices", "results", "warnings", "why_lost",
                   "refusals"});
  HostOutcome host;
  host.host.name = view.required("name").text();
  host.host.region = view.required("region").text();
  host.host.zone = view.required("zone").text();
  if (view.required("has_devices").flag()) {
    host.devices.emplace();
    if (const auto results = view.optional("results")) host.devices->results = parse_results(*results);
    if (const auto warnings = view.optional("warnings")) {
      for (const JsonView& warning : warnings->items()) host.devices->warnings.push_back(warning.any_text());
    }
  }
  if (const auto why = view.optional("why_no_devices")) host.why_no_devices = why->text();
  if (const auto why = view.optional("why_lost")) host.why_lost = why->text();
  if (const auto refusals = view.optional("refusals")) host.refusals = Refusals::parse(*refusals);
  return host;
}

Json host_to_json(const HostOutcome& host) {
  Json out = {{"name", host.host.name},
              {"region", host.host.region},
              {"zone", host.host.zone},
              {"has_devices", host.devices.has_value()}};
  if (!host.why_no_devices.empty()) out["why_no_devices"] = host.why_no_devices;
  if (!host.why_lost.empty()) out["why_lost"] = host.why_lost;
  if (host.refusals) out["refusals"] = host.refusals->to_json();
  if (host.devices && !host.devices->results.empty()) out["results"] = to_json(host.devices->results);
  if (host.devices && !host.devices->warnings.empty()) out["warnings"] = host.devices->warnings;
  return out;
}

}  // namespace

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
  for (const HostOutcome& host : hosts) out["hosts"].push_back(host_to_json(host));
  for (const PairMeasurement& pair : pairs) out["pairs"].push_back(pair.to_json());
  for (const FailedPair& pair : failed_pairs) {
    out["failed_pairs"].push_back({{"from", pair.from}, {"to", pair.to}, {"why", pair.why}});
  }
  out["is_interrupted"] = is_interrupted;
  return out;
}

}  // namespace sextant::inline probes
