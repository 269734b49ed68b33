#include "lab/reproduce/weave/finding.h"

#include "lab/reproduce/compare.h"

namespace sextant::weave {

void add_finding(ReproducedExperiment& out, const Printed& printed, const std::string& cell, double ours,
                 double low, double high, const std::string& facts) {
  Comparison one{printed.group, cell, printed.source, printed.unit, ours, low, high, false, ""};
  one.agrees = is_agreeing(one);
  if (!one.agrees) one.sentence = stated_difference(one) + "; " + facts;
  out.comparisons.push_back(std::move(one));
}

}  // namespace sextant::weave
