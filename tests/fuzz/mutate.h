// Seeded corruption of a text.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace sextant {

using Random = std::mt19937_64;

// Flips, inserts or removes bytes, replaces numbers, or takes bytes and lines from another text: the result is rarely
// JSON.
[[nodiscard]] std::string mutate_text(const std::string& text, const std::string& other, Random& random);

// Both are JSON. Replaces, removes or renames a value: the result is always JSON, so that it reaches the code behind the
// parser.
[[nodiscard]] std::string mutate_value(const std::string& text, const std::string& other, Random& random);

}  // namespace sextant
