// Compares one number before and after: whether it became worse or better by more than matters and noise.
//
// With r the larger of after / before and before / after, and s half the 95 % interval of a measured median,
// relative to it (Quantity::spread_fraction), the number has changed when
//   r > 1 + threshold_fraction   and   ln r > q * hypot(s_before, s_after) / 1.96,
// with q the normal distribution's deviations that chance exceeds once in count / false_alarm_fraction numbers,
// so that among `count` numbers that did not change hardly ever even one is reported: 3.3 for 10 numbers at
// 0.01, 3.9 for 100. If a side is not measured or states no spread the threshold alone decides, and the note
// says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/quantity.h"

namespace sextant::inline probes {

// The verdicts, in the order in which people want to see them.
enum class ChangeVerdict { worse, changed, better, missing, same };
inline constexpr int kChangeVerdictCount = 5;

// A comparison. An absent end is in one document only.
struct ValuePair {
  std::string where;  // "device type h100", "node virginia-0", "link a/0 - b/1"
  std::string what;   // "bf16 GEMM rate"
  std::string unit;   // "flop/s", "bytes/s", "bytes", "s" (less is better) or "devices" (any difference counts)
  std::optional<Quantity> before;
  std::optional<Quantity> after;
};

struct ValueChange {
  std::string where;
  std::string what;
  std::string unit;              // empty: no number, the note says what changed
  std::optional<double> before;  // SI
  std::optional<double> after;
  std::optional<double> noise_fraction;  // relative change that noise can make; absent: unknown
  ChangeVerdict verdict = ChangeVerdict::same;
  std::string note;  // may be empty

  friend bool operator==(const ValueChange&, const ValueChange&) = default;
  // Returns ln r; infinite if one side is 0 and the other is not, 0 if there is nothing to compare.
  [[nodiscard]] double size() const;
};

struct ChangeRule {
  double threshold_fraction = 0.05;    // relative change that matters
  double false_alarm_fraction = 0.01;  // chance that any unchanged number is reported as changed
};

// Returns changes in the order of the verdicts, the largest first.
[[nodiscard]] std::vector<ValueChange> judge_changes(const std::vector<ValuePair>& comparisons,
                                                     const ChangeRule& rule);

// True if the change is counted as "same" only because noise could make it: it is larger than the threshold, and nobody can
// tell whether something changed.
[[nodiscard]] bool is_hidden_by_noise(const ValueChange& change, double threshold_fraction);

void sort_worst_first(std::vector<ValueChange>& changes);

}  // namespace sextant::inline probes
