// The clocks of one process: CUPTI's and the monotonic one, read together from time to time, and the host's
// real time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "probes/trace/record/record.h"

namespace sextant::trace {

// Rejects implausible times of damaged files, so that differences of accepted ones never overflow.
[[nodiscard]] inline bool is_plausible(std::int64_t time) {
  constexpr std::int64_t kMaximum = std::int64_t{1} << 61;  // 73 years in nanoseconds
  return time > -kMaximum && time < kMaximum;
}

class ProcessClocks {
 public:
  // Records of RecordKind::clocks, in any order; an impossible one is ignored.
  void add(const Record& record);

  // Returns real minus monotonic time in ns, the median of the readings; nullopt without readings.
  [[nodiscard]] std::optional<std::int64_t> real_offset() const;
  // Returns the monotonic time of a CUPTI time: between readings by interpolation, beyond them from the nearest
  // one. Without a reading CUPTI's clock is taken as real time, as on Linux, with `real_offset`.
  [[nodiscard]] std::int64_t monotonic_of(std::uint64_t cupti, std::int64_t real_offset) const;
  void sort();  // call once before monotonic_of

 private:
  struct Reading {
    std::uint64_t cupti = 0;
    std::int64_t offset = 0;  // monotonic minus cupti
  };
  std::vector<Reading> readings_;
  std::vector<std::int64_t> real_offsets_;
};

}  // namespace sextant::trace
