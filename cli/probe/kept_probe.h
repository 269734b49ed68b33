// Keeps what a job of ranks has measured: the journal on rank 0's disk, Ctrl-C, and a watchdog that reports silent
// ranks.
#pragma once

#include <memory>
#include <string>

#include "cli/probe/probe_command.h"
#include "probes/campaign/probe_hooks.h"
#include "probes/comm/communicator.h"
#include "probes/journal/probe_journal.h"

namespace sextant::cli {

// A single rank has neither Ctrl-C nor a watchdog. All ranks make and use it.
class KeptProbe {
 public:
  // `devices`: what the journal covers, "cores" or "GPUs". The watchdog waits for longest_silence_s between two
  // steps.
  KeptProbe(Communicator& ranks, const ProbeCommand& command, const std::string& devices,
            double longest_silence_s);
  ~KeptProbe();
  KeptProbe(const KeptProbe&) = delete;
  KeptProbe& operator=(const KeptProbe&) = delete;

  [[nodiscard]] const ProbeJournal& done() const { return done_; }  // the same on every rank
  [[nodiscard]] const ProbeHooks& hooks() const { return hooks_; }

 private:
  struct Keepers;
  ProbeJournal done_;
  std::unique_ptr<Keepers> keepers_;
  ProbeHooks hooks_;
};

// Returns the hosts' places from the file, which rank 0 reads. Collective; all ranks get the same or an error.
[[nodiscard]] HostPlaces read_places(Communicator& ranks, const std::string& file);

}  // namespace sextant::cli
