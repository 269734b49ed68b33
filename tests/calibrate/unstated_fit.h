// Fits of runs whose sources leave a quantity unstated, with three free coefficients.
#pragma once

#include <string>
#include <vector>

#include "calibrate/cross_validation.h"
#include "calibrate/fit_result.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {

inline const std::vector<CoefficientId> kFreeToMove{CoefficientId::inference_efficiency,
                                                    CoefficientId::training_efficiency,
                                                    CoefficientId::decode_bandwidth_efficiency};

// True for every second workflow of the synthetic runs, whose names end in a number.
inline bool is_odd(const std::string& workflow) {
  return std::stoi(workflow.substr(workflow.rfind('-') + 1)) % 2 == 1;
}
inline bool is_odd(const sextant::Run& run) { return is_odd(run.workflow); }

inline Runs without_unstated(Runs runs) {
  for (sextant::Run& run : runs.runs) run.unstated.clear();
  return runs;
}

inline std::vector<const PreparedRun*> pointers_to(const std::vector<PreparedRun>& prepared) {
  std::vector<const PreparedRun*> pointers;
  pointers.reserve(prepared.size());
  for (const PreparedRun& run : prepared) pointers.push_back(&run);
  return pointers;
}

// widening: of the free coefficients' priors, relative to the table's.
inline FitResult fit_free(const Runs& runs, double widening = 1) {
  const std::vector<PreparedRun> prepared = prepare(runs, names_of(runs));
  return fit_prepared(runs, pointers_to(prepared), {},
                      knowing_all_but(kFreeToMove, synthetic_truth(), widening));
}

}  // namespace sextant::test
