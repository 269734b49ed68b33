// Starts this program again, on several MPI ranks of this machine, or on one without a launcher.
#pragma once

#include <string>
#include <vector>

namespace sextant::cli {

// Returns how many ranks can run at once: usable CPUs, at most `wanted`; 1 without MPI or launcher.
[[nodiscard]] int usable_ranks(int wanted);

enum class Output { shown, discarded };  // for the child's stdout; its stderr is always shown

// Runs `sextant arguments...` on `ranks` ranks and waits. Throws Error(machine) if it cannot be started or
// fails; the child has reported the reason on stderr.
void run_on_ranks(int ranks, const std::vector<std::string>& arguments, Output output = Output::shown);

}  // namespace sextant::cli
