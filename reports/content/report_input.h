// The documents that a report is made from. Each is optional: a section appears if its documents are there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/accuracy.h"
#include "documents/explanation.h"
#include "planner/coschedule/group.h"
#include "planner/coschedule/simulation/simulate.h"
#include "reports/content/cluster_verdict.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/document.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/run.h"
#include "sextant/search.h"

namespace sextant::inline reports {

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
  std::optional<Document<coschedule::Placement>> placement;
  std::optional<Document<coschedule::Simulation>> simulation;
  std::optional<ClusterVerdict> cluster_verdict;
  bool is_anonymous = false;       // content/anonymous.h
  std::vector<std::string> notes;  // sentences for the top of the page
};

}  // namespace sextant::inline reports
