// The results of a probe of many hosts as a document: every measurement with its statistics, and the hosts that
// failed, with reasons. The cluster document is made from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probes/fleet/fleet_probe.h"
#include "sextant/document.h"

namespace sextant {

struct FleetRecord {
  static constexpr std::string_view kKind = "fleet";
  static constexpr SchemaVersion kVersion{1, 1};  // 1.1: rounds of pairs

  struct HostEntry {
    std::string name, region, zone;
    bool has_devices = false;
    std::string why_no_devices;         // if it has none and there is a reason
    std::vector<ProbeResult> results;   // its devices, with their samples; `rank` is the device
    std::vector<std::string> warnings;  // from the probe of its devices
    std::string why_lost;               // empty: it responded to the end
    std::optional<Refusals> refusals;   // refused connections to it, by reason;
                                        // unknown for a host that was lost

    friend bool operator==(const HostEntry&, const HostEntry&) = default;
  };

  std::vector<HostEntry> hosts;
  std::vector<PairMeasurement> pairs;
  std::vector<FailedPair> failed_pairs;
  bool is_interrupted = false;

  [[nodiscard]] static FleetRecord of(const FleetOutcome& outcome);

  friend bool operator==(const FleetRecord&, const FleetRecord&) = default;
  static FleetRecord parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
