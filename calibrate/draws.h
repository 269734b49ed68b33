// What the coefficients may be, given what a fit knows: joint draws, to judge two plans by the same of each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"

namespace sextant {

// From the normal distribution of the fit (posterior.h), each value moved into the range of its table; device
// types and a framework that the fit never saw deviate as far as those that it saw. A draw has the values of
// the cluster's device types for `framework`, and no fit. The same for a seed. Empty where nobody fitted them.
[[nodiscard]] std::vector<Coefficients> draw_coefficients(const Coefficients& coefficients,
                                                          const Cluster& cluster, std::string_view framework,
                                                          int count, std::uint64_t seed);

}  // namespace sextant
