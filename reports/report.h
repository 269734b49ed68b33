// The report: what was measured, fitted, validated and planned, for a person to read.
//
// Everything is optional; a section appears when its documents are there. One content (content.h) is made
// from the input, and three writers render it, so the page, the Markdown and the JSON say the same:
//   HTML      one self-contained page with charts; opening it needs no network
//   Markdown  the same tables, without the charts
//   JSON      the data behind: tables with SI numbers, charts as Vega-Lite specifications with their data
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/accuracy.h"
#include "core/document.h"
#include "core/json.h"
#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/coefficients.h"
#include "costmodel/vocabulary/explanation.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/prediction.h"
#include "costmodel/vocabulary/run.h"
#include "costmodel/vocabulary/search.h"

namespace sextant {

struct ReportInput {
  std::string title;
  std::optional<Document<Cluster>> cluster;
  std::optional<Document<Runs>> runs;
  std::optional<Document<Coefficients>> coefficients;
  std::optional<Document<Accuracy>> accuracy;
  std::optional<Document<Plan>> plan;
  std::optional<Document<Prediction>> prediction;
  std::optional<Document<SearchRecord>> search;
  std::optional<Document<Explanation>> explanation;
  std::vector<std::string> notes;  // sentences for the top of the page
};

[[nodiscard]] std::string render_html(const ReportInput& input);
[[nodiscard]] std::string render_markdown(const ReportInput& input);

// {"title": ..., "sections": [{"id", "title", "blocks": [...]}]}; not a document that is read back.
[[nodiscard]] Json report_json(const ReportInput& input);

}  // namespace sextant
