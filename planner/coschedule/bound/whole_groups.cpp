#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "planner/coschedule/bound/cheapest_group.h"
#include "planner/coschedule/bound/cost_bound.h"

namespace sextant::coschedule {
namespace {

using JobSet = std::uint32_t;
using Members = std::vector<const Job*>;

constexpr double kImpossible = std::numeric_limits<double>::infinity();

// Steps of the budget, by what they take.
constexpr std::int64_t kPerWholeSize = 100;  // one size of the group of a set
constexpr std::int64_t kPerWholePinning = 10;
constexpr std::int64_t kPerWholeChoice = 2;  // one group that is added to a set

// The shortest iteration that a member allows.
double period_s_of(const Members& members) {
  double period_s = kImpossible;
  for (const Job* job : members) period_s = std::min(period_s, job->max_iteration_s());
  return period_s * (1 + kRounding);
}

// Whether the phases of all members fit into a period on that many nodes, whatever the order of their turns. A search
// for nodes that is not finished counts as found.
bool may_share(const Members& members, const Pools& pools, int rollout_nodes, int training_nodes,
               WorkBudget& budget) {
  const double period_s = period_s_of(members);
  double rollout_s = 0, training_s = 0, sync_s = 0, bytes = 0;
  for (const Job* job : members) {
    const double trains_s = job->training_s_on(training_nodes);
    if (job->rollout_s + trains_s + job->sync_s > period_s) return false;
    rollout_s += job->rollout_s * job->rollout_nodes;
    training_s += trains_s;
    sync_s += job->sync_s;
    bytes += job->training_host_bytes;
  }
  if (training_s > period_s || sync_s > period_s || rollout_s > period_s * rollout_nodes ||
      !pools.training.holds(bytes))
    return false;
  int steps_left = kMaxPinningSteps;
  const bool has_pinning =
      any_pinning(members, pools, rollout_nodes, period_s, steps_left, [](const auto&) { return true; });
  budget.spend(kPerWholePinning * (kMaxPinningSteps - steps_left));
  return has_pinning || steps_left < 0;
}

// The cost of the smallest group that these jobs may share.
double min_usd(const Members& members, const Pools& pools, bool training_may_grow, WorkBudget& budget) {
  int widest = 0, all = 0;
  for (const Job* job : members) {
    widest = std::max(widest, job->rollout_nodes);
    all += job->rollout_nodes;
  }
  double least = kImpossible;
  for (int training = max_training_nodes(members, false);
       training <= max_training_nodes(members, training_may_grow); ++training) {
    for (int rollout = widest; rollout <= all; ++rollout) {
      const double usd = pools.usd_per_hour(rollout, training);
      if (usd >= least) break;
      budget.spend(kPerWholeSize);
      if (may_share(members, pools, rollout, training, budget)) least = usd;
    }
  }
  return least;
}

class WholeGroups {
 public:
  WholeGroups(const std::vector<Job>& jobs, const Pools& pools, bool training_may_grow, WorkBudget& budget)
      : jobs_(jobs),
        pools_(pools),
        training_may_grow_(training_may_grow),
        budget_(budget),
        by_lowest_(jobs.size()) {}

  [[nodiscard]] std::optional<double> min_usd_of_all() {
    extend(0, 0);
    if (budget_.is_over()) return std::nullopt;
    const JobSet all = (JobSet{1} << jobs_.size()) - 1;
    std::vector<double> usd(std::size_t{all} + 1, kImpossible);
    usd[0] = 0;
    // usd[done]: the least for these jobs; the group of the lowest job that is left is next.
    for (JobSet done = 0; done < all; ++done) {
      if (usd[done] == kImpossible) continue;
      const std::vector<Priced>& next = by_lowest_[static_cast<std::size_t>(std::countr_one(done))];
      for (const Priced& group : next) {
        if ((group.jobs & done) != 0) continue;
        double& with = usd[done | group.jobs];
        with = std::min(with, usd[done] + group.usd);
      }
      budget_.spend(kPerWholeChoice * static_cast<std::int64_t>(next.size()));
      if (budget_.is_over()) return std::nullopt;
    }
    if (usd[all] == kImpossible) return std::nullopt;  // a job that no pool can hold
    return usd[all];
  }

 private:
  struct Priced {
    JobSet jobs;
    double usd;
  };

  void extend(JobSet set, std::size_t first) {
    if (std::popcount(set) >= pools_.max_members) return;
    for (std::size_t j = first; j < jobs_.size() && !budget_.is_over(); ++j) {
      const JobSet with = set | JobSet{1} << j;
      members_.push_back(&jobs_[j]);
      const double usd = min_usd(members_, pools_, training_may_grow_, budget_);
      if (usd < kImpossible)
        by_lowest_[static_cast<std::size_t>(std::countr_zero(with))].push_back({with, usd});
      extend(with, j + 1);
      members_.pop_back();
    }
  }

  const std::vector<Job>& jobs_;
  const Pools& pools_;
  bool training_may_grow_;
  WorkBudget& budget_;
  Members members_;
  std::vector<std::vector<Priced>> by_lowest_;  // groups by their lowest job
};

}  // namespace

std::optional<double> min_usd_in_whole_groups(const std::vector<Job>& jobs, const Pools& pools,
                                              bool training_may_grow, WorkBudget& budget) {
  if (jobs.size() > kMaxWholeJobs) return std::nullopt;
  return WholeGroups(jobs, pools, training_may_grow, budget).min_usd_of_all();
}

}  // namespace sextant::coschedule
