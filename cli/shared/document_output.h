// Reserves stdout for documents of --json; all other output goes to stderr.
#pragma once

#include <string>

namespace sextant::cli {

// From now on all output of this process to stdout goes to stderr, including output of libraries; only
// print_text still reaches stdout. It lasts until the process ends, because NCCL logs to the last.
//
// Replaces NCCL_DEBUG_FILE=/dev/stderr. NCCL opens that file anew and truncates it (src/debug.cc: fopen with
// "w"), which loses the earlier content of a person's log, cannot open a socket, and is ignored with
// NCCL_DEBUG=VERSION; network plug-ins and MPI have no such setting. This way no variable is set, and the
// recorded ones are the person's.
void keep_stdout_for_documents();

// Prints to stdout, whether or not it is reserved.
void print_text(const std::string& text);

}  // namespace sextant::cli
