// How much a test does. Each change tries few random cases; scripts/nightly tries many (SEXTANT_THOROUGH=1).
#pragma once

#include <cstdlib>

namespace sextant::test {

[[nodiscard]] inline bool is_thorough() { return std::getenv("SEXTANT_THOROUGH") != nullptr; }

template <typename Count>
[[nodiscard]] Count cases_of(Count each_change, Count thorough) {
  return is_thorough() ? thorough : each_change;
}

}  // namespace sextant::test
