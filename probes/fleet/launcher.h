// What starts a program on a host: "ssh -o BatchMode=yes {target}", "srun --overlap -N1 -n1 -w {target}".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// The words of a command line as a shell has them, without its expansions: blanks separate; '...' is as it
// stands; in "..." and outside a backslash keeps the next character. Error(bad_input) when a quote is not
// closed.
[[nodiscard]] std::vector<std::string> words_of(std::string_view command);

}  // namespace sextant
