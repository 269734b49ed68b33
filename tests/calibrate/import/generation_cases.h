// Helpers shared by the tests of the readers of generation measurements.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "calibrate/import/import.h"

namespace sextant {

inline const Facts& carried_facts() {
  static const Facts facts =
      Facts::load(SEXTANT_SOURCE_DIR "/data/gpus.json", SEXTANT_SOURCE_DIR "/data/models.json");
  return facts;
}

// Returns the path of a file under data/public.
inline std::filesystem::path carried_file(const std::string& name) {
  return std::filesystem::path(SEXTANT_SOURCE_DIR) / "data" / "public" / name;
}

inline const Run& run_named(const Imported& imported, const std::string& name) {
  for (const Run& run : imported.runs.runs) {
    if (run.name == name) return run;
  }
  throw std::out_of_range("no run is named " + name);
}

inline const TaskPlan& plan_of(const Imported& imported, const std::string& name) {
  return imported.runs.plan_of(run_named(imported, name)).tasks.at(task_names::kActorGeneration);
}

inline const Workflow& workflow_of(const Imported& imported, const std::string& name) {
  return imported.runs.workflow_of(run_named(imported, name));
}

inline int tensor_parallel(const TaskPlan& plan) {
  return plan.tensor_parallel(plan.replicas.front().stages.front());
}

// Returns the groups of a run's unstated quantities, by name.
inline std::map<UnstatedQuantity, std::string> unstated_groups(const Run& run) {
  std::map<UnstatedQuantity, std::string> out;
  for (const Unstated& unstated : run.unstated) out.emplace(unstated.quantity, unstated.group);
  return out;
}

// Counts the records left out for each reason, by its first words: up to a colon or a quote.
inline std::map<std::string, int> count_by_reason(const Imported& imported) {
  std::map<std::string, int> out;
  for (const LeftOut& left_out : imported.left_out) {
    const std::string& reason = left_out.reason;
    ++out[reason.substr(0, std::min(reason.find(':'), reason.find(" \"")))];
  }
  return out;
}

}  // namespace sextant
