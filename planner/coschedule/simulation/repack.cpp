#include "planner/coschedule/simulation/repack.h"

#include <algorithm>
#include <map>
#include <set>

#include "planner/coschedule/bound/optimum.h"
#include "planner/coschedule/place.h"
#include "planner/coschedule/rounds.h"

namespace sextant::coschedule {
namespace {

int pinned_nodes(const Group& group) {
  int nodes = 0;
  for (const Member& member : group.members) nodes += member.job.rollout_nodes;
  return nodes;
}

// The group and those with the most free time, as many as have max_jobs jobs together. Jobs of many nodes have too
// many pinnings to try.
std::vector<std::size_t> neighbours_of(const Placement& placement, std::string_view group, int max_jobs) {
  std::vector<std::size_t> chosen;
  std::vector<std::pair<double, std::size_t>> others;  // share of the time that the bottleneck is used
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const Group& of = placement.groups[g];
    if (of.name == group) {
      chosen.push_back(g);
    } else {
      others.emplace_back(load_s(of) / max_iteration_s(of), g);
    }
  }
  std::stable_sort(others.begin(), others.end());
  constexpr int kMaxPinnedNodes = 24;
  std::size_t jobs = chosen.empty() ? 0 : placement.groups[chosen.front()].members.size();
  int nodes = chosen.empty() ? 0 : pinned_nodes(placement.groups[chosen.front()]);
  if (nodes > kMaxPinnedNodes) return {};
  for (const auto& [used, g] : others) {
    const std::size_t more = placement.groups[g].members.size();
    const int more_nodes = pinned_nodes(placement.groups[g]);
    if (jobs + more > static_cast<std::size_t>(max_jobs) || nodes + more_nodes > kMaxPinnedNodes) continue;
    jobs += more;
    nodes += more_nodes;
    chosen.push_back(g);
  }
  return chosen;
}

// Gives a new group the name of an old one, and its nodes the numbers with which most members stay where they are.
class Successor {
 public:
  Successor(const Group& old, Group next) : old_(old), next_(std::move(next)) {
    next_.name = old.name;
    if (next_.training_nodes != old.training_nodes) return;
    std::vector<std::size_t> members;
    for (std::size_t m = 0; m < next_.members.size(); ++m) {
      if (old_nodes(next_.members[m].job.name) != nullptr) members.push_back(m);
    }
    for (const std::size_t m : members) keep(next_.members[m]);
  }

  // Members that need not move.
  [[nodiscard]] const std::set<std::string>& staying() const { return staying_; }

  [[nodiscard]] Group group() {
    // Nodes that no member keeps take the numbers that are left.
    int next_number = 0;
    for (int node = 0; node < next_.rollout_nodes; ++node) {
      if (number_.contains(node)) continue;
      while (taken_.contains(next_number)) ++next_number;
      number_[node] = next_number;
      taken_.insert(next_number);
    }
    // Numbers are closed up: an old node that nobody uses is given back.
    std::map<int, int> closed;
    int used = 0;
    for (const int number : taken_) closed[number] = used++;
    for (Member& member : next_.members) {
      for (int& node : member.rollout_nodes) node = closed.at(number_.at(node));
      std::sort(member.rollout_nodes.begin(), member.rollout_nodes.end());
    }
    return next_;
  }

 private:
  [[nodiscard]] const std::vector<int>* old_nodes(const std::string& job) const {
    const auto found = std::find_if(old_.members.begin(), old_.members.end(),
                                    [&](const Member& member) { return member.job.name == job; });
    return found == old_.members.end() ? nullptr : &found->rollout_nodes;
  }

  void keep(const Member& member) {
    const std::vector<int>& before = *old_nodes(member.job.name);
    std::map<int, int> more;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const int node = member.rollout_nodes[i];
      const auto known = number_.find(node);
      if (known != number_.end() ? known->second != before[i] : taken_.contains(before[i])) return;
      if (known == number_.end()) more[node] = before[i];
    }
    for (const auto& [node, number] : more) {
      number_[node] = number;
      taken_.insert(number);
    }
    staying_.insert(member.job.name);
  }

  const Group& old_;
  Group next_;
  std::map<int, int> number_;  // of the new nodes
  std::set<int> taken_;
  std::set<std::string> staying_;
};

// An old group and the new one that takes its name and, as far as it can, its nodes.
struct Succession {
  double kept_usd_per_hour;  // of jobs that need not move
  std::size_t next;          // of the new groups
  std::size_t old;           // position in the placement
};

// All pairs, those that save the most restarts first.
std::vector<Succession> successions(const Placement& placement, const std::vector<std::size_t>& old_groups,
                                    const std::vector<Group>& next) {
  std::map<std::string, std::size_t> group_of;
  for (const std::size_t g : old_groups) {
    for (const Member& member : placement.groups[g].members) group_of[member.job.name] = g;
  }
  std::vector<Succession> all;
  for (std::size_t n = 0; n < next.size(); ++n) {
    std::set<std::size_t> sharing;
    for (const Member& member : next[n].members) sharing.insert(group_of.at(member.job.name));
    for (const std::size_t g : sharing) {
      const Successor successor(placement.groups[g], next[n]);
      double kept = 0;
      for (const Member& member : next[n].members) {
        if (successor.staying().contains(member.job.name)) kept += placement.pools.usd_per_hour(member.job);
      }
      if (kept > 0) all.push_back({kept, n, g});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Succession& a, const Succession& b) {
    return a.kept_usd_per_hour > b.kept_usd_per_hour;
  });
  return all;
}

