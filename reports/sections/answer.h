// The first screen of a plan's report: the answer in a sentence, who does what on which machine, where the time
// goes, whether it fits, and how far to trust it.
#pragma once

#include <vector>

#include "reports/content/content.h"
#include "reports/content/report_input.h"

namespace sextant::inline reports {

// True if the report has a plan and its prediction.
[[nodiscard]] bool has_answer(const ReportInput& input);

// The two functions below need one: what stands before the facts, and after them.
[[nodiscard]] LeadText answer_verdict(const ReportInput& input);
[[nodiscard]] std::vector<Block> answer_blocks(const ReportInput& input);

}  // namespace sextant::inline reports
