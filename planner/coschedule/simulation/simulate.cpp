#include "planner/coschedule/simulation/simulate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>

#include "core/units.h"
#include "planner/coschedule/bound/cost_bound.h"
#include "planner/coschedule/draws.h"
#include "planner/coschedule/simulation/drift.h"
#include "planner/coschedule/simulation/repack.h"
#include "planner/coschedule/simulation/running_job.h"
#include "planner/coschedule/simulation/simulation_fields.h"
#include "sextant/error.h"

namespace sextant::coschedule {
namespace {

enum class EventKind { step_end, failure, comeback, hour };

struct Event {
  double time_s = 0;
  EventKind kind = EventKind::step_end;
  std::string name;
  std::uint64_t version = 0;
  bool operator>(const Event& other) const { return time_s > other.time_s; }
};

class Simulator {
 public:
  Simulator(const JobTrace& trace, const Policy& policy, const SimulationOptions& options)
      : trace_(trace),
        policy_(policy),
        options_(options),
        state_{Random(options.seed), DrawnIterations()},
        account_(trace.pools) {
    placement_.pools = trace.pools;
    if (policy.is_by_chance) placement_.probability = options.probability;
    placement_.tail_threshold = options.tails == TailRule::stay    ? 0
                                : options.tails == TailRule::fixed ? options.tail_threshold
                                                                   : kWeaveThreshold;
    result_.policy = std::string(policy.name);
    result_.seed = options.seed;
  }

  Simulation run() {
    std::size_t next = 0;
    if (!trace_.jobs.empty()) begin_s_ = now_s_ = trace_.jobs.front().arrival_s;
    if (policy_.regroups_every_s > 0)
      events_.push({begin_s_ + policy_.regroups_every_s, EventKind::hour, "", 0});
    while (next < trace_.jobs.size() || !running_.empty() || !down_.empty()) {
      if (options_.is_cancelled != nullptr && options_.is_cancelled->load(std::memory_order_relaxed)) {
        result_.was_interrupted = true;
        break;
      }
      drop_outdated_events();
      const double event_s = events_.empty() ? std::numeric_limits<double>::infinity() : events_.top().time_s;
      if (next < trace_.jobs.size() && trace_.jobs[next].arrival_s <= event_s) {
        pass_until(trace_.jobs[next].arrival_s);
        arrive(next++);
      } else {
        pass_until(event_s);
        const Event event = events_.top();
        events_.pop();
        happen(event);
      }
    }
    return finished();
  }

 private:
  void drop_outdated_events() {
    while (!events_.empty()) {
      const Event& event = events_.top();
      if (event.kind == EventKind::hour || event.kind == EventKind::comeback) return;
      const auto found = running_.find(event.name);
      if (found != running_.end() &&
          event.version ==
              (event.kind == EventKind::failure ? found->second.incarnation : found->second.version))
        return;
      events_.pop();
    }
  }

  void happen(const Event& event) {
    switch (event.kind) {
      case EventKind::step_end:
        return end_step(event.name);
      case EventKind::failure:
        return fail(event.name);
      case EventKind::comeback:
        return come_back(event.name);
      case EventKind::hour:
        regroup_all();
        events_.push({now_s_ + policy_.regroups_every_s, EventKind::hour, "", 0});
        return;
    }
  }

  void pass_until(double time_s) {
    const double seconds = time_s - now_s_;
    if (seconds > 0) {
      account_.pass(seconds);
      if (options_.on_state) options_.on_state(placement_, seconds);
    }
    now_s_ = time_s;
  }

  void arrive(std::size_t number) {
    const Job& job = trace_.jobs[number];
    RunningJob run;
    run.job = number;
    run.first_solo_s = typical_times(job).solo_s();
    begin_step(job, 0, run);
    if (!start(job, std::move(run))) ++result_.refused;
    note();
  }

  // Places the job and lets it run from where it is. False if there is no place.
  bool start(const Job& job, RunningJob run) {
    const auto began = std::chrono::steady_clock::now();
    PlacementAnswer answer = policy_.place(placement_, job, state_);
    decision_s_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (!answer.is_placed) return false;
    ++result_.decisions[std::string(name_of(answer.chosen.decision))];
    run.decision = answer.chosen.decision;
    if (run.reason.empty() && options_.keeps_jobs) {
      answer.chosen.group = answer.at ? answer.group.name : "";
      run.reason = words_of(answer.chosen) + ", which adds $" +
                   format_number(answer.chosen.added_usd_per_hour) + " an hour";
    }
    run.since_s = now_s_;
    run.version += 1;
    run.incarnation += 1;
    plan_failure(job, run);
    running_.insert_or_assign(job.name, std::move(run));
    leave_sums(answer.at ? &placement_.groups[*answer.at] : nullptr);
    take(placement_, std::move(answer));
    settle(*placement_.group_of(job.name));
    if (policy_.repacks) regroup(std::string(placement_.group_of(job.name)->name));
    if (policy_.is_offline) regroup_for_nothing();
    return true;
  }

