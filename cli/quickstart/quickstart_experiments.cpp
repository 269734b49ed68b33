#include "cli/quickstart/quickstart_experiments.h"

#include <algorithm>

namespace sextant::cli {
namespace {

Model decoder(const std::string& name, int layers, int hidden, int intermediate, int heads, int kv_heads,
              int vocabulary) {
  Model model;
  model.name = name;
  model.layers = layers;
  model.hidden = hidden;
  model.intermediate = intermediate;
  model.heads = heads;
  model.kv_heads = kv_heads;
  model.head_dim = hidden / heads;
  model.vocabulary = vocabulary;
  return model;
}

Model with_value_head(Model model) {
  model.name += "-value";
  model.value_head = true;
  return model;
}

Model small() { return decoder("small-5m", 4, 256, 768, 8, 8, 2048); }
Model medium() { return decoder("medium-11m", 6, 384, 1024, 8, 4, 2048); }
Model wide() { return decoder("wide-18m", 4, 640, 1536, 10, 10, 1024); }
Model deep() { return decoder("deep-15m", 8, 384, 1152, 8, 8, 2048); }
Model large() { return decoder("large-22m", 6, 512, 1408, 8, 8, 4096); }

struct Sizes {
  int prompts;
  int responses_per_prompt;
  double prompt_tokens;
  double response_tokens;
  int mini_batches = 1;
};

Workflow base(const std::string& name, const Sizes& sizes) {
  Workflow workflow;
  workflow.name = name;
  workflow.prompts = sizes.prompts;
  workflow.responses_per_prompt = sizes.responses_per_prompt;
  workflow.prompt_tokens = fixed_length(sizes.prompt_tokens);
  workflow.response_tokens = fixed_length(sizes.response_tokens);
  workflow.mini_batches = sizes.mini_batches;
  workflow.precision = Precision::fp32;
  return workflow;
}

Workflow grpo(const std::string& name, const Model& actor, const Sizes& sizes) {
  Workflow workflow = base(name, sizes);
  workflow.algorithm = Algorithm::grpo;
  workflow.models["actor"] = actor;
  workflow.models["reference"] = actor;
  workflow.tasks = grpo_tasks(false);
  return workflow;
}

Workflow ppo(const std::string& name, const Model& actor, const Model& critic, const Sizes& sizes) {
  Workflow workflow = base(name, sizes);
  workflow.algorithm = Algorithm::ppo;
  workflow.models["actor"] = actor;
  workflow.models["reference"] = actor;
  workflow.models["critic"] = with_value_head(critic);
  workflow.models["reward"] = with_value_head(critic);
  workflow.tasks = ppo_tasks();
  return workflow;
}

Workflow one_step_off(Workflow workflow) {
  workflow.mode = Mode::one_step_off;
  workflow.staleness = 1;
  return workflow;
}

std::vector<Workflow> calibration_workflows() {
  return {
      grpo("grpo-small-a", small(), {4, 4, 64, 32}),
      grpo("grpo-small-b", small(), {4, 2, 128, 24}),
      grpo("grpo-medium-a", medium(), {2, 4, 48, 40}),
      grpo("grpo-medium-b", medium(), {4, 4, 32, 16, 2}),
      grpo("grpo-wide-a", wide(), {2, 4, 64, 16}),
      grpo("grpo-wide-b", wide(), {1, 4, 96, 32}),
      grpo("grpo-deep-a", deep(), {2, 4, 40, 24}),
      grpo("grpo-large-a", large(), {2, 2, 64, 32}),
      grpo("grpo-large-b", large(), {2, 4, 32, 16}),
      ppo("ppo-small", small(), small(), {8, 1, 64, 24}),
      ppo("ppo-medium", medium(), small(), {8, 1, 48, 16}),
      ppo("ppo-deep", deep(), medium(), {4, 1, 64, 24, 2}),
  };
}

// Generation for the next iteration beside training: lengths and batches of their own, so that keeping one back
// keeps them from the fit.
std::vector<Workflow> one_step_off_workflows() {
  return {
      one_step_off(grpo("grpo-small-late", small(), {4, 3, 80, 40})),
      one_step_off(grpo("grpo-medium-late", medium(), {3, 3, 56, 20})),
      one_step_off(grpo("grpo-deep-late", deep(), {2, 3, 72, 16})),
  };
}

constexpr int kMicroBatch = 4;  // sequences, unless a layout says otherwise

TaskPlan uniform(int layers, int dp, int pp, int tp, int first, int micro_batch) {
  TaskPlan task;
  task.replicas = expand_layout({dp, pp, tp, DeviceId{first}}, layers);
  task.micro_batch_sequences = micro_batch;
  return task;
}

Plan everywhere(const Workflow& workflow, const std::string& name, int dp, int pp, int tp, int micro_batch) {
  Plan plan;
  plan.name = workflow.name + "/" + name;
  for (const Task& task : workflow.tasks) {
    plan.tasks[task.name] = uniform(workflow.model_of(task).layers, dp, pp, tp, 0, micro_batch);
  }
  return plan;
}

// Generation on device 0, everything else on device 1.
Plan split(const Workflow& workflow) {
  Plan plan;
  plan.name = workflow.name + "/split";
  for (const Task& task : workflow.tasks) {
    const int device = task.kind == TaskKind::generation ? 0 : 1;
    plan.tasks[task.name] = uniform(workflow.model_of(task).layers, 1, 1, 1, device, kMicroBatch);
  }
  return plan;
}

// Generation data-parallel, inference tasks dealt to single devices, training tensor-parallel.
Plan mixed(const Workflow& workflow) {
  Plan plan;
  plan.name = workflow.name + "/mixed";
  int next = 0;
  for (const Task& task : workflow.tasks) {
    const int layers = workflow.model_of(task).layers;
    switch (task.kind) {
      case TaskKind::generation:
        plan.tasks[task.name] = uniform(layers, 2, 1, 1, 0, kMicroBatch);
        break;
      case TaskKind::inference:
        plan.tasks[task.name] = uniform(layers, 1, 1, 1, next++ % 2, kMicroBatch);
        break;
      case TaskKind::training:
        plan.tasks[task.name] = uniform(layers, 1, 1, 2, 0, kMicroBatch);
        break;
    }
  }
  return plan;
}

// Pipeline-parallel training with one layer more on the second stage, tensor-parallel generation.
Plan uneven(const Workflow& workflow) {
  Plan plan = everywhere(workflow, "uneven", 1, 2, 1, 2);
  for (const Task& task : workflow.tasks) {
    const int layers = workflow.model_of(task).layers;
    if (task.kind == TaskKind::generation) {
      plan.tasks[task.name] = uniform(layers, 1, 1, 2, 0, kMicroBatch);
      continue;
    }
    std::vector<Stage>& stages = plan.tasks[task.name].replicas.front().stages;
    stages[0].layers = layers / 2 - 1;
    stages[1].layers = layers - stages[0].layers;
  }
  return plan;
}

// Generation in two waves of half the batch.
Plan in_waves(Plan plan, const Workflow& workflow) {
  TaskPlan& generation = plan.tasks.at(workflow.actor_generation().name);
  generation.decode_batch_sequences = std::max(1, workflow.sequences() / generation.data_parallel() / 2);
  plan.name += "-waves";
  return plan;
}

class Suite {
 public:
  void add(const Workflow& workflow, const Plan& plan) {
    all_.workflows[workflow.name] = workflow;
    all_.plans[plan.name] = plan;
    all_.experiments.push_back({plan.name, workflow.name, plan.name});
  }
  [[nodiscard]] Experiments take() { return std::move(all_); }

