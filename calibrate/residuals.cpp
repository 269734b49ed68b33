#include "calibrate/residuals.h"

#include <algorithm>
#include <set>

namespace sextant {

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

}  // namespace sextant
