// Seeded damage to the text of a document.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace sextant {

using Random = std::mt19937_64;

// Bytes are flipped, inserted, removed or taken from another document: mostly not JSON any more.
[[nodiscard]] std::string mutate_text(const std::string& text, const std::string& other, Random& random);

// A value somewhere is replaced, removed or renamed: always JSON, so that the reading behind the parser is
// reached.
[[nodiscard]] std::string mutate_value(const std::string& text, const std::string& other, Random& random);

}  // namespace sextant
