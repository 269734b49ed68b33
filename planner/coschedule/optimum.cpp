#include "planner/coschedule/optimum.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <map>

#include "planner/coschedule/cheapest_group.h"
#include "planner/coschedule/cost_bound.h"

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

}  // namespace

Optimum cheapest_placement(const std::vector<Job>& jobs, const Pools& pools, const Placement& start,
                           double budget_s, bool training_may_grow) {
  if (jobs.empty()) return {{pools, {}}, 0};
  if (jobs.size() <= kMaxExactJobs) return by_sets(jobs, pools, training_may_grow);
  return {start, min_usd_per_hour(jobs, pools, start.groups, budget_s, training_may_grow).usd_per_hour};
}

}  // namespace sextant::coschedule
