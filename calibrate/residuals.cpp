#include "calibrate/residuals.h"

#include <algorithm>

namespace sextant {

std::vector<MeasuredTime> measured_times(const Runs& runs, const std::vector<std::string>& selected) {
  std::vector<MeasuredTime> times;
  for (const Run& run : runs.runs) {
    if (std::find(selected.begin(), selected.end(), run.name) == selected.end()) continue;
    const double iteration_s = run.iteration.median_s();
    const auto add = [&](const std::string& what, const Timing& timing) {
      times.push_back(
          {&runs, &run, what, timing.median_s(), timing.spread_fraction(), kNegligibleFraction * iteration_s});
    };
    for (const auto& [name, timing] : run.tasks) {
      if (timing.median_s() > 0) add(name, timing);
    }
    add(kIteration, run.iteration);
  }
  return times;
}

}  // namespace sextant
