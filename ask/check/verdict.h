// Whether a measured run is as fast as it should be, what could explain the difference, and what would make it
// faster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ask/check/beyond_peak.h"
#include "ask/check/causes.h"
#include "calibrate/validate.h"
#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant::inline ask {

// A change that explains the measured times better than the run's own description.
struct LikelyCause {
  std::string name, kind;         // one size of a kind is shown
  double explained = 0;           // share of the squared deviations that disappears, up to 1
  int left_outside = 0;           // times that lie outside their intervals also with the change
  std::vector<JudgedTime> times;  // predicted with the change
};

struct Gain {
  std::string name;
  double seconds = 0;  // of the predicted iteration
};

struct RunVerdict {
  std::vector<JudgedTime> times;
  std::vector<BeyondPeak> impossible;  // times in which no GPU could do the work
  // At most three causes, ordered by the times that they leave outside, then by what they explain. There are none if no
  // time is outside, or if one is impossible: then the description is wrong.
  std::vector<LikelyCause> causes;
  std::vector<Gain> gains;  // largest first, at most three, of plans that fit in memory

  [[nodiscard]] bool is_normal() const;
};

// A time is outside if it lies outside its 90 % interval. Deviations are counted in standard deviations of the
// interval's logarithm. A cause must explain at least half of them.
[[nodiscard]] RunVerdict verdict_on(const Run& run, const Circumstances& of_run,
                                    const Coefficients& coefficients);

}  // namespace sextant::inline ask
