// How well a kind of fit foretells pairs that it did not see.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "probes/fleet/links/pair_fit.h"

namespace sextant {

// Costs of the levels that no sample is of: of the next outer level that has one, else of the next inner one.
void fill_levels(SegmentCosts& costs);

// |log(predicted / measured)| by sample, each foretold by a fit to the other four fifths of the samples (to all
// where there are fewer than two).
[[nodiscard]] std::vector<double> held_out_errors(const HostGroups& groups, std::span<const CostSample> samples,
                                                  const FitKind& kind, std::uint64_t seed);

// What 90 % of the pairs that were not measured keep, by level, from the errors of those that were. A sample
// stands for as many pairs as its two zones have for each of their samples.
[[nodiscard]] std::array<std::optional<double>, kFleetLevels> errors_90(const HostGroups& groups,
                                                                        std::span<const CostSample> samples,
                                                                        std::span<const double> errors);

}  // namespace sextant
