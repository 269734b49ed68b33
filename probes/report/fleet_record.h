// The findings of a probe of many hosts: what was measured, and the hosts and pairs that failed, with reasons. Its
// document has every measurement with its statistics; the cluster document is made from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/network/doorkeeper.h"
#include "probes/network/pair_measurement.h"
#include "probes/report/device_report.h"
#include "probes/schedule/host_list.h"
#include "sextant/document.h"

namespace sextant::inline probes {

// In a document, a host has its place, and its devices have no cluster.
struct HostOutcome {
  Host host;
  std::optional<DeviceReport> devices;  // in the results, `rank` is the device
  std::string why_no_devices;           // if it has none and there is a reason
  std::string why_lost;                 // empty: it responded to the end
  std::optional<Refusals> refusals;     // refused connections to it; unknown for a host that was lost

  friend bool operator==(const HostOutcome&, const HostOutcome&) = default;
};

struct FailedPair {
  std::string from, to;
  std::string why;

  friend bool operator==(const FailedPair&, const FailedPair&) = default;
};

struct FleetRecord {
  static constexpr std::string_view kKind = "fleet";
  static constexpr SchemaVersion kVersion{1, 1};  // 1.1: rounds of pairs

  std::vector<HostOutcome> hosts;      // in the order of the list
  std::vector<PairMeasurement> pairs;  // including those of an earlier, resumed probe
  std::vector<FailedPair> failed_pairs;
  bool is_interrupted = false;

  friend bool operator==(const FleetRecord&, const FleetRecord&) = default;
  static FleetRecord parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::inline probes
