// Joint samples of the coefficients from a fit's posterior, to compare two plans under the same samples.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"

namespace sextant::inline calibrate {

// Samples the normal distribution of the fit (posterior.h) and moves each value into its table's range. Types
// and frameworks that the fit never saw deviate as much as those it saw. A sample has values for the cluster's
// device types and `framework`, and no fit. The seed fixes it. Empty if nothing was fitted.
[[nodiscard]] std::vector<Coefficients> draw_coefficients(const Coefficients& coefficients,
                                                          const Cluster& cluster, std::string_view framework,
                                                          int count, std::uint64_t seed);

}  // namespace sextant::inline calibrate
