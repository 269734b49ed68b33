// Detects that a launcher started several processes, each of which believes that it is alone.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sextant::inline probes {

// Returns the value of an environment variable, or nullopt.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

[[nodiscard]] Environment process_environment();

// Returns the proof that this process is not the only one although its communicator has one rank:
// "OMPI_COMM_WORLD_SIZE=4 ..."; empty without proof. Only variables that a launcher sets for its processes
// count: in the shell of an allocation and in a batch script (SLURM_NTASKS), or in a container of a job
// (WORLD_SIZE without LOCAL_RANK), a single process is fine. The innermost launcher decides.
[[nodiscard]] std::string proof_of_other_ranks(const Environment& environment);

// Throws Error(bad_input) if the size is 1 and there are other ranks, with the evidence and the remedy.
// transport: the transports of this build, from transport_description.
void refuse_lone_rank(int size, const Environment& environment, const std::string& transport);

}  // namespace sextant::inline probes
