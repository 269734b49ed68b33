// Splits runs into those that the fit sees and those that are held out to judge it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sextant/run.h"

namespace sextant::inline calibrate {

// The unit of the hold-out split. Holding out random single runs is optimistic; a workflow (its model, lengths
// and batch) or a plan that the fit never saw is the realistic test.
enum class HoldOutBy { run, workflow, plan };

struct Split {
  std::vector<std::string> fit;  // names of runs
  std::vector<std::string> held_out;
};

// Holds out `fraction` (in (0, 1)) of the groups, at least one and not all, by a seeded shuffle: the same on
// every machine. Throws Error(bad_input) with fewer than two groups.
[[nodiscard]] Split split_runs(const Runs& runs, double fraction, HoldOutBy by, unsigned seed);

// Returns the runs for which the predicate holds, with the documents that they refer to.
[[nodiscard]] Runs subset(const Runs& runs, const std::function<bool(const Run&)>& keep);
[[nodiscard]] Runs subset(const Runs& runs, const std::vector<std::string>& names);

}  // namespace sextant::inline calibrate
