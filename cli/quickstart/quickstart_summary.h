// The results of quickstart in one small document.
#pragma once

#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"

namespace sextant::cli {

struct QuickstartSummary {
  static constexpr std::string_view kKind = "summary";
  static constexpr SchemaVersion kVersion{1, 0};

  int configurations = 0;           // distinct proxy configurations measured for fit and validation
  int held_out_configurations = 0;  // part of them, never seen by the fit
  double held_out_task_mape = 0;    // for task times
  double held_out_iteration_mape = 0;
  double plan_regret_fraction = 0;  // chosen plan's measured time / fastest measured plan's - 1
  double wall_s = 0;                // for the whole loop
  int ranks = 1;
  std::string plan;                  // the chosen plan, in words
  double predicted_iteration_s = 0;  // for the chosen plan
  double measured_iteration_s = 0;
  int measured_plans = 0;  // including the chosen one
  std::string fastest_plan;

  static QuickstartSummary parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Returns text for the terminal, and for the top of the report.
[[nodiscard]] std::string describe(const QuickstartSummary& summary);
[[nodiscard]] std::vector<std::string> sentences(const QuickstartSummary& summary);

}  // namespace sextant::cli
