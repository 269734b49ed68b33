#include "tests/planner/verify/random_plans.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "documents/semantics.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}

  int number(int minimum, int maximum) { return std::uniform_int_distribution<int>(minimum, maximum)(engine_); }
  double real(double minimum, double maximum) {
    return std::uniform_real_distribution<double>(minimum, maximum)(engine_);
  }
  bool chance(double probability) { return real(0, 1) < probability; }
  template <typename T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(number(0, static_cast<int>(values.size()) - 1))];
  }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    std::shuffle(values.begin(), values.end(), engine_);
  }

 private:
  std::mt19937 engine_;
};

// Rarely without a link to the host or a rate for a format that a plan may ask for.
DeviceType random_type(Draw& draw) {
  DeviceType type = device_type(100, 50, draw.one_of<double>({2e4, 1e5, 1e6, 1e7}));
  for (const Precision format : {Precision::fp8, Precision::fp16}) {
    if (draw.chance(0.99)) type.flop_per_s[format] = assumed(100);
  }
  if (draw.chance(0.99)) type.host_bytes_per_s = assumed(10);
  return type;
}

Cluster random_cluster(Draw& draw) {
  std::vector<Node> nodes;
  const int count = draw.number(1, 3);
  for (int n = 0; n < count; ++n) {
    nodes.push_back(node("node" + std::to_string(n), draw.chance(0.5) ? "one" : "two", draw.number(1, 4)));
    if (draw.chance(0.3)) nodes.back().host_memory_bytes = draw.real(1e3, 1e6);
  }
  LinkRate between = link_rate(5, 10), far = link_rate(8, 4);
  if (draw.chance(0.3)) between.capacity_bytes_per_s = assumed(draw.real(5, 40));
  if (draw.chance(0.5)) far.capacity_bytes_per_s = assumed(draw.real(1, 16));
  if (draw.chance(0.3)) nodes.back().zone = "far away";
  return Cluster("random", {{"one", random_type(draw)}, {"two", random_type(draw)}}, nodes,
                 {{LinkLevel::within_node, link_rate(1, 100)},
                  {LinkLevel::within_zone, between},
                  {LinkLevel::within_region, far}});
}

Model random_model(Draw& draw, bool value_head) {
  Model model;
  model.name = "random";
  model.layers = draw.number(1, 6);
  model.hidden = draw.number(1, 6) * 4;
  model.intermediate = draw.one_of<int>({8, 12, 24, 24});
  model.gated_mlp = draw.chance(0.7);
  model.heads = draw.one_of<int>({4, 12});
  model.kv_heads = draw.one_of<int>({1, 2, 4});
  model.head_dim = draw.number(1, 3);
  model.vocabulary = draw.chance(0.3) ? 0 : 12 * draw.number(1, 4);
  model.tied_embeddings = draw.chance(0.3);
  model.value_head = value_head;
  if (draw.chance(0.3)) model.sliding_window = draw.number(1, 10);
  if (model.sliding_window > 0) model.sliding_window_layers = draw.number(0, model.layers);
  if (draw.chance(0.4)) {
    const int count = draw.one_of<int>({4, 6, 8, 8});
    const int shared = draw.chance(0.5) ? 0 : 12,
              dense = draw.chance(0.6) ? 0 : draw.number(0, model.layers - 1);
    model.experts = Experts{count, draw.number(1, 3), draw.one_of<int>({12, 24}), shared, dense};
  }
  if (draw.chance(0.2)) {
    const int query_rank = draw.number(0, 3), kv_rank = draw.number(1, 4);
    model.latent_attention = LatentAttention{query_rank, kv_rank, 2, query_rank == 1 ? 5 : 0};
  }
  if (!model.latent_attention && model.layers > 1 && draw.chance(0.2)) {
    const int keys = draw.one_of<int>({1, 4, 12});
    model.linear_attention = LinearAttention{draw.number(1, model.layers - 1),
                                             keys,
                                             keys * draw.number(1, 2),
                                             draw.number(1, 4),
                                             draw.number(1, 4),
                                             draw.number(1, 4),
                                             draw.number(1, 2)};
    model.attention_gate = draw.chance(0.5);
  }
  const int mixers = 1 + (model.linear_attention ? model.linear_attention->layers : 0);
  if (!model.latent_attention && model.sliding_window == 0 && model.layers > mixers && draw.chance(0.3)) {
    model.mlp_layers = draw.number(1, model.layers - mixers);
    if (model.experts) model.experts->dense_layers = draw.number(0, model.mlp_layers - 1);
  }
  return model;
}

