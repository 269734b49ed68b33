#include "calibrate/cross_validation.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "calibrate/ranking.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {
namespace {

std::vector<std::string> all_names(const Runs& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs.runs) names.push_back(run.name);
  return names;
}

// Fisher-Yates with the engine's own numbers: the standard's shuffle differs between libraries.
std::vector<std::string> shuffled(std::vector<std::string> names, unsigned seed) {
  std::mt19937 random(seed);
  for (std::size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random() % i]);
  return names;
}

Fold fold_of(std::string name, const std::vector<std::string>& all, const std::set<std::string>& held_out) {
  Fold fold{std::move(name), {}, {}};
  for (const std::string& run : all) (held_out.contains(run) ? fold.held_out : fold.fit).push_back(run);
  return fold;
}

const Task& main_task(const Workflow& workflow) {
  for (const TaskKind kind : {TaskKind::training, TaskKind::generation}) {
    for (const Task& task : workflow.tasks) {
      if (task.kind == kind) return task;
    }
  }
  return workflow.tasks.front();
}

// The deviation of the model itself: the smallest deviation d of logarithms with which 90 % of the errors have
// |e| <= 1.645 sqrt(v + d^2), where v is the variance from the coefficients.
double model_deviation(const std::vector<const HeldOut*>& times) {
  if (times.size() < 5) return 0.15;  // too few to tell: what models of this kind leave
  std::vector<double> needed;
  for (const HeldOut* time : times) {
    const double error = std::log(time->predicted / time->measured) / kNormal90;
    needed.push_back(std::max(0.0, error * error - time->log_variance));
  }
  // One more than the count: the quantile that a new error stays below with that probability.
  const double q =
      std::min(1.0, 0.9 * (static_cast<double>(needed.size()) + 1) / static_cast<double>(needed.size()));
  return std::sqrt(quantile(needed, q));
}

double model_deviation(const CrossValidation& validation, const CrossValidation::Filter& filter) {
  std::vector<const HeldOut*> times;
  for (const HeldOut& time : validation.times) {
    if (filter(time)) times.push_back(&time);
  }
  return model_deviation(times);
}

struct FoldResult {
  std::vector<HeldOut> times;
  int free_coefficients = 0;
};

FoldResult judge(const std::string& fold, const std::vector<const PreparedRun*>& held_out,
                 const FitResult& fit) {
  FoldResult result;
  result.free_coefficients = fit.coefficients.fit->free_coefficients;
  for (const PreparedRun* run : held_out) {
    const Hardware<double> hardware(run->cluster());
    const auto predict = [&](const PreparedRun& any) {
      return any.predict(resolve(fit.coefficients, hardware, any.run().framework));
    };
    const std::vector<double> predicted = predict(*run);
    const std::vector<double> factors = unstated_factors(*run, fit.unstated, predict);
    std::vector<double> variances = fit.posterior.log_variances(*run);
    const std::vector<double> unsaid = unstated_variances(*run, fit.unstated, predict);
    for (std::size_t t = 0; t < variances.size(); ++t) variances[t] += unsaid[t];
    for (std::size_t t = 0; t < predicted.size(); ++t) {
      const MeasuredTime& time = run->times()[t];
      if (time.is_outside_tasks()) continue;  // what the iteration and its tasks leave is no more to judge
      result.times.push_back(
          {run->run().name, time.what, fold, time.measured, predicted[t] * factors[t], 0, 0, variances[t]});
    }
  }
  return result;
}

// work(i) for every i < count, on all cores; the first error is thrown once all threads have ended.
template <typename Work>
void in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failed;
  std::mutex guard;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failed) failed = std::current_exception();
      }
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 1; t < std::min(cores, count); ++t) threads.emplace_back(take);
    take();
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace

std::vector<Fold> leave_one_out(const Runs& runs, const std::function<std::string(const Run&)>& key) {
  std::map<std::string, std::set<std::string>> groups;
  for (const Run& run : runs.runs) {
    const std::string group = key(run);
    if (!group.empty()) groups[group].insert(run.name);
  }
  if (groups.size() < 2 && groups.size() == runs.runs.size()) {
    throw_bad_input("cross-validation needs at least two groups of runs");
  }
  std::vector<Fold> folds;
  const std::vector<std::string> all = all_names(runs);
  for (const auto& [name, members] : groups) {
    Fold fold = fold_of(name, all, members);
    if (!fold.fit.empty()) folds.push_back(std::move(fold));
  }
  if (folds.empty()) throw_bad_input("cross-validation needs at least two groups of runs");
  return folds;
}

