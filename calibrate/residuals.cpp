#include "calibrate/residuals.h"

#include <algorithm>
#include <optional>
#include <set>

#include "costmodel/timeline.h"

namespace sextant::inline calibrate {
namespace {

// The iteration's tasks follow each other if every two of them need the same device and none runs ahead.
bool tasks_follow_each_other(const Workflow& workflow, const std::vector<TaskWork>& works) {
  if (workflow.mode != Mode::synchronous || !workflow.has_controller()) return false;
  for (std::size_t a = 0; a < works.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!share_a_device(works[a].devices, works[b].devices)) return false;
    }
  }
  return true;
}

// The parts of a timer: positions of tasks, and one after the last for the weight sync.
std::set<int> covered_by(const MeasuredTime& timer, int tasks) {
  std::set<int> parts(timer.tasks.begin(), timer.tasks.end());
  if (timer.with_weight_sync) parts.insert(tasks);
  return parts;
}

bool includes(const std::set<int>& all, const std::set<int>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

bool is_inside_another(const MeasuredTime& timer, const std::vector<MeasuredTime>& timers, int tasks) {
  const std::set<int> parts = covered_by(timer, tasks);
  return std::any_of(timers.begin(), timers.end(), [&](const MeasuredTime& other) {
    const std::set<int> its = covered_by(other, tasks);
    return its.size() > parts.size() && includes(its, parts);
  });
}

// The iterations of a run less the timers: step by step where all have as many samples, which leaves out the
// noise that they share; else of their medians.
Timing less_timers(const Run& run, const std::vector<std::string>& timers) {
  const bool is_by_step = std::all_of(timers.begin(), timers.end(), [&](const std::string& timer) {
    return run.tasks.at(timer).samples_s.size() == run.iteration.samples_s.size();
  });
  Timing rest = run.iteration;
  if (!is_by_step) rest.samples_s = {run.iteration.median_s()};
  for (const std::string& timer : timers) {
    const Timing& timing = run.tasks.at(timer);
    for (std::size_t step = 0; step < rest.samples_s.size(); ++step) {
      rest.samples_s[step] -= is_by_step ? timing.samples_s[step] : timing.median_s();
    }
  }
  return rest;
}

// The iteration less its timers, if these cover every part once. A timer of a part of another one (the reshard
// inside generation) is in that one.
std::optional<MeasuredTime> outside_tasks(const std::vector<MeasuredTime>& timers, const Workflow& workflow,
                                          const Run& run) {
  constexpr double kMinShare = 1e-4;  // of the iteration; sources that print sums of their timers leave nothing
  const int tasks = static_cast<int>(workflow.tasks.size());
  MeasuredTime outside;
  outside.what = kOutsideTasks;
  std::vector<int> seen(static_cast<std::size_t>(tasks) + 1, 0);
  if (!workflow.has_weight_sync()) seen.back() = 1;
  std::vector<std::string> names;
  for (const MeasuredTime& timer : timers) {
    if (is_inside_another(timer, timers, tasks)) continue;
    for (const int part : covered_by(timer, tasks)) ++seen[static_cast<std::size_t>(part)];
    outside.tasks.insert(outside.tasks.end(), timer.tasks.begin(), timer.tasks.end());
    outside.with_weight_sync = outside.with_weight_sync || timer.with_weight_sync;
    names.push_back(timer.what);
  }
  const Timing rest = less_timers(run, names);
  const double iteration_s = run.iteration.median_s();
  outside.measured = rest.median_s();
  outside.negligible = kNegligibleFraction * iteration_s;
  const bool all_once = std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; });
  if (!all_once || outside.measured < kMinShare * iteration_s) return std::nullopt;
  outside.spread_fraction = rest.spread_fraction();
  return outside;
}

bool states(const Run& run, UnstatedQuantity quantity) {
  return std::none_of(run.unstated.begin(), run.unstated.end(),
                      [&](const Unstated& unstated) { return unstated.quantity == quantity; });
}

}  // namespace

PreparedRun::PreparedRun(const Runs& runs, const Run& run)
    : run_(&run),
      cluster_(&runs.cluster_of(run)),
      workflow_(&runs.workflow_of(run)),
      plan_(&runs.plan_of(run)),
      works_(works_of(*workflow_, *plan_, *cluster_)) {
  const double iteration_s = run.iteration.empty() ? 0.0 : run.iteration.median_s();
  for (const auto& [name, timing] : run.tasks) {
    if (timing.median_s() <= 0) continue;
    MeasuredTime time;
    time.what = name;
    for (const std::string& part : parts_of_timer(name)) {
      if (part == kWeightSync) {
        time.with_weight_sync = true;
      } else {
        time.tasks.push_back(static_cast<int>(&workflow_->task(part) - workflow_->tasks.data()));
      }
    }
    time.measured = timing.median_s();
    time.spread_fraction = timing.spread_fraction();
    time.negligible = kNegligibleFraction * iteration_s;
    times_.push_back(std::move(time));
  }
  for (const auto& [name, timing] : run.elapsed) {
    MeasuredTime time;
    time.what = elapsed_name(name);
    time.tasks = {static_cast<int>(&workflow_->task(name) - workflow_->tasks.data())};
    time.is_elapsed = has_elapsed_ = true;
    time.measured = timing.median_s();
    time.spread_fraction = timing.spread_fraction();
    time.negligible = kNegligibleFraction * iteration_s;
    times_.push_back(std::move(time));
  }
  if (iteration_s > 0 && !has_elapsed_ && states(run, UnstatedQuantity::rule_reward_s) &&
      tasks_follow_each_other(*workflow_, works_)) {
    auto outside = outside_tasks(times_, *workflow_, run);
    if (outside) times_.push_back(std::move(*outside));
  }
  if (!run.iteration.empty()) {
    MeasuredTime time;
    time.what = kIteration;
    time.measured = iteration_s;
    time.spread_fraction = run.iteration.spread_fraction();
    time.negligible = kNegligibleFraction * iteration_s;
    times_.push_back(std::move(time));
    needs_iteration_ = true;
  }
  if (run.peak_memory_bytes) {
    MeasuredTime memory;
    memory.what = kPeakMemory;
    memory.measured = *run.peak_memory_bytes;
    times_.push_back(std::move(memory));
  }
}

std::string elapsed_name(const std::string& task) { return task + " (elapsed)"; }

std::vector<PreparedRun> prepare(const Runs& runs, const std::vector<std::string>& selected) {
  const std::set<std::string> wanted(selected.begin(), selected.end());
  std::vector<PreparedRun> prepared;
  for (const Run& run : runs.runs) {
    if (wanted.contains(run.name)) prepared.emplace_back(runs, run);
  }
  return prepared;
}

}  // namespace sextant::inline calibrate
