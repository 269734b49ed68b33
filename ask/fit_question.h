// A question for coefficients: which runs to fit, and how to cross-validate the fit.
#pragma once

#include <string>
#include <vector>

#include "sextant/coefficients.h"
#include "sextant/run.h"

namespace sextant::inline ask {

struct FitQuestion {
  std::string leave_out = "auto";  // one of cross_validation_names()
  int max_folds = 10;
  unsigned seed = 1;  // for the choice of groups
};

// The groups of cross-validation: "auto" chooses by the runs, "none" saves the time, the others say what each fold
// leaves out.
[[nodiscard]] std::vector<std::string> cross_validation_names();

// Fits the selected runs, starting from `start`, and cross-validates the fit. Throws Error(bad_input).
[[nodiscard]] Coefficients fit_as_asked(const FitQuestion& question, const Runs& runs,
                                        const std::vector<std::string>& selected, const Coefficients& start);

}  // namespace sextant::inline ask
