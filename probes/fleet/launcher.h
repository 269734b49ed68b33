// Parses the launcher command: "ssh -o BatchMode=yes {target}", "srun --overlap -N1 -n1 -w {target}".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline probes {

// Splits a command line into words as a shell does, without its expansions: blanks separate; '...' is literal;
// in "..." and outside a backslash escapes the next character. Throws Error(bad_input) if a quote is not
// closed.
[[nodiscard]] std::vector<std::string> words_of(std::string_view command);

}  // namespace sextant::inline probes
