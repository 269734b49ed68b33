#include "probes/comm/lone_rank.h"

#include <array>
#include <cstdlib>
#include <vector>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

struct Launcher {
  const char* name;
  const char* size;                     // its number of processes
  std::vector<const char*> also_there;  // what a process that it started has besides
};

// From the inside out: mpirun may run below srun, and torchrun's workers below either.
const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> table = {
      {"mpirun of Open MPI", "OMPI_COMM_WORLD_SIZE", {}},
      {"mpirun of MPICH, or srun --mpi=pmi2", "PMI_SIZE", {"PMI_RANK"}},
      {"mpirun of MVAPICH2", "MV2_COMM_WORLD_SIZE", {}},
      {"torchrun", "WORLD_SIZE", {"RANK", "LOCAL_RANK"}},
      // A batch script and the shell of salloc have SLURM_NTASKS and even SLURM_PROCID, but are in no step of
      // several.
      {"srun", "SLURM_STEP_NUM_TASKS", {"SLURM_PROCID"}},
  };
  return table;
}

// The MPI support that srun gives its processes depends on its --mpi, which many sites leave at "none".
std::string better_launch(const Environment& environment) {
  std::string own = "the launcher of the MPI that sextant was built with, or one process without a launcher";
  if (!environment("SLURM_STEP_NUM_TASKS")) return own;
  return "srun --mpi=pmix (srun --mpi=list shows the available types), or with " + own;
}

bool is_whole(const Environment& environment, const Launcher& launcher) {
  for (const char* name : launcher.also_there) {
    if (!environment(name)) return false;
  }
  return true;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string proof_of_other_ranks(const Environment& environment) {
  for (const Launcher& launcher : launchers()) {
    const auto size = environment(launcher.size);
    if (!size || !is_whole(environment, launcher)) continue;
    if (std::atoi(size->c_str()) <= 1) return "";
    return std::string(launcher.size) + "=" + *size + " (" + launcher.name + ")";
  }
  return "";
}

void refuse_lone_rank(int size, const Environment& environment, const std::string& transport) {
  if (size > 1) return;
  const std::string proof = proof_of_other_ranks(environment);
  if (proof.empty()) return;
  throw_bad_input("every process is a job of one rank: " + proof +
                  " shows that several processes were started, but each sees a world of size 1 (" + transport +
                  "): start them with " + better_launch(environment));
}

}  // namespace sextant::inline probes