Lengths random_lengths(Draw& draw) {
  Lengths lengths = fixed_length(draw.number(1, 12));
  if (draw.chance(0.3)) {
    lengths.kind = LengthKind::empirical;
    lengths.tokens = {2, 5, 9};
    lengths.weights = {1, draw.real(0, 3), 1};
  } else if (draw.chance(0.4)) {
    lengths = Lengths{};
    lengths.kind = LengthKind::lognormal;
    lengths.median = draw.real(1, 6);
    lengths.sigma = draw.real(0, 1);
    lengths.max = lengths.median * draw.real(1, 8);
  }
  return lengths;
}

void set_mode(Draw& draw, Workflow& workflow) {
  workflow.mode = draw.one_of<Mode>({Mode::synchronous, Mode::one_step_off, Mode::asynchronous});
  if (workflow.mode == Mode::one_step_off) workflow.staleness = 1;
  if (workflow.mode == Mode::asynchronous) workflow.staleness = draw.one_of<double>({0, 0.5, 1, 3});
}

void set_rollout(Draw& draw, Workflow& workflow) {
  RolloutRules& rollout = workflow.rollout;
  rollout.unfinished =
      draw.one_of<Unfinished>({Unfinished::waited_for, Unfinished::discarded, Unfinished::resumed});
  rollout.kept_fraction = draw.one_of<double>({1, 0.75, 0.5});
  rollout.started_prompts = draw.number(2 * workflow.prompts, 6 * workflow.prompts);
  rollout.is_interrupted = workflow.mode == Mode::asynchronous && draw.chance(0.5);
}

Workflow random_workflow(Draw& draw) {
  Workflow workflow;
  workflow.name = "random";
  workflow.algorithm = draw.chance(0.5) ? Algorithm::ppo : Algorithm::grpo;
  workflow.tasks = workflow.algorithm == Algorithm::ppo ? ppo_tasks() : grpo_tasks(draw.chance(0.5));
  for (const Task& task : workflow.tasks) {
    if (workflow.models.count(task.model) > 0) continue;
    workflow.models[task.model] = random_model(draw, task.model == "critic" || task.model == "reward");
  }
  set_mode(draw, workflow);
  workflow.prompts = draw.number(4, 16);
  workflow.responses_per_prompt = draw.number(1, 4);
  workflow.mini_batches = draw.number(1, std::min(3, workflow.sequences()));
  workflow.prompt_tokens = random_lengths(draw);
  workflow.response_tokens = random_lengths(draw);
  workflow.precision = draw.one_of<Precision>({Precision::bf16, Precision::bf16, Precision::fp32});
  if (draw.chance(0.3)) {
    workflow.turns = draw.number(2, 4);
    workflow.observation_tokens_per_turn = draw.number(0, 5);
  }
  if (draw.chance(0.3)) set_rollout(draw, workflow);
  return workflow;
}

void set_formats(Draw& draw, Execution& execution) {
  const auto maybe = [&draw](std::optional<Precision>& format) {
    if (draw.chance(0.15)) {
      format = draw.one_of<Precision>({Precision::bf16, Precision::fp8, Precision::fp32, Precision::fp16});
    }
  };
  maybe(execution.precision);
  maybe(execution.weight_precision);
  maybe(execution.expert_precision);
  maybe(execution.expert_weight_precision);
  maybe(execution.attention_precision);
  maybe(execution.cache_precision);
  maybe(execution.gradient_precision);
  maybe(execution.main_gradient_precision);
  maybe(execution.moment_precision);
}

