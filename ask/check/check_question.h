// A question whether measured runs are as fast as they should be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ask/check/verdict.h"
#include "sextant/run.h"

namespace sextant::inline ask {

struct CheckQuestion {
  std::string coefficients;  // a source; empty: the shipped ones; "none": all neutral
  std::string run;           // only the run of this name; empty: all
};

struct CheckedRun {
  const Run& run;
  RunVerdict verdict;
  std::vector<std::string> notes;  // on the coefficients
};

// Calls `take` for each run of the question, in order. Throws Error(bad_input) if there is none.
void check_runs(const CheckQuestion& question, const Runs& runs,
                const std::function<void(const CheckedRun&)>& take);

}  // namespace sextant::inline ask
