// sextant plan --explain and --what-if: why a plan was chosen, and which plans other clusters would get.
#pragma once

#include <string>
#include <vector>

#include "cli/ask/inputs.h"
#include "cli/command_line/command.h"
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

// The changed clusters, and what is wrong with the changes that are impossible.
struct Scenarios {
  std::vector<Scenario> possible;
  std::vector<std::string> errors;
};

// Throws Error(bad_input) if no change is possible, and if the explanation would not be shown: stdout holds the plan
// document and there is no file for the explanation.
[[nodiscard]] Scenarios scenarios_of(const ExplainOptions& options, const Cluster& cluster, bool is_json);

// Explains the plan, writes the document if there is a file for it, and prints unless stdout is in use. Returns
// the exit code: 1 if a changed cluster has no plan, 2 if a change was impossible.
[[nodiscard]] int explain_plan(const ExplainOptions& options, const Decided& decided,
                               const Scenarios& scenarios, bool is_json);

// Returns tables and sentences.
[[nodiscard]] std::string describe(const Explanation& explanation);
[[nodiscard]] std::string describe(const WhatIf& what_if, const Explanation& now);
// The devices of the plan on a changed cluster, 0 without a plan, and the sequences of the batch that they share.
struct UsedDevices {
  int used = 0;
  int sequences = 0;
};

// "adds 2 nodes of 8 h100: 6 nodes with 48 devices in all; the plan uses 48"; empty if nodes are neither added
// nor removed. A plan that leaves devices unused may do so because the batch does not divide; that is said.
[[nodiscard]] std::string describe_size(const Cluster& before, const Cluster& after, const UsedDevices& plan);

}  // namespace sextant::cli
