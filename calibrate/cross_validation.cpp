#include "calibrate/cross_validation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/error.h"
#include "core/statistics.h"

namespace sextant {
namespace {

constexpr double kNormal90 = 1.6449;

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

// An error in units of the spread that the coefficients and the measurement explain.
struct Standardised {
  double log_error;
  double coefficient_variance;
};

// Factor on the model's own deviation such that 90 % of the other folds' errors lie inside.
double model_deviation(const std::vector<Standardised>& errors) {
  if (errors.size() < 5) return 0.15;  // too few to tell: what models of this kind leave
  // Smallest deviation d with 90 % of |e| <= 1.645 sqrt(v + d^2): the 90 % quantile of e^2 / 1.645^2 - v.
  std::vector<double> needed;
  for (const Standardised& error : errors) {
    const double squared = error.log_error * error.log_error / (kNormal90 * kNormal90);
    needed.push_back(std::max(0.0, squared - error.coefficient_variance));
  }
  // One more than the count: the quantile that a new error stays below with that probability.
  const double q = std::min(1.0, 0.9 * (static_cast<double>(needed.size()) + 1) / static_cast<double>(needed.size()));
  return std::sqrt(quantile(needed, q));
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
      throw_bad_input("cannot fit to " + std::to_string(count) + " of " + std::to_string(names.size()) + " runs");
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

std::string degrees_of(const Runs& runs, const Run& run) {
  const Workflow& workflow = runs.workflow_of(run);
  const TaskPlan& plan = runs.plan_of(run).tasks.at(main_task(workflow).name);
  const Replica& replica = plan.replicas.front();
  return "dp" + std::to_string(plan.data_parallel()) + "pp" + std::to_string(replica.pipeline_parallel()) + "tp" +
         std::to_string(plan.tensor_parallel(replica.stages.front()));
}

std::string device_types_of(const Runs& runs, const Run& run) {
  std::set<std::string> types;
  const Cluster& cluster = runs.cluster_of(run);
  for (const Node& node : cluster.nodes()) types.insert(node.device_type);
  std::string all;
  for (const std::string& type : types) all += (all.empty() ? "" : "+") + type;
  return all;
}

int devices_of(const Runs& runs, const Run& run) {
  std::set<DeviceId> devices;
  for (const auto& [name, task] : runs.plan_of(run).tasks) devices.merge(task.devices());
  return static_cast<int>(devices.size());
}

ErrorSummary CrossValidation::errors(const Filter& filter) const {
  std::vector<double> sizes;
  for (const HeldOut& time : times) {
    if (!filter || filter(time)) sizes.push_back(std::abs(time.error_fraction()));
  }
  ErrorSummary summary;
  summary.count = static_cast<int>(sizes.size());
  if (sizes.empty()) return summary;
  summary.mape = mean(sizes);
  summary.median = median(sizes);
  summary.p90 = quantile(sizes, 0.9);
  summary.worst = quantile(sizes, 1.0);
  return summary;
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
  CrossValidation result;
  result.folds = static_cast<int>(folds.size());
  std::vector<Standardised> standardised;  // beside result.times
  for (const Fold& fold : folds) {
    std::vector<const PreparedRun*> seen;
    for (const std::string& name : fold.fit) seen.push_back(by_name.at(name));
    const FitResult fit = fit_prepared(runs, seen, options, start);
    result.free_coefficients = std::max(result.free_coefficients, fit.coefficients.fit->free_coefficients);
    for (const std::string& name : fold.held_out) {
      const PreparedRun& run = *by_name.at(name);
      const Hardware<double> hardware(run.cluster(), run.workflow().precision);
      const auto predict = [&](const PreparedRun& any) {
        return any.predict(resolve(fit.coefficients, hardware, any.run().framework));
      };
      std::vector<double> predicted = predict(run);
      const std::vector<double> factors = unstated_factors(run, fit.unstated, predict);
      for (std::size_t t = 0; t < predicted.size(); ++t) predicted[t] *= factors[t];
      const std::vector<double> variances = fit.posterior.log_variances(run);
      for (std::size_t t = 0; t < predicted.size(); ++t) {
        const MeasuredTime& time = run.times()[t];
        result.times.push_back({name, time.what, fold.name, time.measured, predicted[t], 0, 0});
        standardised.push_back({log_error(time, predicted[t]), variances[t]});
      }
    }
  }
  for (const Fold& fold : folds) {
    std::vector<Standardised> others;
    for (std::size_t i = 0; i < result.times.size(); ++i) {
      if (result.times[i].fold != fold.name) others.push_back(standardised[i]);
    }
    const double deviation = model_deviation(others);
    for (std::size_t i = 0; i < result.times.size(); ++i) {
      HeldOut& time = result.times[i];
      if (time.fold != fold.name) continue;
      const double factor =
          std::exp(kNormal90 * std::sqrt(standardised[i].coefficient_variance + deviation * deviation));
      time.low = time.predicted / factor;
      time.high = time.predicted * factor;
    }
  }
  return result;
}

}  // namespace sextant
