#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "probes/cuda/proxy/device_generation.h"
#include "probes/cuda/proxy/device_inference.h"
#include "probes/cuda/proxy/device_training.h"
#include "probes/cuda/proxy/gpu_choice.h"
#include "probes/cuda/proxy/self_check_case.h"
#include "probes/cuda/proxy/self_check_session.h"
#include "probes/gpu/gpu_engine.h"
#include "probes/gpu/gpu_self_check.h"
#include "probes/proxy/inference.h"
#include "probes/proxy/model/blas.h"
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
// The maximum gap in log-probability between the GPU's most likely token and the most likely one in fp32.
constexpr double kGreedyGap = 0.15;

// Not a number is as far off as can be.
double distance(double a, double b) {
  const double off = std::abs(a - b);
  return std::isnan(off) ? 1e9 : off;
}

// The tasks of one model in one layout. Every rank has the same results.
class SelfCheck {
 public:
  SelfCheck(ProxyGpu& gpu, Communicator& world, const CheckedShape& shape, const CheckedLayout& layout)
      : gpu_(gpu), world_(world), shape_(shape), layout_(layout) {}

  std::vector<GpuCheck> run() {
    check_log_probabilities();
    for (const Recompute recompute : {Recompute::none, Recompute::full}) check_training(recompute);
    for (const bool graphs : {false, true}) check_generation(graphs);
    if (layout_.ranks() == 1) check_learning();  // no rank takes part in another's steps
    return std::move(checks_);
  }

 private:
  // The largest of the ranks' values counts.
  void add(const std::string& what, double value, double tolerance) {
    world_.all_reduce_max(std::span<double>(&value, 1));
    std::string where = "head_dim " + std::to_string(shape_.dim) + ", " +
                        std::to_string(shape_.heads / shape_.kv_heads) + " heads a KV head";
    if (layout_.ranks() > 1) {
      where += ", " + std::to_string(layout_.replicas) + " x " + std::to_string(layout_.stages) + " x " +
               std::to_string(layout_.width) + " GPUs";
    }
    checks_.push_back({where + ": " + what, value, tolerance});
  }
  [[nodiscard]] TaskAlone on_cores(const std::string& task, const TaskPlan& plan) {
    return {world_, shape_, Precision::fp32, task, layout_, plan};
  }
  [[nodiscard]] TaskAlone on_gpus(const std::string& task, const TaskPlan& plan) {
    return {world_, shape_, Precision::bf16, task, layout_, plan};
  }

