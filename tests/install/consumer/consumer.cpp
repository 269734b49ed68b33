// Reads a published model, lays GRPO out on two invented GPUs and predicts an iteration.
#include <cstdio>

#include "core/document.h"
#include "core/json_value.h"
#include "costmodel/predict.h"

namespace {

sextant::Model find_model(const std::string& name) {
  const sextant::Json facts = sextant::parse_json(sextant::read_text_file(SEXTANT_DATA_DIR "/models.json"));
  for (const sextant::JsonView& entry : sextant::JsonView(facts).required("models").items()) {
    if (entry.required("name").text() == name) return sextant::Model::parse(entry);
  }
  sextant::throw_bad_input("no model " + name);
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
    const sextant::Model model = find_model("Qwen2.5-0.5B");
    const sextant::Workflow workflow = grpo(model);
    const sextant::Prediction prediction =
        sextant::predict(two_gpus(), workflow, tensor_parallel(workflow), {});
    std::printf("parameters %.0f\n", model.parameters());
    std::printf("iteration %s\n", prediction.iteration_s > 0 ? "positive" : "not positive");
    return 0;
  } catch (const sextant::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