std::vector<Fold> leave_groups_out(const Runs& runs, const std::function<std::string(const Run&)>& key,
                                   int max_folds, unsigned seed) {
  std::vector<Fold> single = leave_one_out(runs, key);
  if (single.size() <= static_cast<std::size_t>(max_folds)) return single;
  std::map<std::string, std::size_t> fold_of_group;
  std::vector<std::string> groups;
  for (const Fold& fold : single) groups.push_back(fold.name);
  groups = shuffled(std::move(groups), seed);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    fold_of_group[groups[g]] = g % static_cast<std::size_t>(max_folds);
  }
  return leave_one_out(runs, [&](const Run& run) {
    const std::string group = key(run);
    return group.empty() ? std::string() : "groups " + std::to_string(fold_of_group.at(group) + 1);
  });
}

std::vector<Fold> random_folds(const Runs& runs, int k, unsigned seed) {
  const std::vector<std::string> names = shuffled(all_names(runs), seed);
  if (k < 2 || static_cast<std::size_t>(k) > names.size()) {
    throw_bad_input(std::to_string(k) + " folds of " + std::to_string(names.size()) + " runs");
  }
  std::vector<Fold> folds;
  for (int f = 0; f < k; ++f) {
    std::set<std::string> held_out;
    for (std::size_t i = static_cast<std::size_t>(f); i < names.size(); i += static_cast<std::size_t>(k)) {
      held_out.insert(names[i]);
    }
    folds.push_back(fold_of("fold " + std::to_string(f + 1), all_names(runs), held_out));
  }
  return folds;
}

std::vector<Fold> few_runs(const Runs& runs, int count, int draws, unsigned seed) {
  std::vector<Fold> folds;
  for (int d = 0; d < draws; ++d) {
    std::vector<std::string> names = shuffled(all_names(runs), seed + static_cast<unsigned>(d));
    if (static_cast<std::size_t>(count) >= names.size()) {
      throw_bad_input("cannot fit to " + std::to_string(count) + " of " + std::to_string(names.size()) +
                      " runs");
    }
    const std::set<std::string> held_out(names.begin() + count, names.end());
    folds.push_back(fold_of("draw " + std::to_string(d + 1), all_names(runs), held_out));
  }
  return folds;
}

std::string model_of(const Runs& runs, const Run& run) {
  const Workflow& workflow = runs.workflow_of(run);
  return workflow.model_of(main_task(workflow)).name;
}

std::string device_types_of(const Runs& runs, const Run& run) {
  std::set<std::string> types;
  const Cluster& cluster = runs.cluster_of(run);
  for (const Node& node : cluster.nodes()) types.insert(node.device_type);
  std::string all;
  for (const std::string& type : types) all += (all.empty() ? "" : "+") + type;
  return all;
}

std::string scale_of(const Runs& runs, const Run& run) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : runs.plan_of(run).tasks) devices.merge(task.devices());
  const std::size_t minimum = std::bit_floor(devices.size());
  if (minimum <= 1) return "1 device";
  return std::to_string(minimum) + " to " + std::to_string(2 * minimum - 1) + " devices";
}

std::function<std::string(const Run&)> group_key(const Runs& runs, LeaveOut what) {
  switch (what) {
    case LeaveOut::model:
      return [&runs](const Run& run) { return model_of(runs, run); };
    case LeaveOut::plan:
      return [](const Run& run) { return run.plan; };
    case LeaveOut::workflow:
      return [](const Run& run) { return run.workflow; };
    case LeaveOut::cluster:
      return [](const Run& run) { return run.cluster; };
    case LeaveOut::device_type:
      return [&runs](const Run& run) { return device_types_of(runs, run); };
    case LeaveOut::framework:
      return [](const Run& run) { return run.framework; };
    case LeaveOut::scale:
      return [&runs](const Run& run) { return scale_of(runs, run); };
    case LeaveOut::run:
      break;
  }
  return [](const Run& run) { return run.name; };
}

std::optional<LeaveOut> customary_leave_out(const Runs& runs) {
  constexpr std::size_t kMinGroups = 4;
  for (const LeaveOut what : {LeaveOut::model, LeaveOut::workflow, LeaveOut::plan, LeaveOut::run}) {
    std::set<std::string> groups;
    for (const Run& run : runs.runs) groups.insert(group_key(runs, what)(run));
    if (groups.size() >= kMinGroups) return what;
  }
  return std::nullopt;
}

