// What of the environment decides how ranks talk: variables of NCCL, MPI and network plug-ins, and NCCL's
// files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/harness/system_files.h"

namespace sextant {

// By name; lines of a file as "/etc/nccl.conf:NCCL_DEBUG" or "~/.nccl.conf:NCCL_DEBUG".
using NetworkSettings = std::map<std::string, std::string>;

// environment: "NAME=value" each; home: the user's folder. A value that may be a secret (by the words of its
// name, or a password in an address) is "(not recorded)".
[[nodiscard]] NetworkSettings read_network_settings(const std::vector<std::string>& environment,
                                                    const SystemFiles& files, const std::string& home);

// Of this process.
[[nodiscard]] NetworkSettings network_settings();

// What NCCL goes by: a variable, else the user's file, else the machine's. By plain name.
[[nodiscard]] NetworkSettings effective_settings(const NetworkSettings& settings);

}  // namespace sextant
