// The clocks of one process: CUPTI's and the monotonic one, read together now and then, and the host's real
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "probes/trace/record/record.h"

namespace sextant::trace {

// Times that a damaged file may hold are refused, so that differences of those that pass never overflow.
[[nodiscard]] inline bool is_plausible(std::int64_t time) {
  constexpr std::int64_t kMaximum = std::int64_t{1} << 61;  // 73 years in nanoseconds
  return time > -kMaximum && time < kMaximum;
}

class ProcessClocks {
 public:
  // Records of RecordKind::clocks, in any order; one that no clock can have said is passed over.
  void add(const Record& record);

  // Real minus monotonic time, ns, the median of the readings; nothing without any.
  [[nodiscard]] std::optional<std::int64_t> real_offset() const;
  // The monotonic time of a time of CUPTI's: between readings by interpolation, beyond them by the nearest one.
  // Without a reading of CUPTI's clock that is taken as real time, which it is on Linux, with `real_offset`.
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
