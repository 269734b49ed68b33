// The coefficients that ship on the public runs that they were fitted to: a few seconds, because nothing is fitted.
// They say nothing about other runs. They notice a cost model that changed while the coefficients did not.
#include <array>
#include <set>

#include "calibrate/families.h"
#include "calibrate/validate.h"
#include "lab/claims/families.h"
#include "lab/claims/public_fit.h"

namespace sextant::claims {
namespace {

struct ShippedFigure {
  const char* name;
  const char* kind;  // of public_runs
  double threshold;
};
// Below the same figures of runs that the fit did not see.
constexpr std::array<ShippedFigure, 3> kFigures{{
    {"shipped.generation", "generation", 0.12},
    {"shipped.iterations", "RL iterations", 0.12},
    {"shipped.training", "training steps", 0.08},
}};

// Adds the errors of one family's runs: of every measured time, tasks and iterations alike.
void add_errors(const Runs& runs, const Coefficients& coefficients, Claim& claim) {
  for (const ComparedTime& time : validate(runs, coefficients).times) {
    claim.value += time.error_fraction();
    ++claim.records;
  }
}

}  // namespace

void shipped(const ClaimContext& context, ClaimReport& report) {
  const std::map<std::string, Runs> all = public_runs(context);
  for (const ShippedFigure& figure : kFigures) {
    const Runs& runs = all.at(figure.kind);
    context.say("shipped: " + std::to_string(runs.runs.size()) + " runs, " + figure.kind);
    std::set<std::string> families;
    for (const Run& run : runs.runs) families.emplace(family_of_framework(run.framework));
    Claim claim;
    claim.name = figure.name;
    claim.protocol = "the coefficients that ship on the runs of their own fit (" + std::string(figure.kind) +
                     "), in sample: every measured time";
    claim.threshold = figure.threshold;
    for (const std::string& family : families) {
      const Coefficients coefficients = context.shipped(family);
      claim.free_coefficients = coefficients.fit->free_coefficients;
      add_errors(subset(runs, [&](const Run& run) { return family_of_framework(run.framework) == family; }),
                 coefficients, claim);
    }
    claim.value /= claim.records;
    report.claims.push_back(std::move(claim));
  }
}

}  // namespace sextant::claims
