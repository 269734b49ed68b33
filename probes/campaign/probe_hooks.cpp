#include "probes/campaign/probe_hooks.h"

#include <span>
#include <utility>

namespace sextant::inline probes {

void ProbeHooks::step(const std::string& what) const {
  if (on_step) on_step(what);
}

void ProbeHooks::common_step(const std::string& what) const {
  if (on_common_step) on_common_step(what);
}

bool is_told_to_stop(Communicator& ranks, const ProbeHooks& hooks) {
  double told = hooks.should_stop && hooks.should_stop() ? 1 : 0;
  ranks.all_reduce_max(std::span(&told, 1));
  return told != 0;
}

Remains::Remains(const Findings& found, const ProbeHooks& hooks,
                 std::function<ClusterProbe(const Findings& left)> conclude) {
  if (!hooks.on_remains) return;
  state_ = std::make_shared<State>();
  state_->found = found;
  hooks.on_remains([state = state_, conclude = std::move(conclude)](const std::map<int, std::string>& lost) {
    Findings left;
    {
      const std::lock_guard lock(state->mutex);
      left = state->found;
    }
    left.lost = lost;
    return conclude(left);
  });
}

void Remains::add(const std::vector<ProbeResult>& results) {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->found.add(results);
}

}  // namespace sextant::inline probes
