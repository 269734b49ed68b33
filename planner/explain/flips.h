// The changes of a single number that would change the decision.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/explanation.h"
#include "planner/explain/judge.h"

namespace sextant::inline planner {

// An alternative to the chosen plan.
struct Rival {
  std::string name;
  const Plan* plan = nullptr;
};

// A point at which the answer changes: the factor of the number, and the plan that is better from there.
struct Crossing {
  double factor = 1;
  std::string to;  // name of a rival; empty: the chosen plan no longer fits
};

struct FactorRange {
  double low = 0.1;
  double high = 10;
};

// The crossing nearest to 1 on a logarithmic scale: bracketed by factors whose distance from 1 doubles, then
// bisected, so that a change and its reverse between two factors may be missed. `to_at` returns the plan that
// is better than the chosen one at a factor, nullopt if the chosen one is still the best.
[[nodiscard]] std::optional<Crossing> find_crossing(
    const std::function<std::optional<std::string>(double factor)>& to_at, FactorRange range = {});

// Flips of every number of the cluster (hardware_numbers.h, and memory sizes) and of every coefficient that the
// plans depend on, within a factor of ten and the range of the coefficients' table; smallest change first. Each
// change is predicted, not extrapolated; rivals keep their layouts. Coefficients that are zero stay zero.
// Changes are also in standard errors if the number carries its spread, or the draws show the coefficient's.
// Empty if a rival is already better.
[[nodiscard]] std::vector<Flip> find_flips(const PlanRequest& request, const Plan& chosen,
                                           const std::vector<Rival>& rivals,
                                           const CoefficientUncertainty& doubt);

}  // namespace sextant::inline planner
