// Lays GRPO of Qwen2.5-0.5B out on two invented GPUs, predicts an iteration and plans.
#include <sextant/planners.h>
#include <sextant/predict.h>

#include <cstdio>

namespace {

sextant::Model qwen2_5_0_5b() {
  sextant::Model model;
  model.name = "Qwen2.5-0.5B";
  model.layers = 24;
  model.hidden = 896;
  model.intermediate = 4864;
  model.heads = 14;
  model.kv_heads = 2;
  model.head_dim = 64;
  model.vocabulary = 151936;
  model.tied_embeddings = true;
  return model;
}

sextant::Cluster two_gpus() {
  using sextant::assumed;
  sextant::DeviceType type;
  type.memory_bytes = assumed(80e9);
  type.memory_bytes_per_s = assumed(2e12);
  type.flop_per_s[sextant::Precision::bf16] = assumed(3e14);
  sextant::Node node;
  node.name = "node";
  node.region = "region";
  node.zone = "zone";
  node.device_type = "gpu";
  node.devices = 2;
  return {"two", {{"gpu", type}}, {node}, {{sextant::LinkLevel::within_node, {assumed(5e-6), assumed(2e11)}}}};
}

sextant::Workflow grpo(const sextant::Model& model) {
  sextant::Workflow workflow;
  workflow.name = "grpo";
  workflow.models = {{"actor", model}, {"reference", model}};
  workflow.tasks = sextant::grpo_tasks(false);
  workflow.prompts = 8;
  workflow.responses_per_prompt = 4;
  workflow.prompt_tokens = sextant::fixed_length(256);
  workflow.response_tokens = sextant::fixed_length(512);
  return workflow;
}

sextant::Plan tensor_parallel(const sextant::Workflow& workflow) {
  sextant::Plan plan;
  plan.name = "tp2";
  sextant::UniformLayout layout;
  layout.tensor_parallel = 2;
  for (const sextant::Task& task : workflow.tasks) {
    plan.tasks[task.name].replicas = sextant::expand_layout(layout, workflow.model_of(task).layers);
  }
  return plan;
}

}  // namespace

int main() {
  try {
    const sextant::Model model = qwen2_5_0_5b();
    const sextant::Workflow workflow = grpo(model);
    const sextant::Prediction prediction =
        sextant::predict(two_gpus(), workflow, tensor_parallel(workflow), {});
    std::printf("parameters %.0f\n", model.parameters());
    std::printf("iteration %s\n", prediction.iteration_s > 0 ? "positive" : "not positive");

    const sextant::Cluster cluster = two_gpus();
    const sextant::Coefficients neutral;
    sextant::PlanRequest request{cluster, workflow, neutral};
    request.budget.evaluations = 2000;
    const sextant::PlanResult result = sextant::find_planner("sha-ea")->plan(request);
    std::printf("planned %s\n",
                result.plan && result.prediction->iteration_s <= prediction.iteration_s * (1 + 1e-9)
                    ? "no slower than by hand"
                    : "slower than by hand");
    return 0;
  } catch (const sextant::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