HeldOutSummary summary_of(const Runs& runs, const CrossValidation& validation, LeaveOut what) {
  const auto iterations = [](const HeldOut& time) { return time.what == kIteration; };
  const auto tasks = [](const HeldOut& time) { return time.what != kIteration && time.what != kPeakMemory; };
  const auto memories = [](const HeldOut& time) { return time.what == kPeakMemory; };
  const ErrorSummary of_tasks = validation.errors(tasks), of_iterations = validation.errors(iterations),
                     of_memories = validation.errors(memories);
  HeldOutSummary summary;
  summary.left_out = kLeaveOutNames[static_cast<std::size_t>(what)];
  summary.folds = validation.folds;
  summary.tasks = of_tasks.count;
  summary.iterations = of_iterations.count;
  summary.task_mape = of_tasks.mape;
  summary.iteration_mape = of_iterations.mape;
  summary.memories = of_memories.count;
  summary.memory_mape = of_memories.mape;
  summary.coverage_90 = validation.coverage([](const HeldOut& time) { return time.what != kPeakMemory; });
  if (of_tasks.count > 0) summary.task_log_deviation = model_deviation(validation, tasks);
  if (of_iterations.count > 0) summary.iteration_log_deviation = model_deviation(validation, iterations);
  if (of_memories.count > 0) summary.memory_log_deviation = model_deviation(validation, memories);
  std::map<std::string, const Run*> by_name;
  for (const Run& run : runs.runs) by_name[run.name] = &run;
  std::vector<ComparedIteration> compared;
  for (const HeldOut& time : validation.times) {
    if (iterations(time)) compared.push_back({by_name.at(time.run), time.measured, time.predicted});
  }
  summary.order = order_of_plans(compared);
  return summary;
}

ErrorSummary CrossValidation::errors(const Filter& filter) const {
  std::vector<double> sizes;
  for (const HeldOut& time : times) {
    if (!filter || filter(time)) sizes.push_back(std::abs(time.error_fraction()));
  }
  return summarise(sizes);
}

double CrossValidation::coverage(const Filter& filter) const {
  int all = 0, covered = 0;
  for (const HeldOut& time : times) {
    if (filter && !filter(time)) continue;
    ++all;
    covered += time.covered() ? 1 : 0;
  }
  return all == 0 ? 0 : static_cast<double>(covered) / all;
}

double CrossValidation::log_deviation(const Filter& filter) const {
  std::vector<double> sizes;
  for (const HeldOut& time : times) {
    if (!filter || filter(time)) sizes.push_back(std::abs(std::log(time.predicted / time.measured)));
  }
  return sizes.empty() ? 0 : quantile(sizes, 0.9) / kNormal90;
}

CrossValidation cross_validate(const Runs& runs, const std::vector<Fold>& folds, const FitOptions& options,
                               const Coefficients& start) {
  const std::vector<PreparedRun> prepared = prepare(runs, all_names(runs));
  std::map<std::string, const PreparedRun*> by_name;
  for (const PreparedRun& run : prepared) by_name[run.run().name] = &run;
  std::vector<FoldResult> of_folds(folds.size());
  in_parallel(folds.size(), [&](std::size_t f) {
    std::vector<const PreparedRun*> seen, held_out;
    for (const std::string& name : folds[f].fit) seen.push_back(by_name.at(name));
    for (const std::string& name : folds[f].held_out) held_out.push_back(by_name.at(name));
    of_folds[f] = judge(folds[f].name, held_out, fit_prepared(runs, seen, options, start));
  });
  CrossValidation result;
  result.folds = static_cast<int>(folds.size());
  for (FoldResult& of_fold : of_folds) {
    result.free_coefficients = std::max(result.free_coefficients, of_fold.free_coefficients);
    std::move(of_fold.times.begin(), of_fold.times.end(), std::back_inserter(result.times));
  }
  for (const Fold& fold : folds) {
    const double deviation =
        model_deviation(result, [&](const HeldOut& time) { return time.fold != fold.name; });
    for (HeldOut& time : result.times) {
      if (time.fold != fold.name) continue;
      const double factor = std::exp(kNormal90 * std::sqrt(time.log_variance + deviation * deviation));
      time.low = time.predicted / factor;
      time.high = time.predicted * factor;
    }
  }
  return result;
}

}  // namespace sextant::inline calibrate
