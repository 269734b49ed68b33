// Start and stop of MPI. A process that no launcher started never calls MPI_Init, so that one rank needs
// no mpirun.
#include <array>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "probes/comm/mpi_communicator.h"
#include "probes/comm/mpi_variables.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

// The variables that mpirun of Open MPI, MPICH and Intel MPI, and srun with PMI or PMIx, set for each process.
// A bare SLURM_PROCID proves nothing: every process of a batch script has it.
bool was_launched_as_rank() {
  return is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMI_RANK") || is_set("PMIX_RANK") ||
         is_set("MPI_LOCALRANKID") || (is_set("SLURM_PROCID") && is_set("PMI_FD"));
}

// Open MPI speaks PMIx, and PMI-1 or PMI-2 only where it was built with those (not in Debian, never since 5.0).
// Where the launcher offers nothing else (srun --mpi=pmi2), its MPI_Init would end the process with exit code 1
// and a page of text. Flux has a plug-in of its own.
bool is_out_of_reach() {
  static const bool result = [] {
    if (is_set("PMIX_RANK") || is_set("OMPI_COMM_WORLD_SIZE") || is_set("FLUX_JOB_ID")) return false;
    if (!is_open_mpi()) return false;
    return !has_mpi_variable("pmix_s1_") && !has_mpi_variable("pmix_s2_") && !has_mpi_variable("pmix_cray_");
  }();
  return result;
}

bool is_running() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  const std::string_view text(version.data());
  return std::string(text.substr(0, text.find_first_of(",\n")));
}

std::unique_ptr<Communicator> join(int* argc, char*** argv) {
  if (!was_launched_as_rank() || is_out_of_reach()) return make_serial_communicator();
  int provided = 0;
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided), "starting");
  return make_mpi_communicator(MPI_COMM_WORLD);
}

}  // namespace

CommunicatorSession::CommunicatorSession(int* argc, char*** argv) : world_(join(argc, argv)) {}

CommunicatorSession::~CommunicatorSession() {
  if (!is_running()) return;
  // MPI_Finalize waits for all ranks, and those may be waiting for this one.
  if (std::uncaught_exceptions() > 0) abort_all_ranks(EXIT_FAILURE);
  world_.reset();
  MPI_Finalize();
}

void abort_all_ranks(int exit_code) {
  if (!is_running()) return;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

bool has_multi_rank_transport() { return true; }

std::string transport_description() {
  if (is_running()) return library_version();
  if (!was_launched_as_rank()) return "one rank: not started by mpirun or srun";
  return "one rank: " + library_version() + " was built without PMI, and the launcher offers no PMIx";
}

}  // namespace sextant::inline probes
