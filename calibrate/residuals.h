// The measured times of a set of runs as residuals: log(predicted / measured) in units of their uncertainty.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/accuracy.h"
#include "calibrate/parameters.h"
#include "costmodel/iteration.h"
#include "costmodel/terms/memory.h"
#include "sextant/run.h"

namespace sextant::inline calibrate {

// Repeats of one configuration differ by at least this much between reruns, however small the spread within one
// run is (public logs: 1 to 3 % inside one, 4 to 21 % between reruns).
inline constexpr double kMinLogDeviation = 0.04;
// For a peak of memory: allocators round up and cache, and a layer's tensors differ from the model's count.
inline constexpr double kMemoryLogDeviation = 0.05;

// Times below this share of the iteration are compared with this share added to both sides: they do not matter
// for plans, and their relative error would dominate the rest.
inline constexpr double kNegligibleFraction = 0.002;

inline constexpr const char* kPeakMemory = "peak_memory";
// The part of an iteration that belongs to no task: the framework's controller, rewards by rule, data between
// tasks. Known where tasks follow each other, and all of them and the weight sync were timed.
inline constexpr const char* kOutsideTasks = "time outside tasks";
// It is a small difference of large times, and what controllers do between tasks depends on the host.
inline constexpr double kOutsideLogDeviation = 0.5;

// One measured number of a run.
struct MeasuredTime {
  std::string what;        // a timer's name, elapsed_name, kIteration, kOutsideTasks or kPeakMemory
  std::vector<int> tasks;  // positions in the workflow that a timer covers, or all timers for kOutsideTasks
  bool with_weight_sync = false;
  bool is_elapsed = false;  // includes the time in which the task's devices were busy; for one task
  double measured = 0;      // seconds; bytes for kPeakMemory
  double spread_fraction = 0;
  double negligible = 0;  // seconds

  [[nodiscard]] bool is_iteration() const { return what == kIteration; }
  [[nodiscard]] bool is_memory() const { return what == kPeakMemory; }
  [[nodiscard]] bool is_outside_tasks() const { return what == kOutsideTasks; }
  // A timer of tasks: neither the iteration, nor what is outside its tasks, nor memory.
  [[nodiscard]] bool is_timer() const { return !is_iteration() && !is_memory() && !is_outside_tasks(); }
  [[nodiscard]] double log_deviation() const {
    const double minimum = is_memory()          ? kMemoryLogDeviation
                           : is_outside_tasks() ? kOutsideLogDeviation
                                                : kMinLogDeviation;
    return std::sqrt(spread_fraction * spread_fraction + minimum * minimum);
  }
};

// Returns the name of a task's member of Run::elapsed.
[[nodiscard]] std::string elapsed_name(const std::string& task);

// A run with everything computed once that does not depend on coefficients. Refers to the runs document.
class PreparedRun {
 public:
  PreparedRun(const Runs& runs, const Run& run);

  [[nodiscard]] const Run& run() const { return *run_; }
  [[nodiscard]] const Workflow& workflow() const { return *workflow_; }
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] const Cluster& cluster() const { return *cluster_; }
  [[nodiscard]] const std::vector<MeasuredTime>& times() const { return times_; }
  [[nodiscard]] const std::vector<TaskWork>& works() const { return works_; }

  // The model's value of every measured number, in the order of times().
  template <typename T>
  [[nodiscard]] std::vector<T> predict(CoefficientValues<T> values) const {
    return predict(std::move(values), hardware<T>());
  }
  // Same as above, with hardware that is built once for many values.
  template <typename T>
  [[nodiscard]] std::vector<T> predict(CoefficientValues<T> values, const Hardware<T>& hardware) const;
  template <typename T>
  [[nodiscard]] Hardware<T> hardware() const {
    return Hardware<T>(*cluster_);
  }

 private:
  const Run* run_;
  const Cluster* cluster_;
  const Workflow* workflow_;
  const Plan* plan_;
  std::vector<TaskWork> works_;
  std::vector<MeasuredTime> times_;
  bool needs_iteration_ = false;
  bool has_elapsed_ = false;
};

// Prepares runs in the order of the document; an unknown name is the caller's bug.
[[nodiscard]] std::vector<PreparedRun> prepare(const Runs& runs, const std::vector<std::string>& selected);

// log((predicted + negligible) / (measured + negligible)).
template <typename T>
[[nodiscard]] T log_error(const MeasuredTime& time, const T& predicted) {
  using std::log;
  return log((predicted + time.negligible) / (time.measured + time.negligible));
}

template <typename T>
std::vector<T> PreparedRun::predict(CoefficientValues<T> values, const Hardware<T>& hardware) const {
  const Problem<T> problem(*workflow_, *plan_, hardware, std::move(values));
  IterationCost<T> cost;
  if (needs_iteration_ || has_elapsed_) {
    cost = iteration_cost(problem, std::span<const TaskWork>(works_));
  } else {
    for (const TaskWork& work : works_) cost.tasks.push_back(task_cost(problem, work));
    cost.weight_sync_s = longest_s(
        plan_weight_transfers(problem, [this](std::size_t t) -> const TaskWork& { return works_[t]; }));
  }
  std::vector<TimedSpan<T>> spans;
  if (has_elapsed_) spans = task_spans(*workflow_, std::span<const PlacedTask<T>>(cost.placed));
  std::vector<T> predicted;
  for (const MeasuredTime& time : times_) {
    if (time.is_iteration()) {
      predicted.push_back(cost.iteration_s);
    } else if (time.is_memory()) {
      T maximum(0.0);
      const auto type_index = [&](DeviceId device) { return problem.hardware.type_index(device); };
      // The first replica of each class represents it, but tasks may meet on devices of any replica.
      const bool all_replicas = works_.size() > 1;
      for (const auto& [device, memory] :
           device_memory(std::span<const TaskWork>(works_), problem.coefficients, type_index, all_replicas)) {
        const T needed = memory.resident_bytes + memory.working_bytes;
        if (maximum < needed) maximum = needed;
      }
      predicted.push_back(maximum);
    } else if (time.is_elapsed) {
      const TimedSpan<T>& span = spans[static_cast<std::size_t>(time.tasks.front())];
      predicted.push_back(span.end_s - span.ready_s);
    } else {
      T sum(0.0);
      for (const int task : time.tasks) sum += cost.tasks[static_cast<std::size_t>(task)].time_s;
      if (time.with_weight_sync) sum += cost.weight_sync_s;
      predicted.push_back(time.is_outside_tasks() ? T(cost.iteration_s - sum) : sum);
    }
  }
  return predicted;
}

}  // namespace sextant::inline calibrate