Execution random_execution(Draw& draw, const Model& model) {
  Execution execution;
  execution.context_parallel = draw.one_of<int>({1, 1, 1, 2});
  if (model.experts || draw.chance(0.01)) {
    execution.expert_parallel = draw.one_of<int>({1, 2, 2, 4});
    execution.expert_tensor_parallel = draw.one_of<int>({0, 1, 1, 2});
  }
  execution.virtual_stages = draw.one_of<int>({1, 1, 1, 1, 2, 3});
  execution.zero_stage = draw.number(0, 3);
  if (execution.zero_stage > 0 && draw.chance(0.3)) execution.sharded_over = draw.one_of<int>({1, 2, 2, 4});
  execution.sequence_parallel = draw.chance(0.5);
  execution.packed = draw.chance(0.5);
  if (draw.chance(0.4)) execution.padding = draw.one_of<Padding>({Padding::batch, Padding::micro_batch});
  execution.continuous_batching = draw.chance(0.5);
  execution.micro_batch_tokens = draw.chance(0.2) ? draw.number(40, 200) : 0;
  execution.micro_batches = draw.chance(0.15) ? draw.number(1, 2) : 0;
  execution.prefill_chunk_tokens = draw.chance(0.2) ? draw.number(1, 100) : 0;
  execution.shared_prompts = draw.chance(0.3);
  execution.fused_attention = draw.chance(0.5);
  execution.portable_attention = draw.chance(0.2);
  execution.fused_experts = draw.chance(0.2);
  execution.fused_loss = draw.chance(0.2);
  execution.logit_chunk_tokens = draw.chance(0.2) ? draw.number(1, 40) : 0;
  execution.master_weights = draw.chance(0.8);
  execution.fused_dispatch = draw.chance(0.2);
  execution.overlap_dispatch = draw.chance(0.2);
  execution.unfused = draw.chance(0.2);
  execution.eager_layers = draw.chance(0.2);
  execution.cuda_graphs = draw.chance(0.2);
  execution.training_graphs = draw.chance(0.2) ? TrainingGraphs::attention : TrainingGraphs::none;
  execution.kv_cache_bytes = draw.chance(0.3) ? draw.real(4e3, 3e4) : 0;
  execution.offload_optimizer = draw.chance(0.2);
  execution.offload_weights = draw.chance(0.2);
  execution.offload_activations = draw.chance(0.2);
  execution.offload_gradients = execution.offload_weights && !execution.offload_activations;
  if (execution.offload_activations || draw.chance(0.01)) {
    execution.offload_activation_layers = draw.number(0, 3);
  }
  execution.lora_rank = draw.chance(0.2) ? draw.number(1, 4) : 0;
  execution.semantics = draw.one_of(semantics_names());
  set_formats(draw, execution);
  return execution;
}

std::vector<int> split_layers(Draw& draw, int layers, int stages) {
  std::vector<int> parts(static_cast<std::size_t>(stages), 1);
  for (int left = layers - stages; left > 0; --left) {
    ++parts[static_cast<std::size_t>(draw.number(0, stages - 1))];
  }
  return parts;
}

void set_shares(Draw& draw, std::vector<Replica>& replicas) {
  const bool equal = draw.chance(0.6);
  double sum = 0;
  for (Replica& replica : replicas) sum += replica.batch_share = equal ? 1.0 : draw.real(0.5, 2);
  for (Replica& replica : replicas) replica.batch_share /= sum;
}

// Replicas of their own depths, stages of their own widths, on devices in any order; one device where that does
// not give a whole replica, and no context parallelism then.
std::vector<Replica> random_replicas(Draw& draw, const Cluster& cluster, const Model& model, int& contexts) {
  std::vector<int> devices(static_cast<std::size_t>(cluster.device_count()));
  std::iota(devices.begin(), devices.end(), 0);
  draw.shuffle(devices);
  std::vector<Replica> replicas;
  const int max_replicas = draw.number(1, 4), shared_width = draw.one_of<int>({1, 1, 2, 4});
  std::size_t next = 0;
  while (static_cast<int>(replicas.size()) < max_replicas) {
    Replica replica;
    for (const int layers : split_layers(draw, model.layers, draw.number(1, std::min(3, model.layers)))) {
      const int tensor_parallel = draw.chance(0.98) ? shared_width : draw.number(1, 3);
      Stage stage{layers, {}};
      for (int k = 0; k < tensor_parallel * contexts && next < devices.size(); ++k) {
        stage.devices.push_back(DeviceId{devices[next++]});
      }
      if (stage.width() == tensor_parallel * contexts) replica.stages.push_back(stage);
    }
    int layers = 0;
    for (const Stage& stage : replica.stages) layers += stage.layers;
    if (layers < model.layers && !replicas.empty()) break;  // no devices left for a whole one
    if (layers < model.layers) {
      replica.stages = {Stage{model.layers, {DeviceId{draw.number(0, cluster.device_count() - 1)}}}};
      contexts = 1;
      next = devices.size();
    }
    replicas.push_back(std::move(replica));
  }
  set_shares(draw, replicas);
  return replicas;
}

// A mistake of a planner.
void spoil(Draw& draw, const Cluster& cluster, TaskPlan& task) {
  Replica& replica = draw.one_of<int>({0, 1}) == 0 ? task.replicas.front() : task.replicas.back();
  Stage& stage = replica.stages.front();
  switch (draw.number(0, 5)) {
    case 0:
      stage.layers += draw.one_of<int>({-1, 1});
      return;
    case 1:
      stage.devices.back() = DeviceId{cluster.device_count()};
      return;
    case 2:
      stage.devices.push_back(stage.devices.front());
      return;
    case 3:
      stage.devices.clear();
      return;
    case 4:
      replica.batch_share *= 0.99;
      return;
    default:
      task.replicas.front().batch_share = 1e-9;
  }
}

