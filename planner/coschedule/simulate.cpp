#include "planner/coschedule/simulate.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <queue>
#include <unordered_map>

#include "planner/coschedule/document_fields.h"
#include "planner/coschedule/repack.h"
#include "planner/coschedule/round_robin.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

// A group as it runs: phases of typical iterations.
Group typical(Group group) {
  for (Member& member : group.members) {
    member.job.rollout_s *= member.job.typical_fraction;
    member.job.training_s *= member.job.typical_fraction;
  }
  return group;
}

std::vector<int> own_order(const Group& group) {
  std::vector<int> order(group.members.size());
  for (std::size_t m = 0; m < order.size(); ++m) order[m] = static_cast<int>(m);
  return order;
}

double typical_solo_s(const Job& job) {
  return (job.rollout_s + job.training_s) * job.typical_fraction + job.sync_s;
}

struct Running {
  std::size_t job = 0;  // position in the trace
  double left_s = 0;    // of its duration alone
  double rate = 1;      // of that, in a second
  double since_s = 0;   // when left_s was right
  double min_rate = 1;
  Decision decision = Decision::new_group;
  std::uint64_t version = 0;
};

struct End {
  double time_s = 0;
  std::string name;
  std::uint64_t version = 0;
  bool operator>(const End& other) const { return time_s > other.time_s; }
};

class Simulator {
 public:
  Simulator(const JobTrace& trace, const Policy& policy, const SimulationOptions& options)
      : trace_(trace), policy_(policy), options_(options), random_(options.seed) {
    placement_.pools = trace.pools;
    result_.policy = std::string(policy.name);
    result_.seed = options.seed;
  }

  Simulation run() {
    std::size_t next = 0;
    if (!trace_.jobs.empty()) begin_s_ = now_s_ = trace_.jobs.front().arrival_s;
    while (next < trace_.jobs.size() || !running_.empty()) {
      if (options_.is_cancelled != nullptr && options_.is_cancelled->load(std::memory_order_relaxed)) {
        result_.was_interrupted = true;
        break;
      }
      drop_outdated_ends();
      const double end_s = ends_.empty() ? std::numeric_limits<double>::infinity() : ends_.top().time_s;
      if (next < trace_.jobs.size() && trace_.jobs[next].arrival_s <= end_s) {
        pass_until(trace_.jobs[next].arrival_s);
        arrive(next++);
      } else {
        pass_until(end_s);
        end(ends_.top().name);
      }
    }
    return finished();
  }

 private:
  void drop_outdated_ends() {
    while (!ends_.empty()) {
      const auto found = running_.find(ends_.top().name);
      if (found != running_.end() && found->second.version == ends_.top().version) return;
      ends_.pop();
    }
  }

  void pass_until(double time_s) {
    const double seconds = time_s - now_s_;
    if (seconds > 0) {
      usd_ += usd_per_hour_ * seconds / 3600;
      rollout_paid_s_ += rollout_nodes_ * seconds;
      training_paid_s_ += training_nodes_ * seconds;
      rollout_busy_s_ += rollout_busy_ * seconds;
      training_busy_s_ += training_busy_ * seconds;
      if (options_.on_state) options_.on_state(placement_, seconds);
    }
    now_s_ = time_s;
  }

  void arrive(std::size_t number) {
    const Job& job = trace_.jobs[number];
    const auto began = std::chrono::steady_clock::now();
    PlacementAnswer answer = policy_.place(placement_, job, random_);
    decision_s_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (!answer.is_placed) {
      ++result_.refused;
      return;
    }
    ++result_.decisions[std::string(name_of(answer.chosen.decision))];
    running_[job.name] = {number, job.duration_s, 1, now_s_, 1, answer.chosen.decision, 0};
    leave_sums(answer.at ? &placement_.groups[*answer.at] : nullptr);
    take(placement_, std::move(answer));
    settle(*placement_.group_of(job.name));
    if (policy_.repacks) regroup(std::string(placement_.group_of(job.name)->name));
    note();
  }

  void end(const std::string& name) {
    const Running run = running_.at(name);
    running_.erase(name);
    const Group* group = placement_.group_of(name);
    const std::string group_name = group->name;
    leave_sums(group);
    remove_job(placement_, name);
    for (const Group& left : placement_.groups) {
      if (left.name == group_name) settle(left);
    }
    finish_job(run);
    if (policy_.repacks) regroup(group_name);
    note();
  }

  // A job may stand still if it is ahead of what it was promised by that much, or if it has just come.
  void regroup(const std::string& name) {
    const RepackRules rules;
    const auto may_restart = [&](const Job& job) {
      const Running& run = running_.at(job.name);
      const double elapsed_s = now_s_ - trace_.jobs[run.job].arrival_s;
      const double done_s = job.duration_s - run.left_s + run.rate * (now_s_ - run.since_s);
      return elapsed_s <= 0 || job.max_slowdown * done_s - elapsed_s >= rules.restart_s;
    };
    std::optional<Repacked> better = repack(placement_, name, may_restart, rules);
    if (!better) return;
    for (const std::size_t g : better->old_groups) leave_sums(&placement_.groups[g]);
    std::vector<std::string> changed;
    for (const Group& group : better->new_groups) changed.push_back(group.name);
    const std::vector<std::string> restarted = better->restarted;
    take(placement_, *std::move(better));
    for (const Group& group : placement_.groups) {
      if (std::find(changed.begin(), changed.end(), group.name) != changed.end()) settle(group);
    }
    for (const std::string& job : restarted) {
      Running& run = running_.at(job);
      if (now_s_ <= trace_.jobs[run.job].arrival_s) continue;
      ++result_.restarts;
      run.left_s += rules.restart_s * run.rate;
      ends_.push({now_s_ + run.left_s / run.rate, job, ++run.version});
    }
  }

