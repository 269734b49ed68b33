// The result of one probe of one device or link: the same form for devices, memory and links.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "probes/harness/device_conditions.h"
#include "probes/harness/sampling.h"
#include "sextant/json.h"

namespace sextant::inline probes {

enum class ProbeOutcome {
  measured,  // the median reached the target precision
  noisy,     // there is a value, but less precise than the target
  waived,    // not measured; the sentence says why
  failed     // measured wrong data or could not finish
};

[[nodiscard]] std::string_view name_of(ProbeOutcome outcome);

// In a document: {"name": "memory/read", "outcome": "measured", "sentence": "...", "value": 1.1e10, "unit":
// "bytes/s", "rank": 0, ...}.
struct ProbeResult {
  std::string name;  // "gemm/fp32/1024", "memory/read", "link/8": subject, then the point
  ProbeOutcome outcome = ProbeOutcome::waived;
  std::string sentence;        // how it ended, or why there is no value
  double value = 0;            // median, in `unit`; 0 when waived or failed
  std::string unit;            // "flop/s", "bytes/s", "bytes" or "s"
  double spread_fraction = 0;  // half the 95 % interval of the median / median
  double work = 0;             // FLOP or bytes per operation; 0 if neither applies
  int operations_per_sample = 1;
  int outliers = 0;
  double drift_fraction = 0;
  std::vector<double> samples_s;  // seconds per operation
  int rank = 0;                   // the rank that measured
  int peer = -1;                  // the other end of a link, else -1
  std::string group;              // the ranks of a collective: "node va-1"; empty: no collective
  int ranks = 0;                  // size of that group; 0: no collective
  std::string how;                // algorithm, clock and caches, if the probe states them
  DeviceConditions conditions;    // one state per sample, or none

  [[nodiscard]] bool has_value() const {
    return outcome == ProbeOutcome::measured || outcome == ProbeOutcome::noisy;
  }

  friend bool operator==(const ProbeResult&, const ProbeResult&) = default;
  static ProbeResult parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Makes a rate: `work` (in unit times seconds) divided by the median time.
[[nodiscard]] ProbeResult rate_result(std::string name, std::string unit, double work, Sampled sampled);
// Makes a time: half the operation's if `share` is 0.5 (a round trip).
[[nodiscard]] ProbeResult time_result(std::string name, double share, Sampled sampled);
[[nodiscard]] ProbeResult waived_result(std::string name, std::string unit, std::string reason);
// Keeps the samples but drops the value, which must not be used.
[[nodiscard]] ProbeResult failed_result(ProbeResult result, const std::string& reason);

// Returns the result of this name; nullptr if it is missing or has no value.
[[nodiscard]] const ProbeResult* find_value(const std::vector<ProbeResult>& results, const std::string& name);

[[nodiscard]] Json to_json(const std::vector<ProbeResult>& results);
[[nodiscard]] std::vector<ProbeResult> parse_results(const JsonView& view);

// Adds results, or warnings, at the end of `all`.
template <typename Item>
void append(std::vector<Item>& all, std::vector<Item> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace sextant::inline probes
