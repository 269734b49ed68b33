// Notes for the user on stderr.
#pragma once

#include <string>
#include <vector>

namespace sextant::cli {

// Prints each note on a line of stderr.
void say(const std::vector<std::string>& notes);

}  // namespace sextant::cli
