#include <algorithm>
#include <cmath>

#include "probes/cuda/gpu_engine.h"
#include "probes/cuda/gpu_self_check.h"
#include "probes/cuda/proxy/device_generation.h"
#include "probes/cuda/proxy/device_inference.h"
#include "probes/cuda/proxy/device_training.h"
#include "probes/proxy/inference.h"
#include "probes/proxy/random.h"
#include "probes/proxy/session.h"
#include "probes/proxy/training.h"

namespace sextant::gpu {
namespace {

using namespace proxy;

// A rounding to bf16 is up to 2^-9 of a number. Logits of order 1 pass through three layers with some ten
// roundings each, most of which average out.
constexpr double kLogProbability = 0.06;
constexpr double kMeanLogProbability = 0.005;
constexpr double kLoss = 0.005;           // relative
constexpr double kGradientAngle = 0.002;  // 1 - cosine
constexpr double kGradientLength = 0.02;  // relative
// What a token that the GPU finds the most likely may lack to the most likely one in fp32.
constexpr double kGreedyGap = 0.15;

struct Shape {
  int dim;
  int heads;
  int kv_heads;
};

Model small_model(const Shape& shape) {
  Model model;
  model.name = "self-check";
  model.layers = 3;
  model.hidden = 128;
  model.intermediate = 192;
  model.heads = shape.heads;
  model.kv_heads = shape.kv_heads;
  model.head_dim = shape.dim;
  model.vocabulary = 256;
  return model;
}

// Lengths that are no multiples of anything, and some that are equal.
Workflow small_workflow(const Shape& shape, Precision precision) {
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

// One task on one rank, without a session.
struct AloneTask {
  AloneTask(Communicator& ranks, const Shape& shape, Precision precision, const std::string& task,
            const TaskPlan& changes)
      : world(ranks),
        workflow(small_workflow(shape, precision)),
        name(task),
        plan(changes),
        workload(make_workload(workflow, kSeed)) {
    plan.replicas = expand_layout({1, 1, 1, DeviceId{0}}, 3);
    plan.micro_batch_sequences = 4;  // the last micro-batch is smaller
    group = std::make_unique<TaskGroup>(world, plan);
  }
  [[nodiscard]] TaskSetup setup() {
    return {world, workflow, workflow.task(name), plan, workload, *group, 0, kSeed};
  }
  static constexpr unsigned kSeed = 5;
  Communicator& world;
  Workflow workflow;
  std::string name;
  TaskPlan plan;
  Workload workload;
  std::unique_ptr<TaskGroup> group;
};

Rollout random_rollout(const AloneTask& task) {
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

class SelfCheck {
 public:
  SelfCheck(ProxyGpu& gpu, Communicator& world, const Shape& shape) : gpu_(gpu), world_(world), shape_(shape) {}

  std::vector<GpuCheck> run() {
    check_log_probabilities();
    for (const Recompute recompute : {Recompute::none, Recompute::full}) check_training(recompute);
    for (const bool graphs : {false, true}) check_generation(graphs);
    check_learning();
    return std::move(checks_);
  }

 private:
  void add(const std::string& what, double value, double tolerance) {
    const std::string model = "head_dim " + std::to_string(shape_.dim) + ", " +
                              std::to_string(shape_.heads / shape_.kv_heads) + " heads a KV head: ";
    checks_.push_back({model + what, value, tolerance});
  }

  void check_log_probabilities() {
    AloneTask host(world_, shape_, Precision::fp32, task_names::kReferenceInference, {});
    AloneTask device(world_, shape_, Precision::bf16, task_names::kReferenceInference, {});
    Rollout expected = random_rollout(host);
    Rollout rollout = expected;
    Inference(host.setup()).run(expected);
    DeviceInference(gpu_, device.setup()).run(rollout);
    double worst = 0;
    double sum = 0;
    for (std::size_t i = 0; i < expected.log_probabilities.size(); ++i) {
      const double off = std::abs(expected.log_probabilities[i] - rollout.log_probabilities[i]);
      worst = std::max(worst, std::isnan(off) ? 1e9 : off);
      sum += off;
    }
    add("log-probabilities, largest difference", worst, kLogProbability);
    add("log-probabilities, mean difference", sum / static_cast<double>(expected.log_probabilities.size()),
        kMeanLogProbability);
  }

  void check_training(Recompute recompute) {
    const std::string how = recompute == Recompute::full ? " (recomputed)" : "";
    TaskPlan plan;
    plan.recompute = recompute;
    AloneTask host(world_, shape_, Precision::fp32, task_names::kActorTraining, plan);
    AloneTask device(world_, shape_, Precision::bf16, task_names::kActorTraining, plan);
    const Rollout rollout = random_rollout(host);
    Training expected(host.setup());
    DeviceTraining training(gpu_, device.setup(), nullptr);
    expected.accumulate_gradients(rollout, 0);
    training.accumulate_gradients(rollout, 0);
    // The loss is a sum of terms of both signs: relative to their size, the mean of |advantage| log V.
    const double size = 0.5 * std::log(256.0);
    add("loss, difference relative to its terms" + how,
        std::abs(training.last_loss() - expected.last_loss()) / size, kLoss);
    compare_gradients(expected.parameters(), training.parameters(), how);
  }

  // Matrix by matrix: query, key, value, output, gate, up and down of every layer, embedding and head.
  void compare_gradients(StageParameters& expected, DeviceParameters& actual, const std::string& how) {
    const Model& model = expected.shape().model;
    double worst_angle = 0;
    double worst_length = 0;
    std::size_t first = 0;
    for (int block = 0; block < block_count(model); ++block) {
      for (const RowRange& matrix : block_shard(model, block, {}).ranges) {
        const std::size_t count = matrix.count * static_cast<std::size_t>(model.hidden);
        const std::vector<float> mine = on_host(actual.gradients(), first, count);
        double product = 0;
        double a = 0;
        double b = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const double x = expected.gradients()[first + i];
          product += x * mine[i];
          a += x * x;
          b += static_cast<double>(mine[i]) * mine[i];
        }
        const double angle = 1 - product / std::sqrt(a * b);
        const double length = std::abs(std::sqrt(b / a) - 1);
        worst_angle = std::max(worst_angle, std::isnan(angle) ? 1e9 : angle);
        worst_length = std::max(worst_length, std::isnan(length) ? 1e9 : length);
        first += count;
      }
    }
    add("gradients, largest 1 - cosine of a matrix" + how, worst_angle, kGradientAngle);
    add("gradients, largest difference of a matrix's length" + how, worst_length, kGradientLength);
  }

  // Every token after the first of a response must be about the most likely one by a pass in fp32.
  void check_generation(bool graphs) {
    TaskPlan plan;
    plan.execution.cuda_graphs = graphs;
    plan.decode_batch_sequences = 8;
    AloneTask device(world_, shape_, Precision::bf16, task_names::kActorGeneration, plan);
    AloneTask host(world_, shape_, Precision::fp32, task_names::kActorGeneration, {});
    Rollout rollout = random_rollout(device);
    DeviceGeneration generation(gpu_, device.setup());
    double worst = 0;
    for (int round = 0; round < 2; ++round) {  // recorded, then only replayed
      std::fill(rollout.sampled.begin(), rollout.sampled.end(), -1.0F);
      generation.run(rollout);
      worst = std::max(worst, largest_gap(host, rollout));
    }
    add(std::string("generated tokens, largest lack of log-probability") + (graphs ? " (graphs)" : ""), worst,
        kGreedyGap);
  }

  [[nodiscard]] double largest_gap(AloneTask& host, Rollout& rollout) const {
    const Workload& workload = host.workload;
    StageWorker worker(host.setup(), Purpose::forward_only);
    double worst = 0;
    for (int i = 0; i < workload.sequences(); ++i) {
      const std::size_t start = workload.offset(i);
      for (int t = workload.prompt(i); t < workload.length(i); ++t) {
        const float token = rollout.sampled[start + static_cast<std::size_t>(t)];
        if (!(token >= 0 && token < 256)) return 1e9;
        rollout.tokens[start + static_cast<std::size_t>(t)] = static_cast<int>(token);
      }
      worst = std::max(worst, gap_of(worker, workload, rollout, i));
    }
    return worst;
  }

  [[nodiscard]] double gap_of(StageWorker& worker, const Workload& workload, const Rollout& rollout,
                              int sequence) const {
    PackedBatch batch;
    batch.append(tokens_of(workload, rollout, sequence));
    BatchLimits limits;
    limits.include(std::vector<int>{batch.token_count()});
    LayerStash stash(worker.layer_shape(), limits, false);
    Buffer storage(static_cast<std::size_t>(limits.tokens) * worker.hidden());
    const Matrix x = proxy::as_matrix(storage, limits.tokens, worker.hidden());
    worker.take_input(batch.tokens, x);
    for (int layer = 0; layer < worker.shape().layers; ++layer) {
      proxy::forward_layer(worker.context(), worker.parameters().layer(layer), batch, stash, x);
    }
    Head head(worker.shape(), worker.tensor(), limits.tokens, Purpose::forward_only);
    const auto rows = static_cast<std::size_t>(limits.tokens);
    std::vector<int> best(rows);
    head.sample(worker.parameters().head(), x, {}, best);
    Targets targets;
    targets.resize(limits.tokens);
    std::vector<float> of_best(rows);
    std::vector<float> of_token(rows);
    const auto first = static_cast<std::size_t>(workload.prompt(sequence));
    for (std::size_t t = first; t + 1 < rows; ++t) targets.tokens[t] = best[t];
    head.log_probabilities(worker.parameters().head(), x, targets, of_best);
    for (std::size_t t = first; t + 1 < rows; ++t) targets.tokens[t] = batch.tokens[t + 1];
    head.log_probabilities(worker.parameters().head(), x, targets, of_token);
    double worst = 0;
    for (std::size_t t = first; t + 1 < rows; ++t) {
      worst = std::max(worst, static_cast<double>(of_best[t] - of_token[t]));
    }
    return worst;
  }

  // Steps on the same rollout must lower its loss: optimizer and master weights.
  void check_learning() {
    AloneTask task(world_, shape_, Precision::bf16, task_names::kActorTraining, {});
    Rollout rollout = random_rollout(task);
    DeviceTraining training(gpu_, task.setup(), nullptr);
    training.run(rollout);
    const double before = training.last_loss();
    for (int i = 0; i < 8; ++i) training.run(rollout);
    add("loss after 8 steps less the first", training.last_loss() - before, -0.01);
  }

  ProxyGpu& gpu_;
  Communicator& world_;
  Shape shape_;
  std::vector<GpuCheck> checks_;
};

// A whole iteration through the executor; the transferred weights are the trained ones.
void check_session(Communicator& world, TaskEngine& engine, std::vector<GpuCheck>& checks) {
  const Workflow workflow = small_workflow({64, 4, 2}, Precision::bf16);
  Plan plan;
  plan.name = "self-check";
  for (const Task& task : workflow.tasks) {
    plan.tasks[task.name].replicas = expand_layout({1, 1, 1, DeviceId{0}}, 3);
    plan.tasks[task.name].micro_batch_sequences = 4;
  }
  DeviceType type;
  type.memory_bytes = assumed(1e10);
  type.memory_bytes_per_s = assumed(1e12);
  type.flop_per_s[Precision::bf16] = assumed(1e14);
  Node node;
  node.name = "host";
  node.region = "here";
  node.zone = "here";
  node.device_type = "gpu";
  const Cluster cluster("self-check", {{"gpu", type}}, {node}, {});
  ProxySession session(world, cluster, workflow, plan, 1, &engine);
  session.iterate();
  session.iterate();
  const auto values = [&](const std::string& task) {
    const DeviceArray<Bf16>& all = dynamic_cast<DeviceTask&>(*session.work(task)).parameters().values();
    return on_host(all, 0, all.size());
  };
  const std::vector<float> trained = values(task_names::kActorTraining);
  const std::vector<float> generating = values(task_names::kActorGeneration);
  const std::vector<float> initial = values(task_names::kReferenceInference);
  double differ = 0;
  double moved = 0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    differ += trained[i] == generating[i] ? 0 : 1;
    moved += trained[i] == initial[i] ? 0 : 1;
  }
  checks.push_back({"an iteration: weights of generation that are not the trained ones", differ, 0});
  checks.push_back({"an iteration: training moved no weights", moved > 0 ? 0.0 : 1.0, 0});
}

}  // namespace
}  // namespace sextant::gpu

namespace sextant {

GpuChecksOrReason check_gpu_proxy(int most_models) {
  const auto world = make_serial_communicator();
  GpuEngineOrReason made = make_gpu_engine(*world);
  if (made.engine == nullptr) return {{}, made.reason};
  GpuChecksOrReason result;
  gpu::ProxyGpu device(0);
  // Groups of 2 and 8 query heads on 64 channels, of 1 and 4 on 128: all kernels of decoding.
  const std::vector<gpu::Shape> shapes{{64, 4, 2}, {128, 8, 2}, {64, 8, 1}, {128, 2, 2}};
  for (int i = 0; i < most_models && i < static_cast<int>(shapes.size()); ++i) {
    gpu::SelfCheck check(device, *world, shapes[static_cast<std::size_t>(i)]);
    for (GpuCheck& result_of_one : check.run()) result.checks.push_back(std::move(result_of_one));
  }
  gpu::check_session(*world, *made.engine, result.checks);
  return result;
}

}  // namespace sextant
