// Where documents for --json go: stdout, which nothing else may print to.
#pragma once

#include <string>

namespace sextant::cli {

// From now on whatever this process prints to stdout goes to stderr, libraries' lines too; only print_text
// still reaches stdout. Until the process ends, as NCCL logs to the last.
//
// In place of NCCL_DEBUG_FILE=/dev/stderr. NCCL opens that file anew and empties it (src/debug.cc: fopen with
// "w"), which loses what a person's log had before, opens no socket at all, and takes no notice of it with
// NCCL_DEBUG=VERSION; network plug-ins and MPI know no such setting. And so no variable is set, and those
// recorded are the person's.
void keep_stdout_for_documents();

// On stdout, whether or not it is kept.
void print_text(const std::string& text);

}  // namespace sextant::cli