// Whether all copies of a layer hold its experts equally often, and chunks have layers; mostly set right where
// not.
void adjust(Draw& draw, TaskPlan& task) {
  if (draw.chance(0.02)) return;
  Execution& execution = task.execution;
  for (const Replica& replica : task.replicas) {
    for (const Stage& stage : replica.stages) {
      execution.virtual_stages = std::min(execution.virtual_stages, stage.layers);
      const int inside =
          execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel : task.tensor_parallel(stage);
      const int holders = stage.width() * task.data_parallel();
      if (inside != 0 && holders % (execution.expert_parallel * inside) == 0) continue;
      execution.expert_parallel = 1;
      execution.expert_tensor_parallel = 0;
    }
  }
}

// Sometimes where lengths are not known.
void set_ranks(Draw& draw, TaskKind kind, std::vector<Replica>& replicas) {
  if (!draw.chance(kind == TaskKind::generation ? 0.005 : 0.4)) return;
  for (Replica& replica : replicas) replica.length_rank = draw.number(0, 2);
}

TaskPlan random_task(Draw& draw, const Cluster& cluster, const Model& model, TaskKind kind) {
  TaskPlan task;
  task.execution = random_execution(draw, model);
  task.replicas = random_replicas(draw, cluster, model, task.execution.context_parallel);
  set_ranks(draw, kind, task.replicas);
  adjust(draw, task);
  task.micro_batch_sequences = draw.number(1, 6);
  task.decode_batch_sequences = draw.chance(0.5) ? 0 : draw.number(1, 12);
  task.recompute = draw.one_of<Recompute>({Recompute::none, Recompute::selective, Recompute::full});
  if (draw.chance(0.01)) spoil(draw, cluster, task);
  return task;
}

Coefficients random_coefficients(Draw& draw) {
  using enum CoefficientId;
  Coefficients coefficients;
  for (const CoefficientId id : {memory_state_weight, memory_activation_weight, memory_logit_weight}) {
    for (const char* type : {"*", "one"}) {
      Coefficient value;
      value.id = id;
      value.device_type = type;
      value.value = draw.real(0.5, 2);
      if (draw.chance(0.6)) coefficients.values.push_back(value);
    }
  }
  Coefficient context;
  context.id = memory_context_bytes;
  context.framework = "mine";
  context.value = draw.real(0, 3000);
  if (draw.chance(0.6)) coefficients.values.push_back(context);
  return coefficients;
}

// Some passes run on the engine of the task that trains their model.
void share_engines(Draw& draw, const Workflow& workflow, Plan& plan) {
  for (const Task& pass : workflow.tasks) {
    for (const Task& trained : workflow.tasks) {
      const bool is_pass = pass.kind == TaskKind::inference && trained.kind == TaskKind::training;
      if (!is_pass || pass.model != trained.model || !draw.chance(0.4)) continue;
      if (plan.tasks.count(pass.name) == 0 || plan.tasks.count(trained.name) == 0) continue;
      TaskPlan& own = plan.tasks.at(pass.name);
      const TaskPlan& other = plan.tasks.at(trained.name);
      own.replicas = other.replicas;
      own.execution.context_parallel = other.execution.context_parallel;
      own.execution.expert_parallel = other.execution.expert_parallel;
      own.execution.expert_tensor_parallel = other.execution.expert_tensor_parallel;
      own.execution.virtual_stages = other.execution.virtual_stages;
      own.execution.zero_stage = other.execution.zero_stage;
      own.execution.sharded_over = other.execution.sharded_over;
    }
  }
}

}  // namespace

RandomCase random_case(unsigned seed) {
  Draw draw(seed);
  RandomCase out;
  out.cluster = random_cluster(draw);
  out.workflow = random_workflow(draw);
  out.plan.name = "random";
  for (const Task& task : out.workflow.tasks) {
    out.plan.tasks[task.name] = random_task(draw, out.cluster, out.workflow.model_of(task), task.kind);
  }
  if (draw.chance(0.01)) out.plan.tasks.erase(out.plan.tasks.begin());
  if (draw.chance(0.01)) out.plan.tasks["unknown"] = out.plan.tasks.begin()->second;
  out.coefficients = random_coefficients(draw);
  out.framework = draw.chance(0.5) ? "mine" : std::string(kAny);
  share_engines(draw, out.workflow, out.plan);
  return out;
}

}  // namespace sextant::test
