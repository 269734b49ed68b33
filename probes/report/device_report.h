// The results of a probe of one host's devices: its cluster document, every result with its samples, and its
// warnings (throttling, load, a virtual machine, one slow device among several).
#pragma once

#include <string>
#include <vector>

#include "core/json_value.h"
#include "probes/harness/probe_result.h"

namespace sextant::inline probes {

struct DeviceReport {                // NOLINT(bugprone-exception-escape): Json checks itself when it moves
  Json cluster;                      // a cluster document for this host alone
  std::vector<ProbeResult> results;  // `rank` is the device's number
  std::vector<std::string> warnings;

  friend bool operator==(const DeviceReport&, const DeviceReport&) = default;
  static DeviceReport parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Reads the output of a probe (the cluster) and its file (results and warnings; `samples` empty: no file).
// Samples are left out, with a warning, if the whole would exceed `max_bytes` as text.
[[nodiscard]] DeviceReport read_device_report(const std::string& cluster, const std::string& samples,
                                              std::size_t max_bytes);

}  // namespace sextant::inline probes
