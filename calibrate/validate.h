// Predicts every run and holds the predictions against the measurements.
#pragma once

#include "calibrate/accuracy.h"
#include "documents/coefficients.h"
#include "documents/run.h"

namespace sextant {

// Runs named in the coefficients' fit count as in sample, all others as held out.
[[nodiscard]] Accuracy validate(const Runs& runs, const Coefficients& coefficients);

}  // namespace sextant
