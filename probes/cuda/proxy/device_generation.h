// Generation on a GPU: prefill in micro-batches, then decoding token by token with a KV cache in device memory.
//
// No step returns to the host: tokens and positions live on the device, and the host only queues the next step,
// by launches or, with CUDA graphs, by replaying one graph per batch size (decode_batch.h). The first step of
// every size is launched and then recorded. A graph contains a stage's layers with their all-reduces and the
// sampling; messages between stages stay outside, so that no graph waits for another stage.
//
// Waves as in probes/proxy/generation.h: as many in flight as there are stages, one on each stage in turn.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "probes/cuda/proxy/decode_graph.h"
#include "probes/cuda/proxy/device_head.h"
#include "probes/cuda/proxy/device_task.h"
#include "probes/gpu/proxy/decode_batch.h"

namespace sextant::gpu {

class DeviceGeneration final : public DeviceTask {
 public:
  DeviceGeneration(ProxyGpu& gpu, const proxy::TaskSetup& setup);
  void run(proxy::Rollout& rollout) override;

 private:
  // A wave in flight, with its position among the slots.
  struct WaveInFlight {
    proxy::Range sequences;
    int number = 0;      // among those in flight
    int first_slot = 0;  // its rows of slots_ and positions_, too
    int live = -1;       // sequences of the previous step
  };

  [[nodiscard]] std::vector<proxy::Range> plan_waves(const proxy::TaskSetup& setup);
  [[nodiscard]] int longest_response(proxy::Range wave) const;
  [[nodiscard]] int slot_count() const { return stages_ * largest_wave_ + 1; }  // with one that no sequence has
  void run_together(std::vector<WaveInFlight> waves, proxy::Rollout& rollout);
  void prefill(const proxy::Rollout& rollout, const WaveInFlight& wave);
  void prefill_chunk(const proxy::Rollout& rollout, proxy::Range chunk, int first_slot);
  void sample_first_tokens(const proxy::Rollout& rollout, proxy::Range chunk, int first_slot, DeviceMatrix x);
  void decode(WaveInFlight& wave, int number);
  // Queues the kernels of one step on the first `rows` rows of the wave.
  void queue_step(const WaveInFlight& wave, int rows);
  void step(const WaveInFlight& wave, int rows);
  // Sends tokens to the first stage if the sequences need them for another step.
  void return_tokens(const WaveInFlight& wave, int next_step);
  void collect(const WaveInFlight& wave, proxy::Rollout& rollout);
  [[nodiscard]] CacheLayer cache_layer(int layer) const;
  [[nodiscard]] SampledTokens sampled() const;

  const proxy::Workload* workload_;
  bool graphs_;
  int chunk_sequences_;
  int stages_;
  int largest_wave_ = 0;
  int longest_response_ = 0;
  AttentionLimits limits_;  // for prefill
  std::vector<proxy::Range> waves_;
  DeviceStash stash_;
  DeviceScratch scratch_;
  DecodeScratch decode_scratch_;
  std::optional<DeviceSampler> sampler_;  // last stage
  DeviceBatch batch_;
  int capacity_;                // tokens per sequence in the cache
  std::size_t layer_elements_;  // for keys, or for values
  DeviceArray<Bf16> keys_;      // [layers, slots, kv_heads, capacity, dim]
  DeviceArray<Bf16> values_;
  DeviceArray<Bf16> x_;
  DeviceArray<Bf16> last_;  // rows of a chunk that predict the first response token
  DeviceArray<int> last_rows_;
  DeviceArray<std::uint64_t> noise_keys_;
  DeviceArray<int> slots_;  // by row of each wave in flight
  DeviceArray<int> positions_;
  DeviceArray<int> chunk_slots_;
  DeviceArray<int> chunk_positions_;
  DeviceArray<int> latest_;         // by slot
  DeviceArray<int> prompt_tokens_;  // by slot
  DeviceArray<int> history_;        // [slots, longest response], on the last stage
  std::map<std::pair<int, int>, std::unique_ptr<DecodeGraph>> recorded_;  // by wave in flight and rows
  proxy::PackedBatch packed_;
};

}  // namespace sextant::gpu