  void plan_failure(const Job& job, const RunningJob& run) {
    if (options_.mean_time_between_failures_s <= 0) return;
    constexpr std::uint64_t kFailureStreams = std::uint64_t{1} << 41U;
    Draws draws(options_.seed, kFailureStreams + (run.job << 12U) + run.incarnation);
    events_.push({now_s_ + draws.exponential(options_.mean_time_between_failures_s), EventKind::failure,
                  job.name, run.incarnation});
  }

  void end_step(const std::string& name) {
    RunningJob& run = running_.at(name);
    const Job& job = trace_.jobs[run.job];
    run.alone_s += step_s(job, run);
    if (run.step + 1 == steps_of(job)) return end(name);
    begin_step(job, run.step + 1, run);
    run.since_s = now_s_;
    const Group* group = placement_.group_of(name);
    leave_sums(group);
    const bool is_slow = settle(*group);
    if (is_slow && policy_.resubmits && job.on_drift == OnDrift::resubmit &&
        (!job.responses || placement_.probability < 1))
      resubmit(name);
    note();
  }

  void end(const std::string& name) {
    const RunningJob run = running_.at(name);
    leave_group(name);
    finish_job(run);
    note();
  }

  // Takes the job out of its group, whose other members go on.
  RunningJob leave_group(const std::string& name) {
    RunningJob run = running_.at(name);
    run.advance_to(now_s_);
    running_.erase(name);
    const Group* group = placement_.group_of(name);
    const std::string group_name = group->name;
    leave_sums(group);
    remove_job(placement_, name, policy_.repeats);
    for (const Group& left : placement_.groups) {
      if (left.name == group_name) settle(left);
    }
    if (policy_.repacks) regroup(group_name);
    if (policy_.is_offline) regroup_for_nothing();
    return run;
  }

  // Stops the job and places it with its present lengths; it stays where it is if there is no other place.
  void resubmit(const std::string& name) {
    const RunningJob& before = running_.at(name);
    const Job drifted =
        with_drifted_profile(trace_.jobs[before.job], length_factor_of(trace_.jobs[before.job], before.step));
    if (!why_not_alone(drifted, placement_.pools).empty()) return;
    RunningJob run = leave_group(name);
    ++run.resubmissions;
    ++result_.resubmissions;
    if (!start(drifted, run)) return wait_for_place(name, std::move(run));
    if (!policy_.is_offline) stand_still(name);
  }

  // A job that was placed anew stands still for a restart.
  void stand_still(const std::string& name) {
    RunningJob& run = running_.at(name);
    result_.restart_s += options_.restart_s;
    run.left_s += options_.restart_s * run.rate;
    events_.push({now_s_ + run.left_s / run.rate, EventKind::step_end, name, ++run.version});
  }

  // The job loses its part of an iteration.
  void fail(const std::string& name) {
    RunningJob run = leave_group(name);
    const Job& job = trace_.jobs[run.job];
    const double whole = step_s(job, run), done = std::max(0.0, whole - run.left_s);
    run.left_s = whole - std::floor(done / run.times.solo_s()) * run.times.solo_s();
    ++run.failures;
    ++result_.failures;
    run.since_s = now_s_;
    down_.insert_or_assign(name, std::move(run));
    events_.push({now_s_ + options_.return_after_s, EventKind::comeback, name, 0});
    note();
  }

  void wait_for_place(const std::string& name, RunningJob run) {
    constexpr double kRetry_s = 600;
    run.since_s = now_s_;
    down_.insert_or_assign(name, std::move(run));
    events_.push({now_s_ + kRetry_s, EventKind::comeback, name, 0});
  }

  void come_back(const std::string& name) {
    RunningJob run = down_.at(name);
    down_.erase(name);
    run.paused_s += now_s_ - run.since_s;
    const Job& job = trace_.jobs[run.job];
    const Job present = placement_.probability < 1 || !job.responses
                            ? with_drifted_profile(job, length_factor_of(job, run.step))
                            : job;
    if (!start(present, run)) return wait_for_place(name, std::move(run));
    note();
  }

