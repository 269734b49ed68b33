// The MPI backend of Communicator. Only probes/comm includes this file.
#pragma once

// Open MPI's C++ bindings were removed from the standard and do not compile without warnings.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <memory>

#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// Error(machine) with MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* what);

// Uses a duplicate of `parent`, so that its messages do not mix with others.
[[nodiscard]] std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm parent);

}  // namespace sextant::inline probes
