// The probe on one host of many, started there by the coordinator (over ssh, srun, ...) and told by it what to
// do.
//
// It never outlives its coordinator: it ends when its standard input does, or when nothing was said for
// kGoneAfter_s, and takes the probe of its devices with it. It writes no file.
#pragma once

#include <string>
#include <vector>

namespace sextant {

struct AgentOptions {
  // What probes this host's devices and prints a cluster document; the command's options and "--samples FILE"
  // are appended.
  std::vector<std::string> device_probe;
};

// Commands from stdin, answers to stdout (messages.h). Ends the process.
[[noreturn]] void run_agent(const AgentOptions& options);

}  // namespace sextant
