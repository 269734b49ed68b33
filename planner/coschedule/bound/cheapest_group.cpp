#include "planner/coschedule/bound/cheapest_group.h"

#include <algorithm>
#include <limits>

#include "planner/coschedule/round_robin.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

// Pins one job after the other.
class Pinning {
 public:
  Pinning(std::span<const Job* const> jobs, const Pools& pools, int nodes, double period_s, int& steps_left,
          const std::function<bool(const std::vector<std::vector<int>>&)>& look)
      : jobs_(jobs),
        limit_s_(period_s * (1 + kRounding)),
        host_(pools.rollout),
        look_(look),
        load_s_(static_cast<std::size_t>(nodes), 0.0),
        bytes_(static_cast<std::size_t>(nodes), 0.0),
        pinned_(jobs.size()),
        steps_left_(steps_left) {}

  bool run() { return pin(0, 0); }

 private:
  bool pin(std::size_t job, int used) {
    if (job == jobs_.size()) return look_(pinned_);
    return choose(job, used, 0, jobs_[job]->rollout_nodes);
  }

  // `left` more nodes from `first` on; of unused nodes the lowest.
  bool choose(std::size_t job, int used, int first, int left) {
    if (left == 0) return pin(job + 1, used);
    if (--steps_left_ < 0) return false;
    const int last = std::min(used, static_cast<int>(load_s_.size()) - 1);
    for (int node = first; node <= last; ++node) {
      const auto at = static_cast<std::size_t>(node);
      const double load_s = load_s_[at], bytes = bytes_[at];
      load_s_[at] += jobs_[job]->rollout_s;
      bytes_[at] += jobs_[job]->rollout_host_bytes;
      pinned_[job].push_back(node);
      if (load_s_[at] <= limit_s_ && host_.holds(bytes_[at]) &&
          choose(job, std::max(used, node + 1), node + 1, left - 1))
        return true;
      pinned_[job].pop_back();
      load_s_[at] = load_s;
      bytes_[at] = bytes;
    }
    return false;
  }

  std::span<const Job* const> jobs_;
  double limit_s_;
  const Pool& host_;
  const std::function<bool(const std::vector<std::vector<int>>&)>& look_;
  std::vector<double> load_s_, bytes_;  // by node
  std::vector<std::vector<int>> pinned_;
  int& steps_left_;
};

struct Size {
  int rollout_nodes, training_nodes;
  double usd;
};

// Every size from what the largest job needs on, cheapest first.
std::vector<Size> sizes_of(std::span<const Job* const> jobs, const Pools& pools, bool training_may_grow) {
  int max_rollout = 0, rollout = 0;
  for (const Job* job : jobs) {
    max_rollout = std::max(max_rollout, job->rollout_nodes);
    rollout += job->rollout_nodes;
  }
  std::vector<Size> sizes;
  for (int t = max_training_nodes(jobs, false); t <= max_training_nodes(jobs, training_may_grow); ++t) {
    for (int r = max_rollout; r <= rollout; ++r) sizes.push_back({r, t, pools.usd_per_hour(r, t)});
  }
  std::stable_sort(sizes.begin(), sizes.end(), [](const Size& a, const Size& b) { return a.usd < b.usd; });
  return sizes;
}

}  // namespace

bool any_pinning(std::span<const Job* const> jobs, const Pools& pools, int rollout_nodes, double period_s,
                 int& steps_left, const std::function<bool(const std::vector<std::vector<int>>&)>& look) {
  return Pinning(jobs, pools, rollout_nodes, period_s, steps_left, look).run();
}

int max_training_nodes(std::span<const Job* const> jobs, bool training_may_grow) {
  int largest = 1, all = 0;
  for (const Job* job : jobs) {
    largest = std::max(largest, job->training_nodes);
    all += job->training_nodes;
  }
  return training_may_grow ? all : largest;
}

std::optional<Group> cheapest_group(std::span<const Job* const> jobs, const Pools& pools,
                                    bool training_may_grow) {
  if (jobs.size() > static_cast<std::size_t>(kMaxMembers))
    throw_machine_failed("groups of more than " + std::to_string(kMaxMembers) + " jobs are not enumerated");
  double limit_s = std::numeric_limits<double>::infinity(), longest_s = 0, sync_s = 0, host_bytes = 0;
  for (const Job* job : jobs) {
    limit_s = std::min(limit_s, job->max_iteration_s());
    longest_s = std::max(longest_s, job->rollout_s + job->sync_s);
    sync_s += job->sync_s;
    host_bytes += job->training_host_bytes;
  }
  limit_s *= 1 + kRounding;
  if (longest_s > limit_s || sync_s > limit_s || !pools.training.holds(host_bytes) ||
      static_cast<int>(jobs.size()) > pools.max_members)
    return std::nullopt;
  int steps_left = kMaxPinningSteps;
  for (const Size& size : sizes_of(jobs, pools, training_may_grow)) {
    double training_s = 0;
    for (const Job* job : jobs) training_s += job->training_s_on(size.training_nodes);
    double rollout_s = 0;  // of all nodes
    for (const Job* job : jobs) rollout_s += job->rollout_s * job->rollout_nodes;
    if (training_s > limit_s || rollout_s > limit_s * size.rollout_nodes) continue;
    Group group{"", size.rollout_nodes, size.training_nodes, {}};
    for (const Job* job : jobs) group.members.push_back({*job, {}});
    const bool fits = any_pinning(jobs, pools, size.rollout_nodes, limit_s, steps_left, [&](const auto& nodes) {
      for (std::size_t m = 0; m < nodes.size(); ++m) group.members[m].rollout_nodes = nodes[m];
      return best_turns(group, limit_s).period_s <= limit_s;
    });
    if (!fits) continue;
    return in_order(group, best_turns(group, limit_s).order);
  }
  return std::nullopt;
}

}  // namespace sextant::coschedule
