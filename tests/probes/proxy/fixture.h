// Small clusters, workflows and plans for the proxy's tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/proxy/session.h"
#include "probes/proxy/stage.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::test {

// One node with this many CPU devices.
[[nodiscard]] Cluster make_cluster(int devices);

// hidden 16, 3 layers, 4 heads with 2 KV heads, vocabulary 32.
[[nodiscard]] Model small_model(const std::string& name, bool value_head = false);

// 4 prompts of 6 tokens with 2 responses of 5, in fp32.
[[nodiscard]] Workflow small_grpo();
[[nodiscard]] Workflow small_ppo();

// Stages of (layers, devices), as {{2, {0}}, {1, {1}}}.
[[nodiscard]] Replica make_replica(std::vector<Stage> stages, double share = 1);
[[nodiscard]] Stage make_stage(int layers, const std::vector<int>& devices);
[[nodiscard]] TaskPlan uniform(int data, int pipeline, int tensor, int first = 0, int layers = 3);

// The same layout for every task of the workflow.
[[nodiscard]] Plan plan_all(const Workflow& workflow, const TaskPlan& layout);

// One task on one rank, without a session.
struct SerialTask {
  SerialTask(const Workflow& task_workflow, const std::string& task_name, unsigned seed = 1,
             TaskPlan task_plan = uniform(1, 1, 1));
  [[nodiscard]] proxy::TaskSetup setup();

  Workflow workflow;
  TaskPlan plan;
  std::string name;
  unsigned seed;
  std::unique_ptr<Communicator> world;
  proxy::TaskGroup group;
  proxy::Workload workload;
};

}  // namespace sextant::test
