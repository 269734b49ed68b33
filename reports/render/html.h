// One self-contained page: style, chart libraries, chart specifications and data are all inside.
//
// When all charts have settled the page sets on its root element data-charts-expected, data-charts-rendered
// and data-chart-errors (a JSON list of texts), for tests.
#pragma once

#include <string>

#include "reports/content/content.h"

namespace sextant::inline reports {

[[nodiscard]] std::string write_html(const Content& content);

}  // namespace sextant::inline reports
