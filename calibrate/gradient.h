// Predictions of one run with their exact derivatives by the run's coefficient values.
#pragma once

#include <memory>
#include <vector>

#include "calibrate/parameters.h"
#include "calibrate/residuals.h"

namespace sextant {

class RunGradient {
 public:
  RunGradient(const PreparedRun& run, const std::vector<Parameter>& parameters);

  // Looks which slots the predictions depend on at these coordinates; further calls add to what is known.
  // Returns whether anything was added.
  bool find_relevant(const double* coordinates);

  struct Result {
    std::vector<double> predicted;                  // by measured time
    std::vector<std::vector<double>> by_parameter;  // by measured time and position in columns()
  };
  // Predictions alone.
  [[nodiscard]] std::vector<double> predict(const double* coordinates) const;
  // And derivatives by fit coordinates.
  void evaluate(const double* coordinates, Result& result) const;

  [[nodiscard]] const PreparedRun& run() const { return *run_; }
  // Parameters that the predictions depend on, ascending.
  [[nodiscard]] const std::vector<int>& columns() const { return columns_; }

 private:
  [[nodiscard]] CoefficientValues<double> values(const double* coordinates) const;
  void by_slots(const double* coordinates, const std::vector<int>& slots, std::vector<double>& predicted,
                std::vector<std::vector<double>>& by_slot) const;

  struct DualHardware;  // the cluster's rates as dual numbers

  const PreparedRun* run_;
  Hardware<double> hardware_;
  std::shared_ptr<const DualHardware> dual_hardware_;
  ParameterMap map_;
  std::vector<int> relevant_;  // slots, ascending
  std::vector<int> columns_;
};

}  // namespace sextant
