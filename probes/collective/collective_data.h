// What each rank puts into a collective and must find afterwards: small whole numbers, whose sums are exact in
// fp32 for up to 60,000 ranks, different by place and rank.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "probes/collective/collective_shape.h"

namespace sextant {

// Elements first .. first + chunk.size() - 1 of the buffer that this rank sends from. In place, the parts that
// others fill are zero.
void fill_input(const CollectiveShape& shape, int rank, std::size_t first, std::span<float> chunk);

// How many of these elements of the buffer that holds this rank's result are not what they must be. What a
// reduce-scatter leaves in the parts of others does not count.
[[nodiscard]] std::size_t count_wrong(const CollectiveShape& shape, int rank, std::size_t first,
                                      std::span<const float> chunk);

// The bytes of a message between two ranks, none of them zero: a long message repeats these, which are at most
// `max_bytes` and, unless that is tiny, whole periods.
[[nodiscard]] std::vector<unsigned char> message_pattern(std::size_t max_bytes);

}  // namespace sextant
