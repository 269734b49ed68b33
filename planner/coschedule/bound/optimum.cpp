#include "planner/coschedule/bound/optimum.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "planner/coschedule/bound/cheapest_group.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/exact/set_cover.h"

namespace sextant::coschedule {
namespace {

constexpr std::size_t kMaxExactJobs = 16;

using Set = std::uint32_t;

// The cheapest group of every set of at most max_members jobs that can share one.
class Groups {
 public:
  Groups(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow)
      : jobs_(jobs), pools_(pools), training_may_grow_(training_may_grow) {
    by_lowest_.resize(jobs.size());
    extend(0, 0);
  }

  struct Possible {
    Set jobs;
    double usd;
    Group group;
  };
  [[nodiscard]] const std::vector<Possible>& with_lowest(std::size_t job) const { return by_lowest_[job]; }

 private:
  void extend(Set set, std::size_t first) {
    if (std::popcount(set) >= pools_.max_members) return;
    for (std::size_t j = first; j < jobs_.size(); ++j) {
      const Set with = set | Set{1} << j;
      std::vector<const Job*> members;
      for (std::size_t k = 0; k < jobs_.size(); ++k) {
        if ((with >> k & 1U) != 0) members.push_back(&jobs_[k]);
      }
      if (std::optional<Group> group = cheapest_group(members, pools_, training_may_grow_)) {
        const auto lowest = static_cast<std::size_t>(std::countr_zero(with));
        const double usd = group->usd_per_hour(pools_);
        by_lowest_[lowest].push_back({with, usd, *std::move(group)});
      }
      extend(with, j + 1);
    }
  }

  const std::vector<Job>& jobs_;
  const Pools& pools_;
  bool training_may_grow_;
  std::vector<std::vector<Possible>> by_lowest_;
};

Optimum by_sets(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow) {
  const Groups groups(jobs, pools, training_may_grow);
  const Set all = (Set{1} << jobs.size()) - 1;
  std::vector<double> usd(std::size_t{all} + 1, std::numeric_limits<double>::infinity());
  std::vector<const Groups::Possible*> last(usd.size(), nullptr);
  usd[0] = 0;
  // usd[done]: the cheapest way to place these jobs, always with the lowest job that is left next.
  for (Set done = 0; done < all; ++done) {
    if (usd[done] == std::numeric_limits<double>::infinity()) continue;
    const auto next = static_cast<std::size_t>(std::countr_one(done));
    for (const Groups::Possible& possible : groups.with_lowest(next)) {
      if ((possible.jobs & done) != 0) continue;
      const Set with = done | possible.jobs;
      if (usd[done] + possible.usd >= usd[with]) continue;
      usd[with] = usd[done] + possible.usd;
      last[with] = &possible;
    }
  }
  Optimum optimum{{pools, {}}, usd[all]};
  for (Set left = all; left != 0 && last[left] != nullptr; left &= ~last[left]->jobs) {
    Group group = last[left]->group;
    group.name = "group-" + std::to_string(optimum.placement.groups.size() + 1);
    optimum.placement.groups.push_back(std::move(group));
  }
  return optimum;
}

// The cheapest groups of sets that cover all jobs, each job in one of them.
class CoveringGroups {
 public:
  CoveringGroups(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow)
      : jobs_(jobs), pools_(pools), training_may_grow_(training_may_grow) {}

  [[nodiscard]] Placement placement(const std::vector<CostedSet>& cover) {
    for (const CostedSet& set : cover) add(set.elements);
    for (std::size_t job = 0; job < jobs_.size(); ++job) keep_one(static_cast<int>(job));
    Placement placement{pools_, {}};
    for (Covering& one : groups_) {
      if (!one.group) continue;
      one.group->name = "group-" + std::to_string(placement.groups.size() + 1);
      placement.groups.push_back(*std::move(one.group));
    }
    return placement;
  }

 private:
  struct Covering {
    std::vector<int> jobs;
    std::optional<Group> group;  // empty without jobs
  };

  [[nodiscard]] std::optional<Group> cheapest(const std::vector<int>& jobs) const {
    std::vector<const Job*> members;
    for (const int job : jobs) members.push_back(&jobs_[static_cast<std::size_t>(job)]);
    return members.empty() ? std::nullopt : cheapest_group(members, pools_, training_may_grow_);
  }

  // A set that no turns can keep, which the relaxation does not know, becomes a group of each job alone.
  void add(const std::vector<int>& jobs) {
    std::optional<Group> group = cheapest(jobs);
    if (group) {
      groups_.push_back({jobs, std::move(group)});
      return;
    }
    for (const int job : jobs) groups_.push_back({{job}, cheapest({job})});
  }

  // Takes the job out of all groups but the one in which it costs least.
  void keep_one(int job) {
    std::vector<std::size_t> with;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::vector<int>& jobs = groups_[g].jobs;
      if (std::find(jobs.begin(), jobs.end(), job) != jobs.end()) with.push_back(g);
    }
    while (with.size() > 1) {
      std::size_t best = 0;
      double saved = -1;
      Covering left;
      for (std::size_t i = 0; i < with.size(); ++i) {
        const Covering& before = groups_[with[i]];
        Covering after{before.jobs, {}};
        std::erase(after.jobs, job);
        after.group = cheapest(after.jobs);
        const double usd =
            before.group->usd_per_hour(pools_) - (after.group ? after.group->usd_per_hour(pools_) : 0);
        if (usd <= saved) continue;
        best = i;
        saved = usd;
        left = std::move(after);
      }
      groups_[with[best]] = std::move(left);
      with.erase(with.begin() + static_cast<std::ptrdiff_t>(best));
    }
  }

  const std::vector<Job>& jobs_;
  const Pools& pools_;
  bool training_may_grow_;
  std::vector<Covering> groups_;
};

Optimum by_relaxation(const std::vector<Job>& jobs, const Pools& pools, const Placement& start,
                      const BoundBudget& budget, bool training_may_grow) {
  const RelaxedPlacements relaxed = relax_placements(jobs, pools, start.groups, budget, training_may_grow);
  Optimum optimum{start, relaxed.bound.usd_per_hour};
  if (!relaxed.groups.has_solver()) return optimum;
  Placement found = CoveringGroups(jobs, pools, training_may_grow).placement(relaxed.groups.cover());
  if (start.groups.empty() || found.usd_per_hour() < start.usd_per_hour()) optimum.placement = std::move(found);
  return optimum;
}

}  // namespace

Optimum cheapest_placement(const std::vector<Job>& jobs, const Pools& pools, const Placement& start,
                           const BoundBudget& budget, bool training_may_grow) {
  if (jobs.empty()) return {{pools, {}}, 0};
  if (jobs.size() <= kMaxExactJobs) return by_sets(jobs, pools, training_may_grow);
  return by_relaxation(jobs, pools, start, budget, training_may_grow);
}

}  // namespace sextant::coschedule
