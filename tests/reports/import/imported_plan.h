// A configuration as an importer reads it, and its plan on nodes with 8 GPUs.
#pragma once

#include <string>
#include <vector>

#include "reports/import/importers.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::test {

struct ReadConfiguration {
  RunSettings run;
  RunFacts facts;
  std::vector<std::string> unused;  // "KEY=VALUE"; filled by plan_of
};

// `name`: of the file, "run.sh" or "run.yaml".
[[nodiscard]] ReadConfiguration read_configuration(const std::string& framework, const std::string& name,
                                                   const std::string& text);

// The workflow of the configuration, whose models have 32 layers, and 64 experts if `has_experts`.
[[nodiscard]] Workflow workflow_of(const ReadConfiguration& read, bool has_experts = false);

// The plan, which is checked, on as many nodes as the configuration has.
[[nodiscard]] Plan plan_of(ReadConfiguration& read, bool has_experts = false);

// The same plan after it was exported and read again.
[[nodiscard]] Plan exported_and_read(const Plan& plan, const ReadConfiguration& read, bool has_experts = false);

}  // namespace sextant::test
