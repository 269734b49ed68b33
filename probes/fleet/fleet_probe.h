// Measures many hosts: starts an agent on each, each agent probes its devices, then all pairs of a schedule in
// rounds, and stops them all. A host that fails is reported with its reason and the rest continues.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "probes/fleet/agent_link.h"
#include "probes/journal/probe_journal.h"
#include "probes/report/fleet_record.h"
#include "probes/schedule/tournament.h"

namespace sextant::inline probes {

struct FleetOptions {
  std::vector<std::string> launcher;  // arguments; "{target}" is replaced by the host
  std::string program = "sextant";    // on hosts that state no other
  PortRange ports;                    // on which agents listen
  PairOptions pair;
  bool probe_devices = true;
  std::vector<std::string> device_options;  // options of `sextant probe` on each host
  double start_limit_s = 60;
  double device_limit_s = 900;    // follows from the budgets in device_options
  double round_trip_limit_s = 1;  // maximum round trip of a pair: the time limit of a pair follows from it
  int max_starting = 32;          // at once; an sshd refuses more than about ten from one user
};

// Reports the current step, for a line of progress.
using FleetProgress = std::function<void(const std::string& what)>;

// Rounds contain host numbers, without the pairs that `done` has already. Stops early, with the results so far,
// if `interrupted` is set. Throws Error(machine) only if the journal cannot be written.
[[nodiscard]] FleetRecord probe_fleet(const std::vector<Host>& hosts, const PairRounds& rounds,
                                      const FleetOptions& options, const ProbeJournal& done,
                                      JournalWriter& journal, const std::atomic<bool>& interrupted,
                                      const FleetProgress& progress);

}  // namespace sextant::inline probes
