// Whether a launcher started several processes of which each believes to be alone.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sextant {

// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

[[nodiscard]] Environment process_environment();

// Why this process cannot be the only one although its communicator has one rank: "OMPI_COMM_WORLD_SIZE=4 ...";
// empty when nothing proves it. Only what a launcher gives to the processes it starts counts: in the shell of
// an allocation and in a batch script (SLURM_NTASKS), or in a container of a job (WORLD_SIZE without
// LOCAL_RANK), one process alone is fine. The innermost launcher decides.
[[nodiscard]] std::string proof_of_other_ranks(const Environment& environment);

// Throws Error(bad_input) when the size is 1 and there are other ranks, with what was seen and what to do.
// transport: what this build can join, as transport_description says.
void refuse_lone_rank(int size, const Environment& environment, const std::string& transport);

}  // namespace sextant
