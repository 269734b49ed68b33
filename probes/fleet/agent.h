// The probe on one host of many, started there and commanded by the coordinator (over ssh, srun,
// ...).
//
// It never outlives its coordinator: it ends if its standard input is closed, or after kGoneAfter_s without a
// message, and ends the probe of its devices with it. It writes no file.
#pragma once

#include <string>
#include <vector>

namespace sextant::inline probes {

struct AgentOptions {
  // The command that probes this host's devices and prints a cluster document; the command's options and
  // "--samples FILE" are appended.
  std::vector<std::string> device_probe;
};

// Reads commands from stdin, writes answers to stdout (messages.h). Ends the process.
[[noreturn]] void run_agent(const AgentOptions& options);

}  // namespace sextant::inline probes
