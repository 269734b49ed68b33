// The documents that a report is made from. Each is optional: a section appears if its documents are there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/accuracy.h"
#include "core/document.h"
#include "documents/cluster.h"
#include "documents/coefficients.h"
#include "documents/explanation.h"
#include "documents/plan.h"
#include "documents/prediction.h"
#include "documents/run.h"
#include "documents/search.h"

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

}  // namespace sextant
