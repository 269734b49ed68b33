// Generation: prefill of whole prompts, then decoding token by token with a KV cache.
//
// A response's first token is sampled from the softmax, so that the responses to one prompt differ; later ones
// are the most likely.
//
// The replica's sequences form ceil(n / decode batch) waves of nearly equal size. The number of waves in flight
// is the number of stages, one on each stage in turn; prompts are prefilled in micro-batches. A sequence leaves
// its wave's batch at its full length.
#pragma once

#include "probes/proxy/host_task.h"
#include "probes/proxy/model/head.h"
#include "probes/proxy/stage.h"

namespace sextant::proxy {

class Generation final : public HostTask {
 public:
  explicit Generation(const TaskSetup& setup);
  void run(Rollout& rollout) override;
  [[nodiscard]] StageParameters& parameters() override { return worker_.parameters(); }

 private:
  void plan_waves(const TaskSetup& setup);
  void prefill(Rollout& rollout, Range wave, int first_slot);
  void prefill_chunk(Rollout& rollout, Range chunk, int first_slot);
  void decode(Rollout& rollout, Range wave, int first_slot, int step);
  void fill_decode_batch(Range wave, int first_slot, int step);
  // On the last stage: samples the next token for each row and records it as response token `step`.
  void sample(Rollout& rollout, std::span<const int> sequences, int step, ConstMatrix x);
  // Sends tokens to the first stage if the sequences need them for another step.
  void return_tokens(Range wave, int first_slot, int next_step);
  [[nodiscard]] Matrix rows(Buffer& storage, int count) { return as_matrix(storage, count, worker_.hidden()); }
  [[nodiscard]] int longest_response(std::span<const Range> waves) const;

  const Workload* workload_;
  StageWorker worker_;
  std::vector<Range> waves_;
  int stages_ = 1;
  int chunk_sequences_ = 1;
  int largest_wave_ = 0;
  BatchLimits limits_;
  std::optional<LayerStash> stash_;
  std::optional<KvCache> cache_;
  std::optional<Head> head_;
  Buffer x_;
  Buffer last_rows_;
  Buffer scores_;
  PackedBatch prompts_;
  DecodeBatch decoding_;
  std::vector<std::uint64_t> noise_keys_;
  std::vector<int> sequences_;       // of the sampled rows
  std::vector<int> sampled_;         // by row
  std::vector<int> latest_by_slot_;  // last token of each cached sequence
};

}  // namespace sextant::proxy
