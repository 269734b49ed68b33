#include "calibrate/evidence.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sextant/fit.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {
namespace {

// A residual whose square is twice Huber's loss of r, so that squares can be summed: r inside `limit`, beyond
// it growing as the root of |r|.
struct Robust {
  double value;
  double derivative;
};
Robust huber(double r, double limit) {
  const double size = std::abs(r);
  if (size <= limit) return {r, 1};
  const double root = std::sqrt(2 * limit * size - limit * limit);
  return {r < 0 ? -root : root, limit / root};
}

// Runs with one key differ in counts only.
std::string likeness(const PreparedRun& run) {
  std::string key = run.run().framework;
  for (const TaskWork& work : run.works()) {
    const Replica& replica = work.plan->replicas.front();
    key += "|" + work.task->name + ":" + work.model->name + ":" + std::to_string(work.model->hidden) + ":" +
           run.cluster().type_name(replica.stages.front().devices.front()) + ":" +
           std::to_string(work.plan->tensor_parallel(replica.stages.front())) + ":" +
           std::to_string(work.plan->micro_batch_sequences) + ":" + std::to_string(work.sequence_tokens());
  }
  return key;
}

}  // namespace

Evidence::Evidence(const Runs& runs, const std::vector<const PreparedRun*>& selected, const FitOptions& options,
                   const Coefficients& start)
    : huber_deviations_(options.huber_deviations),
      prior_weight_(options.prior_weight),
      likeness_correlation_(options.likeness_correlation),
      model_log_deviation_(options.model_log_deviation.value_or(0)) {
  for (const PreparedRun* run : selected) names_.push_back(run->run().name);
  parameters_ = free_parameters(runs, names_, start);
  for (const PreparedRun* run : selected) {
    observed_.push_back({run, RunGradient(*run, parameters_)});
    observed_.back().trust.assign(run->times().size(), 1.0);
    times_ += observed_.back().times();
  }
  weigh_like_runs();
  add_nuisances();
}

std::vector<double> Evidence::prior_coordinates() const {
  std::vector<double> coordinates;
  for (const Parameter& parameter : parameters_) coordinates.push_back(parameter.prior_coordinate());
  coordinates.resize(parameters_.size() + nuisances_.size(), 0.0);
  return coordinates;
}

void Evidence::weigh_like_runs() {
  std::map<std::string, int> count;
  std::vector<std::string> keys;
  for (const Observed& observed : observed_) {
    keys.push_back(likeness(*observed.run));
    ++count[keys.back()];
  }
  for (std::size_t r = 0; r < observed_.size(); ++r) {
    observed_[r].weight = std::sqrt(1.0 / (1.0 + (count[keys[r]] - 1) * likeness_correlation_));
  }
}

void Evidence::add_nuisances() {
  for (Observed& observed : observed_) {
    for (const Unstated& unstated : observed.run->run().unstated) {
      const auto found = std::find_if(nuisances_.begin(), nuisances_.end(), [&](const Nuisance& known) {
        return known.quantity == unstated.quantity && known.group == unstated.group;
      });
      observed.nuisances.push_back(static_cast<int>(found - nuisances_.begin()));
      if (found == nuisances_.end())
        nuisances_.push_back({unstated.quantity, unstated.group, unstated.deviation});
    }
  }
}

bool Evidence::find_relevant(const std::vector<double>& coordinates) {
  bool changed = false;
  std::vector<bool> used(coordinates.size(), false);
  for (Observed& observed : observed_) {
    changed = observed.gradient.find_relevant(coordinates.data()) || !observed.nuisances.empty() || changed;
    for (const int column : observed.gradient.columns()) used[static_cast<std::size_t>(column)] = true;
    update_slopes(observed, coordinates);
  }
  for (const Observed& observed : observed_) {
    for (std::size_t n = 0; n < observed.nuisances.size(); ++n) {
      if (std::all_of(observed.slopes[n].begin(), observed.slopes[n].end(), [](double s) { return s == 0; }))
        continue;
      used[parameters_.size() + static_cast<std::size_t>(observed.nuisances[n])] = true;
    }
  }
  free_.clear();
  column_of_.assign(coordinates.size(), -1);
  for (std::size_t p = 0; p < used.size(); ++p) {
    if (!used[p]) continue;
    column_of_[p] = static_cast<int>(free_.size());
    free_.push_back(static_cast<int>(p));
  }
  return changed;
}

void Evidence::update_slopes(Observed& observed, const std::vector<double>& coordinates) {
  observed.slopes.clear();
  if (observed.nuisances.empty()) return;
  const auto predict = [&](const PreparedRun& changed) {
    return RunGradient(changed, parameters_).predict(coordinates.data());
  };
  for (const int n : observed.nuisances) {
    observed.slopes.push_back(
        log_slopes(*observed.run, nuisances_[static_cast<std::size_t>(n)].quantity, predict));
  }
}

bool Evidence::estimate_model_deviation(const std::vector<double>& coordinates, double used) {
  constexpr double kMuch = 0.1;  // relative
  std::vector<double> sizes, measured;
  for (const Observed& observed : observed_) {
    const std::vector<double> errors = log_errors_of(observed, coordinates);
    for (std::size_t t = 0; t < errors.size(); ++t) {
      const MeasuredTime& time = observed.run->times()[t];
      if (time.is_memory() || time.is_outside_tasks()) continue;
      sizes.push_back(errors[t]);
      measured.push_back(time.log_deviation());
    }
  }
  if (sizes.empty()) return false;
  // A factor by which all times are off is for the coefficients to follow, not the model's.
  const double common = median(sizes);
  for (double& size : sizes) size = std::abs(size - common);
  const double all = static_cast<double>(sizes.size());
  const double spread = median(sizes) / kMedianOfNormal * std::sqrt(all / (all - std::min(used, 0.75 * all)));
  const double before = model_log_deviation_, own = median(measured);
  model_log_deviation_ = std::sqrt(std::max(0.0, spread * spread - own * own));
  return std::abs(model_log_deviation_ - before) > kMuch * std::hypot(before, own);
}

