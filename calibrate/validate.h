// Predicts every run and compares the predictions with the measurements.
#pragma once

#include "calibrate/accuracy.h"
#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant {

// Runs named in the coefficients' fit count as in sample, all others as held out.
[[nodiscard]] Accuracy validate(const Runs& runs, const Coefficients& coefficients);

}  // namespace sextant
