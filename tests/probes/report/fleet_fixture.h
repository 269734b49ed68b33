// Hosts and pairs with known measurements.
#pragma once

#include <string>

#include "core/json_value.h"
#include "probes/report/fleet_record.h"
#include "sextant/cluster.h"
#include "sextant/document.h"

namespace sextant::test {

inline constexpr double kRoundTrip_s = 1e-3, kRate = 1e9, kFlop_per_s = 1e12;

// A host that is `speed` times as fast as the others.
inline Cluster one_host(double speed, const std::string& type = "gpu") {
  DeviceType device;
  device.memory_bytes = measured(8e10, 0);
  device.memory_bytes_per_s = measured(2e12 * speed, 0.01);
  device.flop_per_s[Precision::bf16] = measured(kFlop_per_s * speed, 0.01);
  Node node;
  node.name = "whatever";
  node.region = node.zone = "local";
  node.device_type = type;
  node.devices = 2;
  return Cluster("local", {{type, device}}, {node},
                 {{LinkLevel::within_node, {measured(1e-6, 0.01), measured(1e11 * speed, 0.01)}}});
}

// A host in region r, zone z.
inline HostOutcome host(const std::string& name, double speed = 1) {
  HostOutcome outcome;
  outcome.host = parse_host_list(name + " region=r zone=z\n", "test").front();
  outcome.devices.emplace();
  outcome.devices->cluster =
      parse_json(format_document(Document<Cluster>{current_provenance(), one_host(speed)}));
  return outcome;
}

// A probe's result for one device.
inline ProbeResult result(const std::string& name, const std::string& unit, double value, int device) {
  ProbeResult found;
  found.name = name;
  found.outcome = ProbeOutcome::measured;
  found.sentence = "converged";
  found.value = value;
  found.unit = unit;
  found.spread_fraction = 0.01;
  found.samples_s = {1, 1, 1};
  found.rank = device;
  return found;
}

inline PairMeasurement pair(const std::string& from, const std::string& to, double speed = 1) {
  PairMeasurement measured = load_document<FleetRecord>(SEXTANT_TEST_DATA "/fleet.json").content.pairs.front();
  measured.from = from;
  measured.to = to;
  measured.round_trips.median_s = kRoundTrip_s;
  for (StreamRate& rate : measured.rates) {
    rate.bytes_per_s = speed * kRate * rate.streams;
    rate.slowest_bytes_per_s = 0.9 * speed * kRate;
  }
  return measured;
}

}  // namespace sextant::test
