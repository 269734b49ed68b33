// sextant plan --explain and --what-if: why a plan is the answer, and what would be another.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/shared/inputs.h"
#include "documents/explanation.h"
#include "planner/explain/explain.h"

namespace sextant::cli {

struct ExplainOptions {
  bool is_asked = false;
  std::string out;
  std::vector<std::string> what_ifs;
  int draws = 400;

  [[nodiscard]] bool has_any() const { return is_asked || !out.empty() || !what_ifs.empty(); }
};

void add_explain_options(const Command& command, ExplainOptions& options);

// The changed clusters. Throws Error(bad_input) for a change that cannot be made, and for what nobody would
// see: stdout holds the plan document and there is no file for the explanation.
[[nodiscard]] std::vector<Scenario> scenarios_of(const ExplainOptions& options, const Cluster& cluster,
                                                 bool is_json);

// What is not known of the coefficients: `draws` of them.
[[nodiscard]] CoefficientUncertainty coefficient_uncertainty_of(const LoadedInputs& loaded, int draws,
                                                                std::uint64_t seed);

// Explains as asked, writes the document where there is a file for it, and prints unless stdout is taken. The
// exit code: 1 where a changed cluster has no plan.
[[nodiscard]] int explain_plan(const ExplainOptions& options, const Decided& decided,
                               const std::vector<Scenario>& scenarios, bool is_json);

// Tables and sentences.
[[nodiscard]] std::string describe(const Explanation& explanation);
[[nodiscard]] std::string describe(const WhatIf& what_if, const Explanation& now);

}  // namespace sextant::cli
