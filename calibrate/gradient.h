// Predictions for one run with their exact derivatives with respect to the run's coefficient values.
#pragma once

#include <memory>
#include <vector>

#include "calibrate/parameters.h"
#include "calibrate/residuals.h"

namespace sextant {

class RunGradient {
 public:
  RunGradient(const PreparedRun& run, const std::vector<Parameter>& parameters);

  // Finds the slots on which the predictions depend at these coordinates, and adds them to those already found.
  // Returns whether any was added.
  bool find_relevant(const double* coordinates);

  struct Result {
    std::vector<double> predicted;                  // by measured time
    std::vector<std::vector<double>> by_parameter;  // by measured time and position in columns()
  };
  // Returns the predictions without derivatives.
  [[nodiscard]] std::vector<double> predict(const double* coordinates) const;
  // Computes predictions and their derivatives with respect to fit coordinates.
  void evaluate(const double* coordinates, Result& result) const;

  [[nodiscard]] const PreparedRun& run() const { return *run_; }
  // Parameters on which the predictions depend, ascending.
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
