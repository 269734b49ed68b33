// A clock that only the test moves.
#pragma once

#include "probes/harness/clock.h"

namespace sextant {

class FakeClock final : public Clock {
 public:
  [[nodiscard]] double now_s() const override { return now_s_; }
  void advance(double seconds) { now_s_ += seconds; }

 private:
  double now_s_ = 100;
};

}  // namespace sextant
