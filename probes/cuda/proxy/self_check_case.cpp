#include "probes/cuda/proxy/self_check_case.h"

#include "probes/proxy/model/random.h"

namespace sextant::gpu {

using namespace proxy;

namespace {

constexpr int kLayers = 3;

Model small_model(const CheckedShape& shape) {
  Model model;
  model.name = "self-check";
  model.layers = kLayers;
  model.hidden = 128;
  model.intermediate = 192;
  model.heads = shape.heads;
  model.kv_heads = shape.kv_heads;
  model.head_dim = shape.dim;
  model.vocabulary = 256;
  return model;
}

}  // namespace

std::vector<Replica> CheckedLayout::expand() const {
  return expand_layout({replicas, stages, width, DeviceId{first}}, kLayers);
}

Workflow checked_workflow(const CheckedShape& shape, Precision precision) {
  Workflow workflow;
  workflow.name = "self-check";
  workflow.tasks = grpo_tasks(false);
  for (const Task& task : workflow.tasks) workflow.models[task.model] = small_model(shape);
  workflow.prompts = 4;
  workflow.responses_per_prompt = 3;
  workflow.prompt_tokens = {LengthKind::empirical, {7, 30, 85}, {1, 1, 1}, 0, 0, 0};
  workflow.response_tokens = {LengthKind::empirical, {2, 9, 20}, {1, 1, 1}, 0, 0, 0};
  workflow.precision = precision;
  return workflow;
}

TaskAlone::TaskAlone(Communicator& ranks, const CheckedShape& shape, Precision precision,
                     const std::string& task, const CheckedLayout& layout, const TaskPlan& changes)
    : world(ranks),
      workflow(checked_workflow(shape, precision)),
      name(task),
      plan(changes),
      workload(make_workload(workflow, kSeed)) {
  plan.replicas = layout.expand();
  plan.micro_batch_sequences = 4;  // the last micro-batch is smaller
  group = std::make_unique<TaskGroup>(world, plan);
}

Rollout random_rollout(const TaskAlone& task) {
  Rollout rollout(task.workload);
  start_rollout(task.workflow, task.workload, 3, rollout);
  make_up_responses(task.workflow, task.workload, rollout);
  for (std::size_t i = 0; i < rollout.advantages.size(); ++i) rollout.advantages[i] = 2 * uniform(100 + i) - 1;
  return rollout;
}

std::vector<float> on_host(const DeviceArray<Bf16>& device, std::size_t first, std::size_t count) {
  std::vector<Bf16> raw(count);
  check_cuda(cudaMemcpy(raw.data(), device.data() + first, count * sizeof(Bf16), cudaMemcpyDeviceToHost),
             "reading bf16 numbers");
  std::vector<float> values;
  values.reserve(count);
  for (const Bf16 value : raw) values.push_back(__bfloat162float(value));
  return values;
}

}  // namespace sextant::gpu
