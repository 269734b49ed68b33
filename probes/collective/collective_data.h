// The input of each rank in a collective and its expected output: small integers, whose sums are exact in fp32
// for up to 60,000 ranks, different by position and rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "probes/collective/collective_shape.h"

namespace sextant::inline probes {

// Fills the elements first .. first + chunk.size() - 1 of this rank's send buffer. In place, the parts that
// others fill are zero.
void fill_input(const CollectiveShape& shape, int rank, std::size_t first, std::span<float> chunk);

// Returns the number of wrong elements in this part of the rank's result buffer. After a reduce-scatter, the
// parts of other ranks are ignored.
[[nodiscard]] std::size_t count_wrong(const CollectiveShape& shape, int rank, std::size_t first,
                                      std::span<const float> chunk);

// Returns the bytes of a message between two ranks, all nonzero: a long message repeats them; they are at most
// `max_bytes` and, unless that is tiny, whole periods.
[[nodiscard]] std::vector<unsigned char> message_pattern(std::size_t max_bytes);

}  // namespace sextant::inline probes
