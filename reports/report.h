// The report: what was measured, fitted, validated and planned, for a person to read.
//
// Every document is optional; a section appears if its documents are there. One content (content.h) is made
// from the input, and three writers render it, so the page, the Markdown and the JSON agree:
//   HTML      one self-contained page with charts; opening it needs no network
//   Markdown  the same tables, without the charts
//   JSON      the data behind: tables with SI numbers, charts as Vega-Lite specifications with their data
#pragma once

#include <string>

#include "reports/content/report_input.h"
#include "sextant/json.h"

namespace sextant::inline reports {

[[nodiscard]] std::string render_html(const ReportInput& input);
[[nodiscard]] std::string render_markdown(const ReportInput& input);

// {"title": ..., "sections": [{"id", "title", "blocks": [...]}]}; not a document that is read back.
[[nodiscard]] Json report_json(const ReportInput& input);

}  // namespace sextant::inline reports
