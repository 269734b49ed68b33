#include "tests/planner/ordinary_questions.h"

#include <algorithm>
#include <cmath>

namespace sextant::test {
namespace {

constexpr const char* kH100 = "H100-SXM-80GB";
constexpr const char* kA100 = "A100-SXM-80GB";
constexpr const char* kH20 = "H20-96GB";
constexpr const char* kH200 = "H200-SXM-141GB";
constexpr const char* kL40S = "L40S";

bool is_megatron(const std::string& framework) {
  return framework.find("megatron") != std::string::npos || framework == "slime";
}

Lengths lengths_of(double mean, int maximum) {
  constexpr double kSigma = 0.6;  // of responses of math and code models
  Lengths lengths;
  lengths.kind = LengthKind::lognormal;
  lengths.median = mean / std::exp(0.5 * kSigma * kSigma);
  lengths.sigma = kSigma;
  lengths.max = maximum;
  return lengths;
}

int smallest_power(double at_least) {
  int power = 1;
  while (power < at_least) power *= 2;
  return power;
}

struct Degrees {
  int tensor_parallel = 1;
  int pipeline_parallel = 1;
  int expert_parallel = 1;
};

// The fewest GPUs that hold the weights in a quarter of their memory, within a node.
int engine_width(const Model& model, const Cluster& cluster) {
  constexpr double kBytes = 2, kPart = 0.25;
  const double memory = cluster.type_of(DeviceId{0}).memory_bytes.value;
  const int width = smallest_power(kBytes * model.parameters() / (kPart * memory));
  return std::min({width, cluster.nodes().front().devices, model.heads});
}

// Megatron: tensor parallelism by size inside a node, then stages.
Degrees megatron_degrees(const Model& model, int devices) {
  const double billions = model.parameters() / 1e9;
  Degrees degrees;
  if (model.experts) {
    degrees.expert_parallel = std::min(8, devices);
    if (billions > 100) degrees = {4, 4, 8};
    return degrees;
  }
  degrees.tensor_parallel = billions < 2 ? 1 : billions < 9 ? 2 : billions < 20 ? 4 : 8;
  if (billions > 60) degrees.pipeline_parallel = std::min(4, devices / 8);
  return degrees;
}

// Stages are outermost, as Megatron numbers its ranks; other recipes have one stage.
TaskPlan layout_of(int devices, int width, int stages, int layers) {
  const UniformLayout layout{devices / width / stages, stages, width, DeviceId{0}, true};
  TaskPlan plan;
  plan.replicas = expand_layout(layout, layers);
  return plan;
}

}  // namespace

std::string OrdinaryQuestion::name() const {
  return std::string(name_of(algorithm)) + " " + model + " " + std::to_string(prompts) + "x" +
         std::to_string(responses) + " " + std::to_string(max_response_tokens / 1024) + "k, " +
         std::to_string(nodes) + " nodes of " + gpu + ", " + framework;
}

std::vector<OrdinaryQuestion> ordinary_questions() {
  std::vector<OrdinaryQuestion> all;
  constexpr auto grpo = Algorithm::grpo, ppo = Algorithm::ppo;
  for (const char* framework : {"verl-fsdp", "nemo-rl-dtensor"}) {
    all.push_back({kA100, 1, "Qwen2.5-1.5B", framework, grpo, 128, 8, 700, 4096});
    all.push_back({kH100, 1, "Qwen2.5-1.5B", framework, grpo, 256, 16, 2500, 8192});
    all.push_back({kA100, 1, "Qwen2.5-7B", framework, grpo, 128, 8, 1500, 4096});
    all.push_back({kA100, 1, "Qwen2.5-7B", framework, grpo, 128, 8, 4000, 16384});
    all.push_back({kH100, 2, "Qwen3-8B", framework, grpo, 256, 8, 1500, 4096});
    all.push_back({kH20, 1, "Qwen2.5-7B", framework, grpo, 64, 8, 700, 4096});
    all.push_back({kH100, 4, "Qwen3-14B", framework, grpo, 512, 8, 1500, 4096});
    all.push_back({kH100, 4, "Qwen3-14B", framework, grpo, 128, 16, 8000, 32768});
    all.push_back({kH100, 8, "Qwen3-32B", framework, grpo, 256, 16, 3000, 8192});
    all.push_back({kH200, 4, "Qwen2.5-32B", framework, grpo, 128, 8, 4000, 16384});
    all.push_back({kH100, 16, "Qwen2.5-72B", framework, grpo, 256, 8, 1500, 4096});
    all.push_back({kL40S, 2, "Qwen2.5-1.5B", framework, grpo, 64, 8, 700, 4096});
  }
  for (const char* framework : {"verl-megatron", "nemo-rl-megatron"}) {
    all.push_back({kH100, 1, "Qwen3-4B", framework, grpo, 128, 8, 1500, 4096});
    all.push_back({kH100, 2, "Qwen3-8B", framework, grpo, 256, 8, 1500, 4096});
    all.push_back({kH100, 4, "Qwen3-14B", framework, grpo, 512, 8, 1500, 4096});
    all.push_back({kH100, 8, "Qwen3-32B", framework, grpo, 256, 16, 3000, 8192});
    all.push_back({kH200, 8, "Qwen3-32B", framework, grpo, 128, 16, 8000, 32768});
    all.push_back({kH100, 16, "Qwen2.5-72B", framework, grpo, 256, 8, 1500, 4096});
    all.push_back({kH100, 32, "Qwen2.5-72B", framework, grpo, 512, 16, 3000, 8192});
    all.push_back({kH100, 2, "Qwen3-30B-A3B", framework, grpo, 128, 8, 2500, 8192});
    all.push_back({kH100, 4, "Qwen3-30B-A3B", framework, grpo, 256, 16, 3000, 8192});
    all.push_back({kH20, 4, "Qwen3-30B-A3B", framework, grpo, 128, 8, 4000, 16384});
    all.push_back({kH100, 32, "Qwen3-235B-A22B", framework, grpo, 256, 16, 3000, 8192});
    all.push_back({kH200, 16, "Qwen3-235B-A22B", framework, grpo, 128, 16, 4000, 16384});
  }
  for (const char* framework : {"openrlhf", "trl"}) {
    all.push_back({kA100, 1, "Qwen2.5-1.5B", framework, grpo, 128, 8, 700, 4096});
    all.push_back({kA100, 1, "Qwen2.5-7B", framework, grpo, 64, 8, 700, 4096});
    all.push_back({kH100, 2, "Llama-3.1-8B", framework, grpo, 128, 8, 1500, 4096});
  }
  for (const char* framework : {"verl-fsdp", "verl-megatron"}) {
    all.push_back({kA100, 1, "Qwen2.5-1.5B", framework, ppo, 512, 1, 400, 1024});
    all.push_back({kA100, 2, "Qwen2-7B", framework, ppo, 1024, 1, 400, 1024});
    all.push_back({kH100, 4, "Qwen2.5-14B", framework, ppo, 1024, 1, 1000, 4096});
    all.push_back({kH100, 8, "Qwen2.5-32B", framework, ppo, 1024, 1, 1000, 4096});
  }
  return all;
}

Cluster cluster_of(const OrdinaryQuestion& question, const Facts& facts) {
  constexpr double kHostMemory_bytes = 2e12;
  const Gpu& gpu = facts.gpu(question.gpu);
  std::vector<Node> nodes;
  for (int n = 0; n < question.nodes; ++n) {
    Node node;
    node.name = "node" + std::to_string(n);
    node.region = "region";
    node.zone = "zone";
    node.device_type = question.gpu;
    node.devices = gpu.per_node;
    node.host_memory_bytes = kHostMemory_bytes;
    node.link = gpu.within_node;
    node.network_bytes_per_s = gpu.network_bytes_per_s;
    nodes.push_back(std::move(node));
  }
  return Cluster(std::to_string(question.nodes) + " nodes of " + question.gpu, {{question.gpu, gpu.type}},
                 std::move(nodes), {{LinkLevel::within_zone, gpu.between_nodes}});
}

Workflow workflow_of(const OrdinaryQuestion& question, const Facts& facts) {
  Workflow workflow;
  workflow.name = "ordinary";
  workflow.algorithm = question.algorithm;
  const Model& model = facts.model(question.model);
  workflow.models["actor"] = workflow.models["reference"] = model;
  if (question.algorithm == Algorithm::ppo) {
    Model values = model;
    values.value_head = true;
    workflow.models["critic"] = workflow.models["reward"] = values;
  }
  workflow.tasks = question.algorithm == Algorithm::ppo ? ppo_tasks() : grpo_tasks(false);
  workflow.prompts = question.prompts;
  workflow.responses_per_prompt = question.responses;
  workflow.prompt_tokens = lengths_of(300, 1024);
  workflow.response_tokens = lengths_of(question.mean_response_tokens, question.max_response_tokens);
  workflow.check();
  return workflow;
}

Plan recipe_of(const OrdinaryQuestion& question, const FrameworkProfile& profile, const Workflow& workflow,
               const Cluster& cluster) {
  constexpr double kCachePart = 0.4;
  constexpr int kTokens = 16384, kSequencesAtOnce = 1024;
  const int devices = cluster.device_count();
  Plan plan;
  plan.name = "recipe";
  plan.weight_sync = profile.weight_sync;
  for (const Task& task : workflow.tasks) {
    const Model& model = workflow.model_of(task);
    const bool generates = task.kind == TaskKind::generation;
    Degrees degrees;
    if (generates) degrees.tensor_parallel = engine_width(model, cluster);
    if (!generates && is_megatron(question.framework)) degrees = megatron_degrees(model, devices);
    TaskPlan& layout = plan.tasks[task.name] =
        layout_of(devices, degrees.tensor_parallel, degrees.pipeline_parallel, model.layers);
    layout.execution = profile.tasks.at(task.kind).executions.front();
    Execution& execution = layout.execution;
    execution.context_parallel = 1;
    execution.expert_parallel = degrees.expert_parallel;
    execution.expert_tensor_parallel = degrees.expert_parallel > 1 ? 1 : 0;
    if (generates) {
      const double memory = cluster.type_of(DeviceId{0}).memory_bytes.value;
      execution.kv_cache_bytes = std::floor(kCachePart * memory / 1e6) * 1e6;
      execution.shared_prompts = workflow.responses_per_prompt > 1;
      execution.offload_weights = true;  // it shares the trainer's GPUs: the examples of all put it to sleep
      layout.decode_batch_sequences = kSequencesAtOnce;
      continue;
    }
    if (task.kind == TaskKind::training) layout.recompute = Recompute::full;
    execution.micro_batches = 0;
    // The longest sequence that is allowed must fit, unless the batch is padded to the longest that is there.
    const double longest = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens();
    execution.micro_batch_tokens =
        execution.pads_to_longest() ? kTokens : std::max(kTokens, static_cast<int>(longest));
    execution.offload_weights = true;
    execution.sequence_parallel = degrees.tensor_parallel > 1;
    if (!model.experts) execution.fused_experts = false;
  }
  return plan;
}

}  // namespace sextant::test
