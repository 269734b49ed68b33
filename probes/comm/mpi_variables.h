// What an MPI library was built with, as far as its own list of settings shows it.
#pragma once

#include <string>

namespace sextant {

// Whether the library is Open MPI (any version). May be asked before MPI_Init.
[[nodiscard]] bool is_open_mpi();

// Whether the library has a control variable whose name begins so, as the MPI tool interface (MPI 4.1, section
// 15.3.6) lists them: of a plug-in of Open MPI "pmix_s2_" it has some exactly where that was built. May be
// asked before MPI_Init; false where the tool interface cannot be started.
[[nodiscard]] bool has_mpi_variable(const std::string& prefix);

}  // namespace sextant
