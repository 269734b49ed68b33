// The commands of `sextant-lab`. Each function adds one.
#pragma once

#include "cli/command_line/command_line.h"

namespace sextant::cli {

void add_accuracy(CommandLine& line);
void add_evidence(CommandLine& line);
void add_reproduce(CommandLine& line);
void add_schemas(CommandLine& line);

}  // namespace sextant::cli
