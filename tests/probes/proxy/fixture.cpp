#include "tests/probes/proxy/fixture.h"

#include "tests/probes/cores.h"

namespace sextant::test {
namespace {

Workflow small_workflow(Algorithm algorithm, std::vector<Task> tasks) {
  Workflow workflow;
  workflow.name = std::string(name_of(algorithm)) + "-small";
  workflow.algorithm = algorithm;
  workflow.tasks = std::move(tasks);
  for (const Task& task : workflow.tasks) {
    const bool has_value_head =
        task.model == "critic" || task.model == "reward_model" || task.model == "reward";
    workflow.models[task.model] = small_model(task.model, has_value_head);
  }
  workflow.prompts = 4;
  workflow.responses_per_prompt = 2;
  workflow.prompt_tokens = fixed_length(6);
  workflow.response_tokens = fixed_length(5);
  workflow.precision = Precision::fp32;
  return workflow;
}

}  // namespace

Cluster make_cluster(int devices) { return host_of_cores("test", devices); }

Model small_model(const std::string& name, bool value_head) {
  Model model;
  model.name = name;
  model.layers = 3;
  model.hidden = 16;
  model.intermediate = 24;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_dim = 4;
  model.vocabulary = 32;
  model.value_head = value_head;
  return model;
}

Workflow small_grpo() { return small_workflow(Algorithm::grpo, grpo_tasks(true)); }
Workflow small_ppo() { return small_workflow(Algorithm::ppo, ppo_tasks()); }

Replica make_replica(std::vector<Stage> stages, double share) { return {share, std::move(stages)}; }

Stage make_stage(int layers, const std::vector<int>& devices) {
  Stage stage;
  stage.layers = layers;
  for (const int device : devices) stage.devices.push_back(DeviceId{device});
  return stage;
}

TaskPlan uniform(int data, int pipeline, int tensor, int first, int layers) {
  TaskPlan plan;
  plan.replicas = expand_layout({data, pipeline, tensor, DeviceId{first}}, layers);
  plan.micro_batch_sequences = 2;
  return plan;
}

Plan plan_all(const Workflow& workflow, const TaskPlan& layout) {
  Plan plan;
  plan.name = "all";
  for (const Task& task : workflow.tasks) plan.tasks[task.name] = layout;
  return plan;
}

SerialTask::SerialTask(const Workflow& task_workflow, const std::string& task_name, unsigned task_seed,
                       TaskPlan task_plan)
    : workflow(task_workflow),
      plan(std::move(task_plan)),
      name(task_name),
      seed(task_seed),
      world(make_serial_communicator()),
      group(*world, plan),
      workload(proxy::make_workload(workflow, seed)) {}

proxy::TaskSetup SerialTask::setup() {
  return {*world, workflow, workflow.task(name), plan, workload, group, 0, seed};
}

}  // namespace sextant::test
