// What the probe of one host's devices found: its cluster document, every result with its samples, and what it
// warned of (throttling, load, a virtual machine, one slow device among several).
#pragma once

#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/harness/probe_result.h"

namespace sextant {

struct DeviceReport {                // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  Json cluster;                      // a cluster document, of this host alone
  std::vector<ProbeResult> results;  // `rank` is the device's number
  std::vector<std::string> warnings;

  friend bool operator==(const DeviceReport&, const DeviceReport&) = default;
  static DeviceReport parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Of what a probe printed (the cluster) and wrote (results and warnings); empty `samples` where it wrote none.
// Samples are left out, with a warning, when the whole would have more than `max_bytes` as text.
[[nodiscard]] DeviceReport read_device_report(const std::string& cluster, const std::string& samples,
                                              std::size_t max_bytes);

}  // namespace sextant
