// Checks of options, with sentences that a person can read. NaN and infinity pass none of them.
#pragma once

#include <CLI/CLI.hpp>

namespace sextant::cli {

// Above zero.
[[nodiscard]] CLI::Validator positive_number();
// Zero or above.
[[nodiscard]] CLI::Validator non_negative_number();
// From `least` to `most`, both included.
[[nodiscard]] CLI::Validator number_between(double least, double most);

}  // namespace sextant::cli
