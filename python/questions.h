// Questions from the options of Python.
#pragma once

#include <string>

#include "ask/check/check_question.h"
#include "ask/export/trainer_script.h"
#include "ask/fit_question.h"
#include "ask/inputs.h"
#include "ask/plan/plan_question.h"
#include "ask/predict_question.h"
#include "ask/runs/log_runs.h"
#include "python/options.h"

namespace sextant::python {

struct PlanCall {
  PlanQuestion question;
  bool explains = false;
};

struct PredictCall {
  ModelInputs inputs;
  PlanToPredict question;
};

struct CheckCall {
  LogOptions logs;  // or a runs document
  CheckQuestion question;
};

struct CalibrateCall {
  std::string runs;   // sources (ask/document_source.h)
  std::string start;  // empty: the priors
  FitQuestion fit;
};

// Each takes all options of its function. Throws Error(bad_input) or raises TypeError.
[[nodiscard]] PlanCall plan_call(const pybind11::dict& given);
[[nodiscard]] PredictCall predict_call(const pybind11::dict& given);
[[nodiscard]] CheckCall check_call(const pybind11::dict& given);
[[nodiscard]] CalibrateCall calibrate_call(const pybind11::dict& given);
[[nodiscard]] TrainerQuestion export_call(const pybind11::dict& given);

}  // namespace sextant::python
