// Estimates how well a kind of fit predicts held-out pairs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "probes/estimates/pair_fit.h"

namespace sextant::inline probes {

// Fills the costs of levels without a sample: from the next outer level that has one, else the next inner one.
void fill_levels(SegmentCosts& costs);

// Returns |log(predicted / measured)| by sample, each predicted by a fit to the other four fifths of the
// samples (to all if there are fewer than two).
[[nodiscard]] std::vector<double> held_out_errors(const HostGroups& groups, std::span<const CostSample> samples,
                                                  const FitKind& kind, std::uint64_t seed);

// Returns the error that 90 % of the pairs that were not measured respect, by level, from the errors of the
// measured ones. A sample represents as many pairs as its two zones have for each of their samples.
[[nodiscard]] std::array<std::optional<double>, kFleetLevels> errors_90(const HostGroups& groups,
                                                                        std::span<const CostSample> samples,
                                                                        std::span<const double> errors);

}  // namespace sextant::inline probes
