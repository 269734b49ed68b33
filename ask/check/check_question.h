// A question whether measured runs are as fast as they should be.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ask/check/verdict.h"
#include "sextant/run.h"

namespace sextant {

struct CheckQuestion {
  std::vector<std::string> sources;  // a runs document (document_source.h), or logs
  std::string format;                // of logs; empty: a runs document
  std::string coefficients;          // a source; empty: the shipped ones; "none": all neutral
  std::string run;                   // only the run of this name; empty: all
};

struct RunsToCheck {
  Runs runs;
  std::vector<std::string> left_out;  // a sentence for each record of the logs without a run
};

// Throws Error(bad_input).
[[nodiscard]] RunsToCheck runs_to_check(const CheckQuestion& question);

struct CheckedRun {
  const Run& run;
  RunVerdict verdict;
  std::vector<std::string> notes;  // on the coefficients
};

// Calls `take` for each run of the question, in order. Throws Error(bad_input) if there is none.
void check_runs(const CheckQuestion& question, const Runs& runs,
                const std::function<void(const CheckedRun&)>& take);

}  // namespace sextant
