// Made-up documents for the tests of the report: 36 runs of a PPO workflow with six tasks. None of these
// numbers was measured, and the titles say so.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace sextant {

using FixtureShape = std::vector<Node>;

[[nodiscard]] FixtureShape one_core();
[[nodiscard]] FixtureShape two_cores();
[[nodiscard]] FixtureShape sixteen_gpus();        // four nodes in two regions, two types
[[nodiscard]] FixtureShape many_gpus(int nodes);  // eight devices per node

// Every document; the same shape gives the same numbers.
[[nodiscard]] ReportInput fixture_report(const FixtureShape& shape);

}  // namespace sextant
