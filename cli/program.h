// The shared main of `sextant` and `sextant-lab`: parses the command line, runs the command and turns every
// failure into one line on stderr and an exit code.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command_line.h"

namespace sextant::cli {

struct Program {
  std::string description;                       // for --help
  std::vector<void (*)(CommandLine&)> commands;  // each adds one, in the order of the help
};

// Returns the exit code. Joins the ranks of an MPI job only if a command needs them.
[[nodiscard]] int run_program(const Program& program, int argc, char** argv);

}  // namespace sextant::cli
