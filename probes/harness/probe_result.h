// What one probe of one thing found: the same form for devices, memory and links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probes/harness/device_conditions.h"
#include "probes/harness/sampling.h"
#include "sextant/json.h"

namespace sextant {

enum class ProbeOutcome {
  measured,  // the median is known as well as was asked
  noisy,     // there is a value, but less well known than asked
  waived,    // not measured, and the sentence says why
  failed     // measured wrong data or could not finish
};

[[nodiscard]] std::string_view name_of(ProbeOutcome outcome);

// In a document: {"name": "memory/read", "outcome": "measured", "sentence": "...", "value": 1.1e10,
// "unit": "bytes/s", "rank": 0, ...}.
struct ProbeResult {
  std::string name;  // "gemm/fp32/1024", "memory/read", "link/8": what, then the point
  ProbeOutcome outcome = ProbeOutcome::waived;
  std::string sentence;        // how it ended, or why there is no value
  double value = 0;            // median, in `unit`; 0 when waived or failed
  std::string unit;            // "flop/s", "bytes/s", "bytes" or "s"
  double spread_fraction = 0;  // half the 95 % interval of the median / median
  double work = 0;             // FLOP or bytes of one operation; 0 where neither is meant
  int operations_per_sample = 1;
  int outliers = 0;
  double drift_fraction = 0;
  std::vector<double> samples_s;  // seconds per operation
  int rank = 0;                   // who measured
  int peer = -1;                  // the other end of a link, else -1
  std::string group;              // of ranks that did a collective: "node va-1"; empty: no collective
  int ranks = 0;                  // of that group; 0: no collective
  std::string how;                // algorithm, clock and caches, where the probe says so
  DeviceConditions conditions;    // one state a sample, or none

  [[nodiscard]] bool has_value() const {
    return outcome == ProbeOutcome::measured || outcome == ProbeOutcome::noisy;
  }

  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
  static ProbeResult parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// A rate: `work` (in unit times seconds) by the median time.
[[nodiscard]] ProbeResult rate_result(std::string name, std::string unit, double work, Sampled sampled);
// A time: half the operation's when `share` is 0.5 (a round trip).
[[nodiscard]] ProbeResult time_result(std::string name, double share, Sampled sampled);
[[nodiscard]] ProbeResult waived_result(std::string name, std::string unit, std::string reason);
// Keeps the samples but not the value, which must not be used.
[[nodiscard]] ProbeResult failed_result(ProbeResult result, const std::string& reason);

[[nodiscard]] Json to_json(const std::vector<ProbeResult>& results);

// Adds the results at the end of `all`.
void append(std::vector<ProbeResult>& all, std::vector<ProbeResult> more);

}  // namespace sextant