// Gives the new groups the names of old ones, so that few jobs restart; others get new names.
class Replacement {
 public:
  Replacement(const Placement& placement, Repacked& repacked, std::vector<Group> next)
      : placement_(placement),
        repacked_(repacked),
        next_(std::move(next)),
        is_placed_(next_.size()),
        free_(repacked.old_groups.begin(), repacked.old_groups.end()) {}

  // Returns the names of jobs that need not move.
  [[nodiscard]] std::set<std::string> run() {
    for (const Succession& one : successions(placement_, repacked_.old_groups, next_)) {
      if (!is_placed_[one.next] && free_.contains(one.old)) succeed(one.next, one.old);
    }
    Placement with_new = placement_;  // for names
    for (std::size_t n = 0; n < next_.size(); ++n) {
      if (is_placed_[n]) continue;
      if (!free_.empty()) {
        succeed(n, *free_.begin());
        continue;
      }
      next_[n].name = group_alone(with_new, next_[n].members.front().job).name;
      with_new.groups.push_back(next_[n]);
      repacked_.new_groups.push_back(std::move(next_[n]));
    }
    return std::move(staying_);
  }

 private:
  void succeed(std::size_t next, std::size_t old) {
    Successor successor(placement_.groups[old], next_[next]);
    staying_.insert(successor.staying().begin(), successor.staying().end());
    repacked_.new_groups.push_back(successor.group());
    is_placed_[next] = true;
    free_.erase(old);
  }

  const Placement& placement_;
  Repacked& repacked_;
  std::vector<Group> next_;
  std::vector<bool> is_placed_;
  std::set<std::size_t> free_;
  std::set<std::string> staying_;
};

// Regroups the jobs of repacked.old_groups by `cheapest`, if that pays.
template <typename Cheapest>
std::optional<Repacked> regrouped(const Placement& placement, Repacked repacked,
                                  const std::function<bool(const Job&)>& may_restart, const RepackRules& rules,
                                  Cheapest cheapest) {
  const Pools& pools = placement.pools;
  Placement present{pools, {}};
  for (const std::size_t g : repacked.old_groups) present.groups.push_back(placement.groups[g]);
  const std::vector<Job> jobs = present.jobs();
  if (jobs.size() < 2) return std::nullopt;
  Placement best = cheapest(jobs, present);
  const double before = present.usd_per_hour();
  repacked.saved_usd_per_hour = before - best.usd_per_hour();
  if (!rules.accepts_any && repacked.saved_usd_per_hour <= kRounding * before) return std::nullopt;
  const std::set<std::string> staying = Replacement(placement, repacked, std::move(best.groups)).run();
  double restarts_usd = 0;
  for (const Job& job : jobs) {
    if (staying.contains(job.name)) continue;
    if (!may_restart(job)) return std::nullopt;
    restarts_usd += pools.usd_per_hour(job) * rules.restart_s / 3600;
    repacked.restarted.push_back(job.name);
  }
  if (!rules.accepts_any && repacked.saved_usd_per_hour * rules.horizon_s / 3600 <= restarts_usd)
    return std::nullopt;
  for (Group& group : repacked.new_groups) {
    if (rules.may_repeat) group.turns = repeated_turns(group);
  }
  return repacked;
}

}  // namespace

std::optional<Repacked> repack(const Placement& placement, std::string_view group,
                               const std::function<bool(const Job&)>& may_restart, const RepackRules& rules) {
  Repacked repacked;
  repacked.old_groups = neighbours_of(placement, group, rules.max_jobs);
  std::size_t jobs = 0;
  for (const std::size_t g : repacked.old_groups) jobs += placement.groups[g].members.size();
  if (jobs > static_cast<std::size_t>(rules.max_jobs)) return std::nullopt;
  return regrouped(placement, std::move(repacked), may_restart, rules,
                   [&](const std::vector<Job>& of, const Placement&) {
                     return cheapest_placement(of, placement.pools, {placement.pools, {}}, {0}).placement;
                   });
}

std::optional<Repacked> repack_all(const Placement& placement,
                                   const std::function<bool(const Job&)>& may_restart, const RepackRules& rules,
                                   const BoundBudget& budget) {
  Repacked repacked;
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    const std::vector<Member>& members = placement.groups[g].members;
    if (std::all_of(members.begin(), members.end(),
                    [&](const Member& member) { return may_restart(member.job); }))
      repacked.old_groups.push_back(g);
  }
  return regrouped(placement, std::move(repacked), may_restart, rules,
                   [&](const std::vector<Job>& of, const Placement& present) {
                     return cheapest_placement(of, placement.pools, present, budget).placement;
                   });
}

void take(Placement& placement, Repacked repacked) {
  std::sort(repacked.old_groups.rbegin(), repacked.old_groups.rend());
  for (const std::size_t g : repacked.old_groups)
    placement.groups.erase(placement.groups.begin() + static_cast<std::ptrdiff_t>(g));
  for (Group& group : repacked.new_groups) placement.groups.push_back(std::move(group));
}

}  // namespace sextant::coschedule
