// Starts a program with the tracer loaded.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "probes/trace/record/settings.h"

namespace sextant::trace {

// The end of the program: its exit code or signal.
struct CommandEnd {
  int exit_code = 0;  // for a killed program: 128 + signal
  int signal = 0;     // 0: it exited
};

// Returns the variables that make CUDA and NVTX load `library` and pass it the settings: for the environment of
// the program, or of a launcher's workers (Ray's runtime_env).
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tracing_environment(const Settings& settings,
                                                                                   const std::string& library);

// Runs `command` (a program, searched on PATH, and its arguments) with these variables and waits for it. An
// interrupt is left to the program, a SIGTERM is passed on, and this process continues to read the recorded
// data. Throws Error(machine) if the program cannot be started.
[[nodiscard]] CommandEnd run_traced(const std::vector<std::string>& command,
                                    const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace sextant::trace
