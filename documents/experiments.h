// Experiments to measure: plans of workflows, by name. The proxy turns them into a Runs document.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/json.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline documents {

struct Experiment {
  std::string name;      // unique; becomes the run's name
  std::string workflow;  // keys into the document
  std::string plan;

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

struct Experiments {
  static constexpr std::string_view kKind = "experiments";
  static constexpr SchemaVersion kVersion{1, 0};

  std::map<std::string, Workflow> workflows;
  std::map<std::string, Plan> plans;
  std::vector<Experiment> experiments;

  friend bool operator==(const Experiments&, const Experiments&) = default;
  static Experiments parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant::inline documents
