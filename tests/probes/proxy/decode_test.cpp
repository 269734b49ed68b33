// Decoding with a KV cache against a full forward pass of the same tokens.
#include <gtest/gtest.h>

#include "probes/proxy/generation.h"
#include "probes/proxy/inference.h"
#include "tests/probes/proxy/fixture.h"

namespace sextant::proxy {
namespace {

// The same sums in another order, through three layers, on numbers of order 1.
constexpr float kDecodeTolerance = 2e-5F;

class FullForward {
 public:
  explicit FullForward(const TaskSetup& setup) : worker_(setup, Purpose::forward_only) {}

  // The last layer's output for a batch.
  Buffer run(const PackedBatch& batch) {
    BatchLimits limits;
    std::vector<int> lengths;
    lengths.reserve(static_cast<std::size_t>(batch.sequences()));
    for (int s = 0; s < batch.sequences(); ++s) lengths.push_back(batch.length(s));
    limits.include(lengths);
    LayerStash stash(worker_.layer_shape(), limits, false);
    Buffer storage(static_cast<std::size_t>(limits.tokens) * worker_.hidden());
    const Matrix x = as_matrix(storage, limits.tokens, worker_.hidden());
    worker_.take_input(batch.tokens, x);
    for (int layer = 0; layer < worker_.shape().layers; ++layer) {
      forward_layer(worker_.context(), worker_.parameters().layer(layer), batch, stash, x);
    }
    return storage;
  }
  StageWorker& worker() { return worker_; }

 private:
  StageWorker worker_;
};

TEST(Decode, HiddenStatesEqualThoseOfAFullForward) {
  test::SerialTask task(test::small_grpo(), task_names::kActorGeneration);
  FullForward full(task.setup());
  StageWorker& worker = full.worker();
  PackedBatch batch;
  batch.append(std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6});
  batch.append(std::vector<int>{2, 7, 1, 8, 2, 8, 1, 8});
  const Buffer expected = full.run(batch);

  BatchLimits limits;
  limits.include(std::vector<int>{1, 1});
  LayerStash stash(worker.layer_shape(), limits, false);
  KvCache cache(worker.layer_shape(), worker.shape().layers, 2, 8);
  Buffer scores(16);
  Buffer storage(std::size_t{2} * 16);
  const Matrix x = as_matrix(storage, 2, 16);
  for (int position = 0; position < 8; ++position) {
    const auto at = static_cast<std::size_t>(position);
    DecodeBatch tokens{{batch.tokens[at], batch.tokens[8 + at]}, {0, 1}, {position, position}};
    worker.take_input(tokens.tokens, x);
    for (int layer = 0; layer < worker.shape().layers; ++layer) {
      decode_layer(worker.context(), worker.parameters().layer(layer), tokens, cache, layer, stash, scores, x);
    }
    for (int j = 0; j < 16; ++j) {
      EXPECT_NEAR(x.row(0)[j], expected[at * 16 + static_cast<std::size_t>(j)], kDecodeTolerance);
      EXPECT_NEAR(x.row(1)[j], expected[(8 + at) * 16 + static_cast<std::size_t>(j)], kDecodeTolerance);
    }
  }
}

// After the first token, which is drawn, each response token is the most likely one after those before it.
void expect_greedy(test::SerialTask& task) {
  Generation generation(task.setup());
  Rollout rollout(task.workload);
  start_rollout(task.workflow, task.workload, 11, rollout);
  generation.run(rollout);
  FullForward full(task.setup());
  for (int i = 0; i < task.workload.sequences(); ++i) {
    const std::size_t start = task.workload.offset(i);
    const int prompt = task.workload.prompt(i);
    for (int t = prompt; t < task.workload.length(i); ++t) {
      const std::size_t at = start + static_cast<std::size_t>(t);
      rollout.tokens[at] = static_cast<int>(rollout.sampled[at]);
    }
    PackedBatch batch;
    batch.append(tokens_of(task.workload, rollout, i));
    Buffer storage = full.run(batch);
    Head head(full.worker().shape(), *task.world, batch.token_count(), Purpose::forward_only);
    std::vector<int> best(static_cast<std::size_t>(batch.token_count()));
    head.sample(full.worker().parameters().head(), as_matrix(storage, batch.token_count(), 16), {}, best);
    for (int t = prompt + 1; t < task.workload.length(i); ++t) {
      EXPECT_EQ(batch.tokens[static_cast<std::size_t>(t)], best[static_cast<std::size_t>(t) - 1])
          << "sequence " << i << " position " << t;
    }
  }
}

TEST(Decode, GeneratesTheMostLikelyTokens) {
  test::SerialTask task(test::small_grpo(), task_names::kActorGeneration);
  expect_greedy(task);
}

TEST(Decode, GeneratesTheMostLikelyTokensInWavesOfDifferentLengths) {
  Workflow workflow = test::small_grpo();
  workflow.prompt_tokens = {LengthKind::empirical, {2, 5, 9}, {1, 1, 1}, 0, 0, 0};
  workflow.response_tokens = {LengthKind::empirical, {1, 3, 12}, {1, 1, 1}, 0, 0, 0};
  TaskPlan plan = test::uniform(1, 1, 1);
  plan.decode_batch_sequences = 3;
  test::SerialTask task(workflow, task_names::kActorGeneration, 4, plan);
  expect_greedy(task);
}

TEST(Decode, ResponsesToOnePromptDiffer) {
  test::SerialTask task(test::small_grpo(), task_names::kActorGeneration);
  Generation generation(task.setup());
  Rollout rollout(task.workload);
  start_rollout(task.workflow, task.workload, 11, rollout);
  generation.run(rollout);
  int different = 0;
  for (int i = 0; i < task.workload.sequences(); i += 2) {
    const auto response = [&](int sequence) {
      const auto first = rollout.sampled.begin() + static_cast<long>(task.workload.offset(sequence)) + 6;
      return std::vector<float>(first, first + 5);
    };
    if (response(i) != response(i + 1)) ++different;
  }
  EXPECT_GE(different, 2);  // two draws from 32 tokens are rarely equal
}

}  // namespace
}  // namespace sextant::proxy
