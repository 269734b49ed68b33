// Commands of the program `sextant-lab`: the accuracy figures of this repository, the experiments of papers,
// the evidence for priors. `sextant` starts it with the same arguments, if both are in one folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line/command_line.h"

namespace sextant::cli {

// accuracy, reproduce
[[nodiscard]] bool is_lab_command(std::string_view word);

// Lists them in the help of `sextant`.
void add_lab_commands(CommandLine& line);

// Replaces this process by sextant-lab with these arguments; the first is the program name. Throws
// Error(bad_input) if this build has no lab.
[[noreturn]] void run_in_lab(const std::vector<std::string>& words);

}  // namespace sextant::cli
