#include "calibrate/validate.h"

#include <algorithm>
#include <cmath>

#include "calibrate/ranking.h"
#include "calibrate/residuals.h"
#include "sextant/predict.h"

namespace sextant::inline calibrate {
namespace {

// The predicted value of a timer around one or several tasks, with the interval of the sum of its parts.
std::pair<double, std::optional<Interval>> timer_prediction(const Prediction& prediction,
                                                            const std::string& name) {
  double time_s = 0;
  std::optional<Interval> interval;
  double log_low = 0, log_high = 0;
  for (const std::string& part : parts_of_timer(name)) {
    if (part == kWeightSync) {
      time_s += prediction.weight_sync_s;
      continue;
    }
    const TaskPrediction& task = prediction.tasks.at(part);
    time_s += task.time_s;
    if (!task.interval_s || task.time_s <= 0) continue;
    log_low = std::min(log_low, std::log(task.interval_s->low / task.time_s));
    log_high = std::max(log_high, std::log(task.interval_s->high / task.time_s));
    interval.emplace();
  }
  if (interval) interval = Interval{time_s * std::exp(log_low), time_s * std::exp(log_high)};
  return {time_s, interval};
}

// Collects what the summaries need while the runs are walked through.
struct Tally {
  std::vector<double> held_out_tasks, held_out_iterations, seen_tasks, seen_iterations;
  std::map<std::string, std::vector<double>> held_out_by_task;
  std::vector<double> held_out_memories, seen_memories;
  std::vector<ComparedIteration> iterations;  // held out
  int inside = 0, with_interval = 0;          // held out

  void count(const ComparedMemory& memory) {
    (memory.held_out ? held_out_memories : seen_memories).push_back(memory.error_fraction());
  }

  void count(const Run& run, const ComparedTime& time, const std::optional<Interval>& interval) {
    const bool iteration = time.task == kIteration;
    const double error = time.error_fraction();
    if (!time.held_out) {
      (iteration ? seen_iterations : seen_tasks).push_back(error);
      return;
    }
    (iteration ? held_out_iterations : held_out_tasks).push_back(error);
    if (!iteration) held_out_by_task[time.task].push_back(error);
    if (iteration) iterations.push_back({&run, time.measured_s, time.predicted_s});
    if (interval) {
      ++with_interval;
      if (interval->low <= time.measured_s && time.measured_s <= interval->high) ++inside;
    }
  }
};

// Spearman's; 0 for fewer than two.
double rank_correlation_of(const std::vector<ComparedIteration>& iterations) {
  if (iterations.size() < 2) return 0;
  std::vector<double> measured_s, predicted_s;
  for (const ComparedIteration& iteration : iterations) {
    measured_s.push_back(iteration.measured_s);
    predicted_s.push_back(iteration.predicted_s);
  }
  return rank_correlation(measured_s, predicted_s);
}

double max_needed_bytes(const Prediction& prediction) {
  double maximum = 0;
  for (const DeviceMemory& memory : prediction.memory) maximum = std::max(maximum, memory.needed_bytes());
  return maximum;
}

}  // namespace

std::vector<JudgedTime> judged_times(const Run& run, const Prediction& prediction) {
  std::vector<JudgedTime> times;
  const auto add = [&](const std::string& what, const Timing& measured, double predicted_s,
                       const std::optional<Interval>& interval) {
    times.push_back({what, measured.median_s(), measured.spread_fraction(), predicted_s, interval});
  };
  for (const auto& [name, timing] : run.tasks) {
    const auto [time_s, interval] = timer_prediction(prediction, name);
    add(name, timing, time_s, interval);
  }
  for (const auto& [name, timing] : run.elapsed) {
    const TaskPrediction& task = prediction.tasks.at(name);
    std::optional<Interval> interval;
    if (task.interval_s)
      interval = Interval{task.queued_s + task.interval_s->low, task.queued_s + task.interval_s->high};
    add(elapsed_name(name), timing, task.queued_s + task.time_s, interval);
  }
  if (!run.iteration.empty())
    add(kIteration, run.iteration, prediction.iteration_s, prediction.iteration_interval_s);
  return times;
}

Accuracy validate(const Runs& runs, const Coefficients& coefficients) {
  Accuracy accuracy;
  Tally tally;
  for (const Run& run : runs.runs) {
    const bool seen =
        coefficients.fit && std::find(coefficients.fit->runs.begin(), coefficients.fit->runs.end(), run.name) !=
                                coefficients.fit->runs.end();
    const Prediction prediction = predict_with_trust(
        {runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run), coefficients, run.framework});
    for (const JudgedTime& time : judged_times(run, prediction)) {
      accuracy.times.push_back(
          {run.name, time.what, time.measured_s, time.spread_fraction, time.predicted_s, !seen});
      tally.count(run, accuracy.times.back(), time.interval_s);
    }
    for (const auto& [name, timing] : run.waits) {
      const double iteration_s = run.iteration.empty() ? prediction.iteration_s : run.iteration.median_s();
      accuracy.waits.push_back(
          {run.name, name, timing.median_s(), prediction.tasks.at(name).exposed_s, iteration_s, !seen});
    }
    if (run.peak_memory_bytes) {
      accuracy.memories.push_back({run.name, *run.peak_memory_bytes, max_needed_bytes(prediction), !seen});
      tally.count(accuracy.memories.back());
    }
  }
  accuracy.held_out_tasks = summarise(tally.held_out_tasks);
  accuracy.held_out_iterations = summarise(tally.held_out_iterations);
  accuracy.in_sample_tasks = summarise(tally.seen_tasks);
  accuracy.in_sample_iterations = summarise(tally.seen_iterations);
  for (const auto& [task, errors] : tally.held_out_by_task) accuracy.held_out_by_task[task] = summarise(errors);
  accuracy.held_out_memories = summarise(tally.held_out_memories);
  accuracy.in_sample_memories = summarise(tally.seen_memories);
  accuracy.rank_correlation = rank_correlation_of(tally.iterations);
  accuracy.order = order_of_plans(tally.iterations);
  accuracy.has_intervals = tally.with_interval > 0;
  if (accuracy.has_intervals)
    accuracy.interval_coverage = static_cast<double>(tally.inside) / tally.with_interval;
  return accuracy;
}

}  // namespace sextant::inline calibrate
