// Helpers shared by the tests of the documents in data/runs.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "sextant/document.h"
#include "sextant/run.h"

namespace sextant {

// The runs of data/runs/SOURCE.json.
class PublishedRuns {
 public:
  explicit PublishedRuns(const std::string& source)
      : runs_(load_document<Runs>(std::string(SEXTANT_SOURCE_DIR) + "/data/runs/" + source + ".json").content) {
  }

  [[nodiscard]] const Runs& all() const { return runs_; }
  [[nodiscard]] const Run& run(const std::string& name) const {
    for (const Run& run : runs_.runs) {
      if (run.name == name) return run;
    }
    throw std::out_of_range("no run is named " + name);
  }
  [[nodiscard]] const Cluster& cluster(const std::string& name) const { return runs_.cluster_of(run(name)); }
  [[nodiscard]] const Workflow& workflow(const std::string& name) const { return runs_.workflow_of(run(name)); }
  [[nodiscard]] const Model& model(const std::string& name) const { return workflow(name).models.at("actor"); }
  [[nodiscard]] const Plan& plan(const std::string& name) const { return runs_.plan_of(run(name)); }
  [[nodiscard]] const TaskPlan& task(const std::string& name, const std::string& task) const {
    return plan(name).tasks.at(task);
  }
  [[nodiscard]] const TaskPlan& training(const std::string& name) const {
    return task(name, task_names::kActorTraining);
  }
  [[nodiscard]] const TaskPlan& generation(const std::string& name) const {
    return task(name, task_names::kActorGeneration);
  }

  [[nodiscard]] std::map<std::string, int> count_by_framework() const {
    std::map<std::string, int> out;
    for (const Run& run : runs_.runs) ++out[run.framework];
    return out;
  }

 private:
  Runs runs_;
};

// The groups of a run's unstated quantities, by name.
inline std::map<UnstatedQuantity, std::string> unstated_groups(const Run& run) {
  std::map<UnstatedQuantity, std::string> out;
  for (const Unstated& unstated : run.unstated) out.emplace(unstated.quantity, unstated.group);
  return out;
}

inline int tensor_parallel(const TaskPlan& task) {
  return task.tensor_parallel(task.replicas.front().stages.front());
}

inline int first_device(const TaskPlan& task) {
  return task.replicas.front().stages.front().devices.front().value;
}

}  // namespace sextant
