// Callbacks of a campaign of ranks: progress, finished measurements, and an early end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "probes/campaign/findings.h"
#include "probes/comm/communicator.h"

namespace sextant::inline probes {

// Each callback may be empty.
struct ProbeHooks {
  std::function<bool()> should_stop = {};  // true on any rank ends it at the next step, round or level
  // Called on every rank with the next step.
  std::function<void(const std::string& what)> on_step = {};
  // Called on every rank with the next step, if no rank can continue without all the others.
  std::function<void(const std::string& what)> on_common_step = {};
  // Called at rank 0 before such steps: returns the remaining results if these ranks were lost there. May be
  // called from another thread while this one hangs.
  using Remains = std::function<ClusterProbe(const std::map<int, std::string>& lost)>;
  std::function<void(const Remains& remains)> on_remains = {};
  // Called at rank 0 with each finished measurement, for the journal (journal/probe_journal.h): the reports of
  // devices, or in their place points of devices; points of links; collectives of a level.
  std::function<void(const std::vector<RankReport>& reports)> on_devices = {};
  std::function<void(const std::vector<ProbeResult>& points)> on_points = {};
  std::function<void(const std::vector<ProbeResult>& points)> on_links = {};
  std::function<void(const std::string& level, const std::vector<ProbeResult>& results)> on_collectives = {};

  void step(const std::string& what) const;
  void common_step(const std::string& what) const;
};

// Returns whether any rank requested a stop. Collective.
[[nodiscard]] bool is_told_to_stop(Communicator& ranks, const ProbeHooks& hooks);

// The findings that remain at rank 0 if a rank is lost in a step that needs all of them.
class Remains {
 public:
  // Passes them to the hook; `conclude` makes a probe of them.
  Remains(const Findings& found, const ProbeHooks& hooks,
          std::function<ClusterProbe(const Findings& left)> conclude);
  // Adds results that were finished in the meantime.
  void add(const std::vector<ProbeResult>& results);

 private:
  struct State {
    std::mutex mutex;
    Findings found;
  };
  std::shared_ptr<State> state_;
};

}  // namespace sextant::inline probes
