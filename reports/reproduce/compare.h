// The model's figures beside the published ones, and why they differ as far as the predictions show it.
#pragma once

#include <vector>

#include "reports/reproduce/reproduction.h"
#include "reports/reproduce/study.h"

namespace sextant {

// Figures further than this factor from what is published disagree.
inline constexpr double kAgreementFactor = 1.25;

// Nothing where a plan has no price for tokens_per_usd, or no such task.
[[nodiscard]] std::optional<double> measure_of(const Figure& figure, const ReproducedPlan& plan);

// In the order of the figures; those with a cell that was not run, or a contestant that it lacks, are left out.
[[nodiscard]] std::vector<Comparison> compare(const std::vector<Figure>& figures,
                                              const std::vector<ReproducedCell>& cells);

// "1.51 to 2.05 x", "64.0 s", "at most 14.9 s"
[[nodiscard]] std::string shown_published(const Comparison& comparison);
[[nodiscard]] std::string shown_ours(const Comparison& comparison);

}  // namespace sextant
