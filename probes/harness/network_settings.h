// Environment settings that determine how ranks communicate: variables of NCCL, MPI and network plug-ins, and
// NCCL's files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/harness/system_files.h"

namespace sextant::inline probes {

// Keyed by name; lines of a file as "/etc/nccl.conf:NCCL_DEBUG" or "~/.nccl.conf:NCCL_DEBUG".
using NetworkSettings = std::map<std::string, std::string>;

// environment: "NAME=value" each; home: the user's folder. A value that may be a secret (judged by its name, or
// a password in an address) becomes "(not recorded)".
[[nodiscard]] NetworkSettings read_network_settings(const std::vector<std::string>& environment,
                                                    const SystemFiles& files, const std::string& home);

// Returns the settings of this process.
[[nodiscard]] NetworkSettings network_settings();

// Returns the settings that NCCL uses, by plain name: a variable, else the user's file, else the machine's.
[[nodiscard]] NetworkSettings effective_settings(const NetworkSettings& settings);

}  // namespace sextant::inline probes