  // A job may stand still if it is ahead of what it was promised by that much, or if it has just come.
  [[nodiscard]] bool may_restart(const Job& job, double restart_s) const {
    const RunningJob& run = running_.at(job.name);
    const double elapsed_s = now_s_ - trace_.jobs[run.job].arrival_s - run.paused_s;
    const double left_s = run.left_s - run.rate * (now_s_ - run.since_s);
    const double done_s = run.alone_s + step_s(trace_.jobs[run.job], run) - left_s;
    return elapsed_s <= 0 || job.max_slowdown * done_s - elapsed_s >= restart_s;
  }

  void regroup(const std::string& name) {
    RepackRules rules;
    rules.may_repeat = policy_.repeats;
    rules.restart_s = options_.restart_s;
    std::optional<Repacked> better = repack(
        placement_, name, [&](const Job& job) { return may_restart(job, rules.restart_s); }, rules);
    if (better) take_regrouping(*std::move(better));
  }

  void regroup_for_nothing() {
    if (placement_.groups.empty()) return;
    RepackRules rules;
    rules.restart_s = 0;
    rules.max_jobs = 16;
    rules.may_repeat = false;
    std::optional<Repacked> better = repack(
        placement_, placement_.groups.front().name, [](const Job&) { return true; }, rules);
    if (better) take_regrouping(*std::move(better));
  }

  void take_regrouping(Repacked better) {
    for (const std::size_t g : better.old_groups) leave_sums(&placement_.groups[g]);
    std::vector<std::string> changed;
    for (const Group& group : better.new_groups) changed.push_back(group.name);
    const std::vector<std::string> restarted = better.restarted;
    take(placement_, std::move(better));
    for (const Group& group : placement_.groups) {
      if (std::find(changed.begin(), changed.end(), group.name) != changed.end()) settle(group);
    }
    for (const std::string& job : restarted) {
      if (policy_.is_offline) break;
      if (now_s_ <= trace_.jobs[running_.at(job).job].arrival_s) continue;
      ++result_.restarts;
      stand_still(job);
    }
  }

  // Every job at its present lengths, in the cheapest groups of up to 13 jobs, if that saves something or if a promise
  // is broken now. Restarts need not pay, as in section 6.6.
  void regroup_all() {
    if (placement_.groups.empty()) return;
    Placement present = placement_;
    bool is_broken = false;
    for (Group& group : present.groups) {
      for (Member& member : group.members) {
        const RunningJob& run = running_.at(member.job.name);
        const Job& job = trace_.jobs[run.job];
        const std::vector<int> nodes = member.rollout_nodes;
        member = {with_drifted_profile(job, length_factor_of(job, run.step)), nodes};
      }
      const double limit_s = max_iteration_s(group);
      is_broken = is_broken || best_turns(group, limit_s).period_s > limit_s * (1 + kRounding);
    }
    RepackRules rules;
    rules.may_repeat = policy_.repeats;
    rules.max_jobs = 13;
    rules.accepts_any = true;
    std::optional<Repacked> better = repack(
        present, present.groups.front().name, [](const Job&) { return true; }, rules);
    if (!better || (better->saved_usd_per_hour <= kRounding * account_.usd_per_hour() && !is_broken)) return;
    take_regrouping(*std::move(better));
    note();
  }

  // The group's nodes and work, which change with its members, are taken out of the sums, and added by settle.
  void leave_sums(const Group* group) {
    if (group == nullptr) return;
    account_.remove(group->name);
  }

  // New rates for all members of a group that has changed. True if a member is slower than allowed.
  bool settle(const Group& group) {
    RunningGroup runs{&group, {}, {}};
    for (const Member& member : group.members) {
      const RunningJob& run = running_.at(member.job.name);
      runs.times.push_back(run.times);
      runs.batches.push_back(run.batch ? &*run.batch : nullptr);
    }
    bool is_slow = false;
    const GroupUse use = policy_.use != nullptr ? policy_.use(runs, placement_.pools)
                                                : use_by_turns(runs, options_.tails, options_.tail_threshold);
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const Job& job = group.members[m].job;
      RunningJob& run = running_.at(job.name);
      run.advance_to(now_s_);
      run.rate = run.times.solo_s() / use.iteration_s[m];
      run.min_rate = std::min(run.min_rate, run.rate);
      is_slow = is_slow || 1 / run.rate > job.max_slowdown * (1 + kRounding);
      events_.push({now_s_ + run.left_s / run.rate, EventKind::step_end, job.name, ++run.version});
    }
    account_.add(group.name, use);
    return is_slow;
  }

