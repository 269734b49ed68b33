// Measures how well predictions order alternatives, and the regret of choosing by them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/fit_summary.h"
#include "sextant/run.h"

namespace sextant::inline calibrate {

// Whether `wins` wins of one alternative in `rounds` rounds distinguish the two: two-sided sign test at 5
// %.
[[nodiscard]] bool told_apart(int wins, int rounds);

struct RankAgreement {
  double tau = 0;  // (pairs in the predicted order - pairs in the opposite one) / pairs; 0 without pairs
  int pairs = 0;   // pairs that the rounds distinguish: the others have no order to predict
};

// Returns Kendall's tau over those pairs. samples[alternative][round]; a pair is compared in the rounds that
// both have.
[[nodiscard]] RankAgreement rank_agreement(std::span<const std::vector<double>> samples,
                                           std::span<const double> predicted);

// Returns how much slower the alternative predicted fastest is than the fastest one, as a fraction of the
// fastest's time; among equal predictions the slowest counts. Both spans are in seconds, for the same
// alternatives, at least one.
[[nodiscard]] double regret_fraction(std::span<const double> measured_s, std::span<const double> predicted_s);

// An iteration of a run, measured and predicted.
struct ComparedIteration {
  const Run* run = nullptr;
  double measured_s = 0;
  double predicted_s = 0;
};

// Compares alternatives: plans with the same workflow, cluster and framework. Several runs of a plan count
// once, by their medians. Returns nullopt if no plan has an alternative.
[[nodiscard]] std::optional<PlanOrder> order_of_plans(std::span<const ComparedIteration> iterations);

// Returns a sentence for people about an order of held-out plans, or that there was none to evaluate.
[[nodiscard]] std::string describe(const std::optional<PlanOrder>& order);

}  // namespace sextant::inline calibrate
