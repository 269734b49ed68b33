#include "planner/exact/milp.h"

#include <map>

#include "sextant/error.h"

namespace sextant::inline planner {

int MilpProblem::add_variable(double lower, double upper, double cost) {
  variables_.push_back({lower, upper, cost, false});
  return static_cast<int>(variables_.size()) - 1;
}

int MilpProblem::add_whole(double lower, double upper, double cost) {
  variables_.push_back({lower, upper, cost, true});
  return static_cast<int>(variables_.size()) - 1;
}

void MilpProblem::add_row(double lower, const std::vector<MilpTerm>& terms, double upper) {
  std::map<int, double> sums;
  for (const MilpTerm& term : terms) {
    SEXTANT_CHECK(term.variable >= 0 && term.variable < static_cast<int>(variables_.size()));
    sums[term.variable] += term.coefficient;
  }
  Row row{lower, upper, {}};
  for (const auto& [variable, coefficient] : sums) {
    if (coefficient != 0) row.terms.push_back({variable, coefficient});
  }
  rows_.push_back(std::move(row));
}

}  // namespace sextant::inline planner
