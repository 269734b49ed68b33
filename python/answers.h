// Answers as documents. Nothing here touches Python objects, so callers may release the interpreter's lock.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "python/questions.h"

namespace sextant::python {

struct PlanAnswer {
  bool is_found = false;
  std::string message;  // without a plan: why, and what may help
  std::string plan;     // documents from here on, as JSON
  std::string prediction;
  std::string search;       // also without a plan
  std::string explanation;  // empty: not asked for
  std::string cluster;
  std::string workflow;
  std::map<std::string, std::string> layouts;  // one line for each task
  bool fits = false;
  std::vector<std::string> notes;
};

// Searches until the planner ends. The answer is empty if `is_cancelled` is set before that. Throws Error.
[[nodiscard]] PlanAnswer answer_plan(const PlanCall& call, const std::atomic<bool>& is_cancelled);

struct PredictAnswer {
  std::string prediction;
  std::string plan;
  bool fits = false;
  std::vector<std::string> notes;
};

[[nodiscard]] PredictAnswer answer_predict(const PredictCall& call);

struct CheckAnswer {
  std::string verdicts;  // JSON list
  std::vector<std::string> notes;
};

[[nodiscard]] CheckAnswer answer_check(const CheckCall& call);

struct CalibrateAnswer {
  std::string coefficients;
  std::vector<std::string> notes;
};

[[nodiscard]] CalibrateAnswer answer_calibrate(const CalibrateCall& call);

}  // namespace sextant::python
