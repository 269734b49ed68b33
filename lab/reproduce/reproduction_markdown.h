// The experiments of papers as a page for people: docs/reproduce.md.
#pragma once

#include <string>
#include <vector>

#include "lab/reproduce/reproduction.h"

namespace sextant::inline lab {

// command: the command line that produced it.
[[nodiscard]] std::string reproduction_as_markdown(const Reproduction& reproduction,
                                                   const std::string& command);

// The comparisons of one group, as a row of the summary.
struct ComparisonGroup {
  std::string name;
  std::string source;
  std::string ours;       // "1.05 to 1.32x"
  std::string published;  // "1.51 to 2.05x"
  int agreeing = 0;
  int all = 0;
};
// Returns the cells in which another search found a plan that is faster than the first contestant's, by more
// than rounding: "single-region/Qwen3-8B/ppo/sync: mcmc 203 s, sha-ea 211 s".
[[nodiscard]] std::vector<std::string> outdone(const ReproducedExperiment& experiment);

// Returns the groups in order of appearance.
[[nodiscard]] std::vector<ComparisonGroup> groups_of(const ReproducedExperiment& experiment);

}  // namespace sextant::inline lab
