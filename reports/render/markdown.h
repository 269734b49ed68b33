// The report as Markdown (CommonMark with pipe tables): texts and tables; a chart's numbers are in tables.
#pragma once

#include <string>

#include "reports/content/content.h"

namespace sextant::inline reports {

[[nodiscard]] std::string write_markdown(const Content& content);

}  // namespace sextant::inline reports
