// A headline is a paper's statement about many of its figures at once: "up to 9.17x, and 3.17x on average".
#pragma once

#include <vector>

#include "lab/reproduce/reproduction.h"
#include "lab/reproduce/study.h"

namespace sextant::inline lab {

// Returns one comparison for each headline whose groups have figures of ours; call it after those of its cells.
[[nodiscard]] std::vector<Comparison> compare_headlines(const std::vector<Headline>& headlines,
                                                        const std::vector<Comparison>& comparisons);

}  // namespace sextant::inline lab