  void finish_job(const RunningJob& run) {
    const Job& job = trace_.jobs[run.job];
    SimulatedJob done;
    done.name = job.name;
    done.decision = std::string(name_of(run.decision));
    done.arrival_s = job.arrival_s;
    done.end_s = now_s_;
    done.slowdown = run.alone_s > 0 ? (now_s_ - job.arrival_s - run.paused_s) / run.alone_s : 1;
    done.max_slowdown_seen = 1 / run.min_rate;
    constexpr double kTolerance = 1e-6;
    done.kept = done.slowdown <= job.max_slowdown * (1 + kTolerance);
    done.max_slowdown = job.max_slowdown;
    always_kept_ += done.kept && done.max_slowdown_seen <= job.max_slowdown * (1 + kTolerance) ? 1 : 0;
    done.resubmissions = run.resubmissions;
    done.failures = run.failures;
    done.reason = run.reason;
    ++ended_;
    kept_ += done.kept ? 1 : 0;
    slowdown_sum_ += done.slowdown;
    if (options_.keeps_jobs) result_.jobs.push_back(std::move(done));
  }

  void note() {
    const auto jobs = static_cast<int>(running_.size());
    const auto whole = [](double nodes) { return static_cast<int>(std::lround(nodes)); };
    result_.max_rollout_nodes = std::max(result_.max_rollout_nodes, whole(account_.rollout_nodes()));
    result_.max_training_nodes = std::max(result_.max_training_nodes, whole(account_.training_nodes()));
    result_.max_jobs = std::max(result_.max_jobs, jobs);
    if (!options_.keeps_jobs) return;
    SimulatedState state{now_s_, std::max(0.0, account_.usd_per_hour()), whole(account_.rollout_nodes()),
                         whole(account_.training_nodes()), jobs};
    if (state.rollout_nodes > 0) state.rollout_busy_fraction = account_.rollout_busy_fraction();
    if (state.training_nodes > 0) state.training_busy_fraction = account_.training_busy_fraction();
    constexpr BoundBudget kBound{0.2};
    if (options_.bound_every > 0 &&
        result_.states.size() % static_cast<std::size_t>(options_.bound_every) == 0 &&
        placement_.probability >= 1 && jobs > 0)
      state.bound_usd_per_hour =
          min_usd_per_hour(placement_.jobs(), placement_.pools, placement_.groups, kBound).usd_per_hour;
    result_.states.push_back(state);
  }

  Simulation finished() {
    const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    result_.duration_s = now_s_ - begin_s_;
    result_.total_usd = account_.total_usd();
    result_.mean_usd_per_hour = share(account_.total_usd() * 3600, result_.duration_s);
    result_.kept_fraction = ended_ > 0 ? share(kept_, ended_) : 1;
    result_.always_kept_fraction = ended_ > 0 ? share(always_kept_, ended_) : 1;
    result_.mean_slowdown = ended_ > 0 ? share(slowdown_sum_, ended_) : 1;
    result_.rollout_busy_fraction = account_.total_rollout_busy_fraction();
    result_.training_busy_fraction = account_.total_training_busy_fraction();
    if (!decision_s_.empty()) {
      std::sort(decision_s_.begin(), decision_s_.end());
      result_.decision_p50_s = decision_s_[decision_s_.size() / 2];
      result_.decision_p99_s = decision_s_[decision_s_.size() * 99 / 100];
    }
    return std::move(result_);
  }

  const JobTrace& trace_;
  const Policy& policy_;
  const SimulationOptions& options_;
  PolicyState state_;
  Placement placement_;
  Simulation result_;
  double begin_s_ = 0, now_s_ = 0;
  std::unordered_map<std::string, RunningJob> running_, down_;  // down: failed, or without a place
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Account account_;
  double ended_ = 0, kept_ = 0, always_kept_ = 0, slowdown_sum_ = 0;
  std::vector<double> decision_s_;
};

}  // namespace

Simulation Simulation::parse(const JsonView& view) { return parse_fields(view, simulation_fields()); }
Json Simulation::to_json() const { return fields_to_json(*this, simulation_fields()); }

Simulation simulate(const JobTrace& trace, const Policy& policy, const SimulationOptions& options) {
  return Simulator(trace, policy, options).run();
}

}  // namespace sextant::coschedule
