// Which change of one number would change the decision.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/explanation.h"
#include "planner/explain/judge.h"

namespace sextant {

// A plan that the chosen one is held against.
struct Rival {
  std::string name;
  const Plan* plan = nullptr;
};

// Where the answer changes: a factor of the number, and what is better then.
struct Crossing {
  double factor = 1;
  std::string to;  // a rival; empty: the chosen plan no longer fits
};

struct FactorRange {
  double low = 0.1;
  double high = 10;
};

// The crossing nearest to 1 on a logarithmic scale: bracketed by factors that double in distance from 1, then
// bisected, so that a change and its reverse between two of them may be missed. `to_at`: what is better than
// the chosen plan at a factor, nothing where it still is the best.
[[nodiscard]] std::optional<Crossing> find_crossing(
    const std::function<std::optional<std::string>(double factor)>& to_at, FactorRange range = {});

// Of every number of the cluster (hardware_numbers.h, and the size of memories) and every coefficient that the
// plans depend on, within a factor of ten and the range of the coefficients' table; smallest change first. Each
// change is predicted, none extrapolated; rivals keep their layouts. Coefficients that are zero stay zero. In
// units of standard errors where the number carries its spread, or the draws show that of the coefficient.
// Nothing where a rival is better already.
[[nodiscard]] std::vector<Flip> find_flips(const PlanRequest& request, const Plan& chosen,
                                           const std::vector<Rival>& rivals,
                                           const CoefficientUncertainty& doubt);

}  // namespace sextant
