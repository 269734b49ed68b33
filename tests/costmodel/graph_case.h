// Graphs on the small problem, and the cases of tests/data/field.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/document.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {

inline constexpr double kSumRounding = 1e-12;  // relative, for sums in another order

inline Workflow with_graph(std::vector<Task> tasks, Algorithm algorithm = Algorithm::grpo) {
  Workflow workflow = small_workflow();
  workflow.algorithm = algorithm;
  workflow.tasks = std::move(tasks);
  for (const Task& task : workflow.tasks) {
    Model model = small_model();
    model.value_head = task.model == "critic" || task.model == "reward";
    workflow.models[task.model] = model;
  }
  return workflow;
}

inline Plan all_on(const Workflow& workflow, int device) {
  Plan plan;
  plan.name = "plan";
  for (const Task& task : workflow.tasks) plan.tasks[task.name] = on_device(device);
  return plan;
}

inline Coefficients with_values(const std::vector<std::pair<CoefficientId, double>>& values) {
  Coefficients coefficients;
  for (const auto& [id, value] : values) {
    Coefficient coefficient;
    coefficient.id = id;
    coefficient.value = value;
    coefficients.values.push_back(coefficient);
  }
  return coefficients;
}

inline Prediction predicted(const Workflow& workflow, const Plan& plan) {
  return predict(small_cluster(), workflow, plan, Coefficients{});
}

inline double iteration_s(const Workflow& workflow) {
  return predicted(workflow, all_on(workflow, 0)).iteration_s;
}

template <typename T>
[[nodiscard]] T field(const std::string& file) {
  return load_document<T>(std::string(SEXTANT_TEST_DATA) + "/field/" + file).content;
}

struct FieldCase {
  explicit FieldCase(const std::string& folder, const std::string& prefix = "",
                     const std::string& prefix_of_cluster = "")
      : cluster(field<Cluster>(folder + "/" + prefix_of_cluster + "cluster.json")),
        workflow(field<Workflow>(folder + "/" + prefix + "workflow.json")),
        plan(field<Plan>(folder + "/" + prefix + "plan.json")) {}

  [[nodiscard]] Prediction answer() const { return predict(cluster, workflow, plan, Coefficients{}); }

  Cluster cluster;
  Workflow workflow;
  Plan plan;
};

}  // namespace sextant::test
