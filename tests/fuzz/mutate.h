// Seeded corruption of the text of a document.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace sextant {

using Random = std::mt19937_64;

// Flips, inserts or removes bytes, or takes them from another document: the result is rarely JSON.
[[nodiscard]] std::string mutate_text(const std::string& text, const std::string& other, Random& random);

// Replaces, removes or renames a value: the result is always JSON, so that it reaches the code behind the
// parser.
[[nodiscard]] std::string mutate_value(const std::string& text, const std::string& other, Random& random);

}  // namespace sextant