double Evidence::objective_value(const std::vector<double>& coordinates) const {
  double sum = 0;
  for (const Observed& observed : observed_) {
    const std::vector<double> errors = log_errors_of(observed, coordinates);
    for (std::size_t t = 0; t < errors.size(); ++t) {
      const double deviation = deviation_of(observed.run->times()[t]);
      const double residual = huber(observed.weight * errors[t] / deviation, huber_deviations_).value;
      sum += 0.5 * residual * residual + observed.weight * observed.weight * std::log(deviation);
    }
  }
  for (const int position : free_) {
    const double from_prior =
        (coordinates[static_cast<std::size_t>(position)] - prior_of(position)) / prior_deviation_of(position);
    sum += 0.5 * from_prior * from_prior;
  }
  return sum;
}

bool Evidence::downweight_outliers(const std::vector<double>& coordinates) {
  constexpr double kRejected =
      8;  // deviations of the errors' own spread from which on a time counts for nothing
  std::vector<std::vector<double>> errors;
  std::vector<double> sizes;
  for (const Observed& observed : observed_) {
    errors.push_back(log_errors_of(observed, coordinates));
    for (std::size_t t = 0; t < errors.back().size(); ++t) {
      errors.back()[t] = std::abs(errors.back()[t]) / deviation_of(observed.run->times()[t]);
      sizes.push_back(errors.back()[t]);
    }
  }
  const double spread = std::max(1.0, median(sizes) / kMedianOfNormal);
  bool any = false;
  for (std::size_t r = 0; r < observed_.size(); ++r) {
    for (std::size_t t = 0; t < errors[r].size(); ++t) {
      const double u = errors[r][t] / (kRejected * spread);
      const double root = u < 1 ? 1 - u * u : 0.0;
      observed_[r].trust[t] = root;
      any = any || root * root < 0.5;
    }
  }
  return any;
}

std::vector<double> Evidence::log_errors_of(const Observed& observed,
                                            const std::vector<double>& coordinates) const {
  std::vector<double> errors;
  const std::vector<double>& predicted = observed.gradient.predict(coordinates.data());
  for (std::size_t t = 0; t < predicted.size(); ++t) {
    double error = log_error(observed.run->times()[t], predicted[t]);
    for (std::size_t n = 0; n < observed.nuisances.size(); ++n) {
      error += observed.slopes[n][t] *
               coordinates[parameters_.size() + static_cast<std::size_t>(observed.nuisances[n])];
    }
    errors.push_back(error);
  }
  return errors;
}

void Evidence::residuals_of(const Observed& observed, const std::vector<double>& coordinates, double* residuals,
                            Eigen::MatrixXd* jacobian, int row) const {
  const std::vector<MeasuredTime>& times = observed.run->times();
  const RunGradient::Result* slopes =
      jacobian == nullptr ? nullptr : &observed.gradient.evaluate(coordinates.data());
  const std::vector<double>& predicted =
      slopes ? slopes->predicted : observed.gradient.predict(coordinates.data());
  for (std::size_t t = 0; t < times.size(); ++t, ++row) {
    const double scale = observed.weight * observed.trust[t] / deviation_of(times[t]);
    double error = log_error(times[t], predicted[t]);
    for (std::size_t n = 0; n < observed.nuisances.size(); ++n) {
      error += observed.slopes[n][t] *
               coordinates[parameters_.size() + static_cast<std::size_t>(observed.nuisances[n])];
    }
    const Robust robust = huber(error * scale, huber_deviations_);
    residuals[row] = robust.value;
    if (!slopes) continue;
    const double chain = robust.derivative * scale / (predicted[t] + times[t].negligible);
    const std::vector<int>& columns = observed.gradient.columns();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const int column = column_of_[static_cast<std::size_t>(columns[c])];
      if (column >= 0) (*jacobian)(row, column) = chain * slopes->by_parameter[t][c];
    }
    for (std::size_t n = 0; n < observed.nuisances.size(); ++n) {
      const auto position = parameters_.size() + static_cast<std::size_t>(observed.nuisances[n]);
      const int column = column_of_[position];
      if (column >= 0) (*jacobian)(row, column) += robust.derivative * scale * observed.slopes[n][t];
    }
  }
}

double Evidence::prior_of(int position) const {
  const auto p = static_cast<std::size_t>(position);
  return p < parameters_.size() ? parameters_[p].prior_coordinate() : 0.0;
}

double Evidence::prior_deviation_of(int position) const {
  const auto p = static_cast<std::size_t>(position);
  if (p >= parameters_.size()) return nuisances_[p - parameters_.size()].deviation;
  return parameters_[p].prior_deviation() / prior_weight_;
}

double Evidence::deviation_of(const MeasuredTime& time) const {
  const bool is_of_model = time.is_timer() || time.is_iteration();
  return std::hypot(time.log_deviation(), is_of_model ? model_log_deviation_ : 0.0);
}

UnstatedRange Evidence::range_of(int position) const {
  const auto p = static_cast<std::size_t>(position);
  if (p >= parameters_.size()) return sextant::range_of(nuisances_[p - parameters_.size()].quantity);
  return {parameters_[p].lower(), parameters_[p].upper()};
}

}  // namespace sextant::inline calibrate