  // The group's nodes and work, which change with its members, are taken out of the sums, and added by settle.
  void leave_sums(const Group* group) {
    if (group == nullptr) return;
    add(*group, -1);
    sums_.erase(group->name);
  }

  void add(const Group& group, double sign) {
    const Sums& sums = sums_[group.name];
    usd_per_hour_ += sign * group.usd_per_hour(placement_.pools);
    rollout_nodes_ += sign * group.rollout_nodes;
    training_nodes_ += sign * group.training_nodes;
    rollout_busy_ += sign * sums.rollout_busy;
    training_busy_ += sign * sums.training_busy;
  }

  // New rates for all members of a group that has changed.
  void settle(const Group& group) {
    const Group runs = typical(group);
    const double period_s = turns_in_order(runs, own_order(runs)).period_s;
    Sums& sums = sums_[group.name];
    sums = {};
    const std::vector<Phases> phases = phases_of(runs);
    for (std::size_t m = 0; m < phases.size(); ++m) {
      const Job& job = group.members[m].job;
      sums.rollout_busy += phases[m].rollout_s / period_s * job.rollout_nodes;
      sums.training_busy += phases[m].training_s / period_s * group.training_nodes;
      Running& run = running_.at(job.name);
      run.left_s = std::max(0.0, run.left_s - run.rate * (now_s_ - run.since_s));
      run.since_s = now_s_;
      run.rate = typical_solo_s(job) / period_s;
      run.min_rate = std::min(run.min_rate, run.rate);
      ends_.push({now_s_ + run.left_s / run.rate, job.name, ++run.version});
    }
    add(group, 1);
  }

  void finish_job(const Running& run) {
    const Job& job = trace_.jobs[run.job];
    SimulatedJob done{job.name, std::string(name_of(run.decision)), job.arrival_s, now_s_};
    done.slowdown = job.duration_s > 0 ? (now_s_ - job.arrival_s) / job.duration_s : 1;
    done.max_slowdown_seen = 1 / run.min_rate;
    constexpr double kTolerance = 1e-6;
    done.kept = done.slowdown <= job.max_slowdown * (1 + kTolerance);
    ++ended_;
    kept_ += done.kept ? 1 : 0;
    slowdown_sum_ += done.slowdown;
    if (options_.keeps_jobs) result_.jobs.push_back(std::move(done));
  }

  void note() {
    const auto jobs = static_cast<int>(running_.size());
    result_.max_rollout_nodes = std::max(result_.max_rollout_nodes, static_cast<int>(rollout_nodes_));
    result_.max_training_nodes = std::max(result_.max_training_nodes, static_cast<int>(training_nodes_));
    result_.max_jobs = std::max(result_.max_jobs, jobs);
    if (options_.keeps_jobs)
      result_.states.push_back({now_s_, std::max(0.0, usd_per_hour_), static_cast<int>(rollout_nodes_),
                                static_cast<int>(training_nodes_), jobs});
  }

  Simulation finished() {
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    result_.duration_s = now_s_ - begin_s_;
    result_.total_usd = usd_;
    result_.mean_usd_per_hour = share(usd_ * 3600, result_.duration_s);
    result_.kept_fraction = ended_ > 0 ? share(kept_, ended_) : 1;
    result_.mean_slowdown = ended_ > 0 ? share(slowdown_sum_, ended_) : 1;
    result_.rollout_busy_fraction = share(rollout_busy_s_, rollout_paid_s_);
    result_.training_busy_fraction = share(training_busy_s_, training_paid_s_);
    if (!decision_s_.empty()) {
      std::sort(decision_s_.begin(), decision_s_.end());
      result_.decision_p50_s = decision_s_[decision_s_.size() / 2];
      result_.decision_p99_s = decision_s_[decision_s_.size() * 99 / 100];
    }
    return std::move(result_);
  }

  struct Sums {
    double rollout_busy = 0, training_busy = 0;  // nodes, on average
  };

  const JobTrace& trace_;
  const Policy& policy_;
  const SimulationOptions& options_;
  Random random_;
  Placement placement_;
  Simulation result_;
  double begin_s_ = 0, now_s_ = 0;
  std::unordered_map<std::string, Running> running_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::unordered_map<std::string, Sums> sums_;  // by group
  double usd_per_hour_ = 0, rollout_nodes_ = 0, training_nodes_ = 0, rollout_busy_ = 0, training_busy_ = 0;
  double usd_ = 0, rollout_paid_s_ = 0, training_paid_s_ = 0, rollout_busy_s_ = 0, training_busy_s_ = 0;
  double ended_ = 0, kept_ = 0, slowdown_sum_ = 0;
  std::vector<double> decision_s_;
};

}  // namespace

Simulation Simulation::parse(const JsonView& view) { return parse_fields(view, simulation_fields()); }
Json Simulation::to_json() const { return fields_to_json(*this, simulation_fields()); }

Simulation simulate(const JobTrace& trace, const Policy& policy, const SimulationOptions& options) {
  return Simulator(trace, policy, options).run();
}

}  // namespace sextant::coschedule
