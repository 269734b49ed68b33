// What tests of planners take for the model and for equal.
#pragma once

#include "sextant/coefficients.h"

namespace sextant::testing {

inline const Coefficients kNeutral;        // HetRL's Appendix B as it stands
inline constexpr double kRounding = 1e-9;  // relative: sums in another order

}  // namespace sextant::testing
