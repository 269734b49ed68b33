// Scripts that complete the program's commands, options and choices in a shell.
#pragma once

#include <string>

#include "cli/command_line/command_tree.h"

namespace sextant::cli {

// Values without choices complete to files.
[[nodiscard]] std::string bash_completion(const CommandTree& program);
[[nodiscard]] std::string zsh_completion(const CommandTree& program);
[[nodiscard]] std::string fish_completion(const CommandTree& program);

}  // namespace sextant::cli
