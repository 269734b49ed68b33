// Predictions for one run with their exact derivatives with respect to the run's coefficient values.
//
// A descent asks more than once at one point: after a line search for the step that it found, for the spread of the
// errors where a descent ended, and for the slopes where the next one begins. The last answers are kept, so an object
// serves one thread at a time; a copy has its own.
#pragma once

#include <memory>
#include <vector>

#include "calibrate/parameters.h"
#include "calibrate/residuals.h"

namespace sextant::inline calibrate {

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
  // Returns the predictions without derivatives; valid until the next call.
  [[nodiscard]] const std::vector<double>& predict(const double* coordinates) const;
  // Returns predictions and their derivatives with respect to fit coordinates; valid until the next call.
  [[nodiscard]] const Result& evaluate(const double* coordinates) const;

  [[nodiscard]] const PreparedRun& run() const { return *run_; }
  // Parameters on which the predictions depend, ascending.
  [[nodiscard]] const std::vector<int>& columns() const { return columns_; }

 private:
  [[nodiscard]] CoefficientValues<double> values(const double* coordinates) const;
  void by_slots(const double* coordinates, const std::vector<int>& slots, std::vector<double>& predicted,
                std::vector<std::vector<double>>& by_slot) const;

  void differentiate(const double* coordinates, Result& result) const;

  struct DualHardware;  // the cluster's rates as dual numbers

  // The last answer, and the coordinates of all parameters that it is for; empty before the first one.
  template <typename Answer>
  struct Last {
    std::vector<double> at;
    Answer answer;
    [[nodiscard]] bool is_at(const double* coordinates) const;
  };

  const PreparedRun* run_;
  Hardware<double> hardware_;
  std::shared_ptr<const DualHardware> dual_hardware_;
  ParameterMap map_;
  std::vector<int> relevant_;  // slots, ascending
  std::vector<int> columns_;
  std::size_t parameter_count_;
  mutable Last<std::vector<double>> predicted_;
  mutable Last<Result> evaluated_;
};

}  // namespace sextant::inline calibrate
