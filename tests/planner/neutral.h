// The neutral coefficients and the rounding tolerance of planner tests.
#pragma once

#include "sextant/coefficients.h"

namespace sextant::test {

inline const Coefficients kNeutral;        // HetRL's Appendix B as it stands
inline constexpr double kRounding = 1e-9;  // relative: sums in another order

}  // namespace sextant::test
