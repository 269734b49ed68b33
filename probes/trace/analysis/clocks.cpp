#include "probes/trace/analysis/clocks.h"

#include <algorithm>

namespace sextant::trace {

void ProcessClocks::add(const Record& record) {
  // Differences of unsigned times, as what they are modulo 2^64.
  const auto real = static_cast<std::int64_t>(record.end - record.start);
  const auto device = static_cast<std::int64_t>(record.start - record.value);
  if (!is_plausible(real)) return;
  real_offsets_.push_back(real);
  if (record.value != 0 && is_plausible(device)) readings_.push_back({record.value, device});
}

void ProcessClocks::sort() {
  std::sort(readings_.begin(), readings_.end(),
            [](const Reading& a, const Reading& b) { return a.cupti < b.cupti; });
}

std::optional<std::int64_t> ProcessClocks::real_offset() const {
  if (real_offsets_.empty()) return std::nullopt;
  std::vector<std::int64_t> sorted = real_offsets_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::int64_t ProcessClocks::monotonic_of(std::uint64_t cupti, std::int64_t real_offset) const {
  const auto moved = [cupti](std::int64_t offset) {
    return static_cast<std::int64_t>(cupti + static_cast<std::uint64_t>(offset));
  };
  if (readings_.empty()) return static_cast<std::int64_t>(cupti - static_cast<std::uint64_t>(real_offset));
  const auto after = std::lower_bound(readings_.begin(), readings_.end(), cupti,
                                      [](const Reading& r, std::uint64_t time) { return r.cupti < time; });
  if (after == readings_.begin()) return moved(after->offset);
  if (after == readings_.end()) return moved(readings_.back().offset);
  const Reading& low = *(after - 1);
  const double share = static_cast<double>(cupti - low.cupti) / static_cast<double>(after->cupti - low.cupti);
  const double step = share * (static_cast<double>(after->offset) - static_cast<double>(low.offset));
  return moved(low.offset + static_cast<std::int64_t>(step));
}

}  // namespace sextant::trace
