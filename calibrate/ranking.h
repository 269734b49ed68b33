// How well predictions order alternatives, and what choosing by them costs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/fit_summary.h"
#include "sextant/run.h"

namespace sextant {

// Whether rounds in which one alternative won `wins` times of `rounds` tell the two apart: two-sided sign test
// at 5 %.
[[nodiscard]] bool told_apart(int wins, int rounds);

struct RankAgreement {
  double tau = 0;  // pairs in the predicted order minus pairs in the other, by both; 0 without pairs
  int pairs = 0;   // that the rounds tell apart: the others have no order to predict
};

// Kendall's tau over those pairs. samples[alternative][round]; a pair is looked at in the rounds that both
// have.
[[nodiscard]] RankAgreement rank_agreement(std::span<const std::vector<double>> samples,
                                           std::span<const double> predicted);

// How much slower than the fastest alternative is the one that is predicted fastest, as a fraction of the
// fastest's time; of several predicted alike, the slowest. Both in seconds, of the same alternatives, at least
// one.
[[nodiscard]] double regret_fraction(std::span<const double> measured_s, std::span<const double> predicted_s);

// An iteration of a run beside its prediction.
struct ComparedIteration {
  const Run* run = nullptr;
  double measured_s = 0;
  double predicted_s = 0;
};

// Plans are alternatives where workflow, cluster and framework are the same; several runs of a plan count once,
// by their medians. Nothing where no plan has an alternative.
[[nodiscard]] std::optional<PlanOrder> order_of_plans(std::span<const ComparedIteration> iterations);

// A sentence for a person about an order of held-out plans, or that there was nothing to order.
[[nodiscard]] std::string describe(const std::optional<PlanOrder>& order);

}  // namespace sextant