  void check_log_probabilities() {
    TaskAlone host = on_cores(task_names::kReferenceInference, {});
    TaskAlone device = on_gpus(task_names::kReferenceInference, {});
    Rollout expected = random_rollout(host);
    Rollout rollout = expected;
    if (host.is_mine()) {
      Inference(host.setup()).run(expected);
      DeviceInference(gpu_, device.setup()).run(rollout);
    }
    // Only those that write results have any.
    world_.all_reduce_sum(std::span(expected.log_probabilities));
    world_.all_reduce_sum(std::span(rollout.log_probabilities));
    double worst = 0;
    double sum = 0;
    for (std::size_t i = 0; i < expected.log_probabilities.size(); ++i) {
      const double off = distance(expected.log_probabilities[i], rollout.log_probabilities[i]);
      worst = std::max(worst, off);
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
    TaskAlone host = on_cores(task_names::kActorTraining, plan);
    TaskAlone device = on_gpus(task_names::kActorTraining, plan);
    const Rollout rollout = random_rollout(host);
    double loss = 0;
    Difference gradients;
    if (host.is_mine()) {
      Training expected(host.setup());
      DeviceTraining training(gpu_, device.setup());
      expected.accumulate_gradients(rollout, 0);
      training.accumulate_gradients(rollout, 0);
      loss = distance(training.last_loss(), expected.last_loss());
      gradients = compare_gradients(expected.parameters(), training.parameters());
    }
    // The loss is a sum of terms of both signs: relative to their size, the mean of |advantage| log V.
    const double size = 0.5 * std::log(256.0);
    add("loss, difference relative to its terms" + how, loss / size, kLoss);
    add("gradients, largest 1 - cosine of a matrix" + how, gradients.angle, kGradientAngle);
    add("gradients, largest difference of a matrix's length" + how, gradients.length, kGradientLength);
  }

  struct Difference {
    double angle = 0;
    double length = 0;
  };
  // This rank's part of every matrix: query, key, value, output, gate, up and down of every layer, embedding
  // and head.
  static Difference compare_gradients(StageParameters& expected, DeviceParameters& actual) {
    const StageShape& shape = expected.shape();
    Difference worst;
    std::size_t first = 0;
    for (int block = shape.first_block(); block < shape.end_block(); ++block) {
      for (const RowRange& matrix : block_shard(shape.model, block, shape.shard).ranges) {
        const std::size_t count = matrix.count * static_cast<std::size_t>(shape.model.hidden);
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
        worst.angle = std::max(worst.angle, distance(1, product / std::sqrt(a * b)));
        worst.length = std::max(worst.length, distance(std::sqrt(b / a), 1));
        first += count;
      }
    }
    return worst;
  }

  // Every token after the first of a response must be about the most likely one by a pass in fp32.
  void check_generation(bool graphs) {
    TaskPlan plan;
    plan.execution.cuda_graphs = graphs;
    plan.decode_batch_sequences = 8;
    TaskAlone device = on_gpus(task_names::kActorGeneration, plan);
    const auto alone = make_serial_communicator();
    TaskAlone host(*alone, shape_, Precision::fp32, task_names::kActorGeneration, {}, {});
    Rollout rollout = random_rollout(device);
    std::optional<DeviceGeneration> generation;
    if (device.is_mine()) generation.emplace(gpu_, device.setup());
    double worst = 0;
    for (int round = 0; round < 2; ++round) {  // recorded, then only replayed
      // Every token is written by one rank; what nobody writes stays negative.
      const float nobody = -1.0F;
      std::fill(rollout.sampled.begin(), rollout.sampled.end(), nobody);
      if (generation) generation->run(rollout);
      world_.all_reduce_max(std::span(rollout.sampled));
      worst = std::max(worst, largest_gap(host, rollout));
    }
    add(std::string("generated tokens, largest lack of log-probability") + (graphs ? " (graphs)" : ""), worst,
        kGreedyGap);
  }

  [[nodiscard]] double largest_gap(TaskAlone& host, Rollout& rollout) const {
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
    TaskAlone task = on_gpus(task_names::kActorTraining, {});
    Rollout rollout = random_rollout(task);
    DeviceTraining training(gpu_, task.setup());
    training.run(rollout);
    const double before = training.last_loss();
    for (int i = 0; i < 8; ++i) training.run(rollout);
    add("loss after 8 steps less the first", training.last_loss() - before, -0.01);
  }

  ProxyGpu& gpu_;
  Communicator& world_;
  CheckedShape shape_;
  CheckedLayout layout_;
  std::vector<GpuCheck> checks_;
};

// Groups of 2 and 8 query heads on 64 channels, of 1 and 4 on 128: all kernels of decoding.
const std::vector<CheckedShape> kShapes{{64, 4, 2}, {128, 8, 2}, {64, 8, 1}, {128, 2, 2}};

// Tensor, pipeline and data parallelism, both of the first together, and ranks that share a KV head.
std::vector<CheckedLayout> layouts_on(int ranks) {
  if (ranks == 1) return {{}};
  if (ranks < 4) return {{1, 1, 2}, {1, 2, 1}, {2, 1, 1}};
  return {{1, 2, 2}, {1, 1, 4}};
}

std::vector<CheckedSession> sessions_on(int ranks) {
  if (ranks == 1) return {{}};
  if (ranks < 4) {
    return {{"tensor to pipeline", {1, 1, 2}, {1, 2, 1}},
            {"pipeline to tensor", {1, 2, 1}, {1, 1, 2}},
            {"one GPU to another", {1, 1, 1, 0}, {1, 1, 1, 1}}};
  }
  return {{"both to data and tensor", {1, 2, 2}, {2, 1, 2}},
          {"two GPUs to two others", {1, 2, 1, 0}, {1, 1, 2, 2}}};
}

}  // namespace
}  // namespace sextant::gpu

namespace sextant::inline probes {

GpuChecksOrReason check_gpu_proxy(Communicator& world, int max_models) {
  GpuEngineOrReason made = make_gpu_engine(world);
  if (made.engine == nullptr) return {{}, made.reason};
  proxy::use_one_blas_thread();  // of the cores that are compared with, as the proxy has it: ranks share them
  GpuChecksOrReason result;
  const auto take = [&](std::vector<GpuCheck> checks) {
    std::move(checks.begin(), checks.end(), std::back_inserter(result.checks));
  };
  gpu::ProxyGpu device(gpu::choose_gpu(world).device);
  for (const gpu::CheckedLayout& layout : gpu::layouts_on(world.size())) {
    // One GPU sees all models, so several check how they share one.
    const int models = layout.ranks() > 1 ? 1 : max_models;
    for (int i = 0; i < models && i < static_cast<int>(gpu::kShapes.size()); ++i) {
      take(gpu::SelfCheck(device, world, gpu::kShapes[static_cast<std::size_t>(i)], layout).run());
    }
  }
  for (const gpu::CheckedSession& session : gpu::sessions_on(world.size())) {
    take(gpu::check_session(world, *made.engine, session));
  }
  return result;
}

}  // namespace sextant::inline probes
