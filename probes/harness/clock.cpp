#include "probes/harness/clock.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace sextant::inline probes {
namespace {

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace

const Clock& steady_clock() {
  static const SteadyClock clock;
  return clock;
}

double measure_resolution_s(const Clock& clock, int steps) {
  double resolution_s = std::numeric_limits<double>::infinity();
  double last_s = clock.now_s();
  for (int step = 0; step < steps;) {
    const double now_s = clock.now_s();
    if (now_s <= last_s) continue;
    resolution_s = std::min(resolution_s, now_s - last_s);
    last_s = now_s;
    ++step;
  }
  return resolution_s;
}

}  // namespace sextant::inline probes
