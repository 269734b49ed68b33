// Build properties of an MPI library, from its own list of settings.
#pragma once

#include <string>

namespace sextant::inline probes {

// Whether the library is Open MPI (any version). May be called before MPI_Init.
[[nodiscard]] bool is_open_mpi();

// Whether the library has a control variable with this prefix in the MPI tool interface (MPI 4.1, section
// 15.3.6): an Open MPI built with the plug-in "pmix_s2_" has such variables, one without has none. May be
// called before MPI_Init; false if the tool interface cannot be started.
[[nodiscard]] bool has_mpi_variable(const std::string& prefix);

}  // namespace sextant::inline probes