 private:
  Experiments all_;
};

Experiments one_device_experiments() {
  Suite suite;
  for (const Workflow& workflow : calibration_workflows()) {
    suite.add(workflow, everywhere(workflow, "alone-mb2", 1, 1, 1, 2));
    suite.add(workflow, in_waves(everywhere(workflow, "alone-mb4", 1, 1, 1, 4), workflow));
  }
  return suite.take();
}

Experiments two_device_experiments() {
  Suite suite;
  int turn = 0;
  for (const Workflow& workflow : calibration_workflows()) {
    suite.add(workflow, everywhere(workflow, "dp2", 2, 1, 1, turn % 2 == 0 ? 4 : 2));
    suite.add(workflow, everywhere(workflow, "tp2", 1, 1, 2, turn % 2 == 0 ? 2 : 8));
    switch (turn % 6) {
      case 0:
        suite.add(workflow, in_waves(everywhere(workflow, "pp2", 1, 2, 1, 2), workflow));
        break;
      case 1:
        suite.add(workflow, split(workflow));
        break;
      case 2:
        suite.add(workflow, uneven(workflow));
        break;
      case 3:
        suite.add(workflow, mixed(workflow));
        break;
      case 4:
        suite.add(workflow, everywhere(workflow, "pp2", 1, 2, 1, 1));
        break;
      default:
        suite.add(workflow, everywhere(workflow, "alone", 1, 1, 1, kMicroBatch));
        break;
    }
    ++turn;
  }
  for (const Workflow& workflow : one_step_off_workflows()) suite.add(workflow, split(workflow));
  return suite.take();
}

}  // namespace

Experiments calibration_experiments(int devices) {
  return devices < 2 ? one_device_experiments() : two_device_experiments();
}

Workflow target_workflow() {
  return grpo("grpo-target", decoder("target-13m", 6, 448, 1152, 8, 8, 2048), {2, 4, 56, 28});
}

std::vector<std::pair<std::string, Plan>> customary_plans(const Workflow& workflow, int devices) {
  std::vector<std::pair<std::string, Plan>> plans;
  if (devices < 2) {
    plans.emplace_back("alone", everywhere(workflow, "alone", 1, 1, 1, kMicroBatch));
    plans.emplace_back("alone-mb1", everywhere(workflow, "alone-mb1", 1, 1, 1, 1));
    return plans;
  }
  plans.emplace_back("dp2", everywhere(workflow, "dp2", 2, 1, 1, kMicroBatch));
  plans.emplace_back("tp2", everywhere(workflow, "tp2", 1, 1, 2, kMicroBatch));
  plans.emplace_back("pp2", everywhere(workflow, "pp2", 1, 2, 1, 2));
  plans.emplace_back("split", split(workflow));
  plans.emplace_back("mixed", mixed(workflow));
  return plans;
}

}  // namespace sextant::cli
