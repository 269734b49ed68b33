// The input of a fit: measured times with their weights, priors and unstated quantities, as residuals and their
// derivatives at any point of the fit's vector.
//
// The vector holds the coordinates of the parameters (parameters.h), then one for every quantity that a group
// of runs leaves unstated (unstated.h), which is free if any of its runs depends on it. A residual is the
// robust root of the log error in units of its deviation, so that squares can be summed.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "calibrate/gradient.h"
#include "calibrate/parameters.h"
#include "calibrate/residuals.h"
#include "calibrate/unstated.h"

namespace sextant {
struct FitOptions;
}  // namespace sextant

namespace sextant::inline calibrate {

class Evidence {
 public:
  // A quantity that a group of runs leaves unstated; its prior is zero.
  struct Nuisance {
    UnstatedQuantity quantity;
    std::string group;
    double deviation;
  };
  struct Observed {
    const PreparedRun* run;
    RunGradient gradient;
    double weight = 1;                // runs that differ only in counts share most of their error
    std::vector<double> trust = {};   // by time: root of a weight in [0, 1], below one for gross outliers
    std::vector<int> nuisances = {};  // positions in nuisances()
    std::vector<std::vector<double>> slopes = {};  // by nuisance, by time: change of the log error

    [[nodiscard]] int times() const { return static_cast<int>(run->times().size()); }
  };

  Evidence(const Runs& runs, const std::vector<const PreparedRun*>& selected, const FitOptions& options,
           const Coefficients& start);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Nuisance>& nuisances() const { return nuisances_; }
  [[nodiscard]] const std::vector<Observed>& observed() const { return observed_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] int times() const { return times_; }
  [[nodiscard]] std::vector<double> prior_coordinates() const;

  // Finds the coordinates on which the runs depend at this point, and adds them to those already found. Returns
  // whether the residuals or their derivatives at this point changed.
  bool find_relevant(const std::vector<double>& coordinates);
  // Downweights gross outliers: Tukey's biweight of the errors in units of their own spread (Maronna,
  // Martin and Yohai, Robust Statistics, 2006, section 2.3). A loss that only grows slowly, such as
  // Huber's, is biased by outliers that are all on one side. Returns whether any weight is below one
  // half.
  bool downweight_outliers(const std::vector<double>& coordinates);
  // Sets the model's own spread, until it is estimated.
  void set_model_deviation(double log_deviation) { model_log_deviation_ = log_deviation; }
  // The objective that a fit minimises, comparable between different spreads: half the squared residuals
  // without trust weights, the logarithms of the deviations, and the priors.
  [[nodiscard]] double objective_value(const std::vector<double>& coordinates) const;
  // Estimates the model's own spread from the errors at this point beyond the spread of the measurements: the
  // median size, enlarged for the coefficients that the runs have used up. Returns whether it changed much.
  bool estimate_model_deviation(const std::vector<double>& coordinates, double used);
  // Positions of the coordinates on which the runs depend, ascending, and their index in it (-1: absent).
  [[nodiscard]] const std::vector<int>& free() const { return free_; }
  [[nodiscard]] const std::vector<int>& column_of() const { return column_of_; }

  // Writes the residuals of one run from `row` on; the Jacobian is by free coordinates, its rows zero before.
  void residuals_of(const Observed& observed, const std::vector<double>& coordinates, double* residuals,
                    Eigen::MatrixXd* jacobian, int row) const;
  // log(predicted / measured), unweighted.
  [[nodiscard]] std::vector<double> log_errors_of(const Observed& observed,
                                                  const std::vector<double>& coordinates) const;
  [[nodiscard]] double prior_of(int position) const;
  [[nodiscard]] double prior_deviation_of(int position) const;
  [[nodiscard]] double deviation_of(const MeasuredTime& time) const;
  // Returns the bounds of a coordinate.
  [[nodiscard]] UnstatedRange range_of(int position) const;

 private:
  void weigh_like_runs();
  void add_nuisances();
  void update_slopes(Observed& observed, const std::vector<double>& coordinates);

  double huber_deviations_, prior_weight_, likeness_correlation_, model_log_deviation_;
  std::vector<std::string> names_;
  std::vector<Parameter> parameters_;
  std::vector<Nuisance> nuisances_;
  std::vector<Observed> observed_;
  int times_ = 0;
  std::vector<int> free_;
  std::vector<int> column_of_;
};

}  // namespace sextant::inline calibrate
