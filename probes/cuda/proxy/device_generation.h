// Generation on a GPU: prefill in micro-batches, then decoding token by token with a KV cache in device memory.
//
// Nothing returns to the host between two steps: tokens and positions live on the device, and the host only
// queues the next step, by launches or, with CUDA graphs, by replaying one graph a batch size (decode_batch.h).
// The first step of every size is launched and then recorded. Waves as in probes/proxy/generation.h.
#pragma once

#include <map>
#include <memory>

#include "probes/cuda/proxy/decode_batch.h"
#include "probes/cuda/proxy/decode_graph.h"
#include "probes/cuda/proxy/device_head.h"
#include "probes/cuda/proxy/device_task.h"

namespace sextant::gpu {

class DeviceGeneration final : public DeviceTask {
 public:
  DeviceGeneration(ProxyGpu& gpu, const proxy::TaskSetup& setup);
  void run(proxy::Rollout& rollout) override;

 private:
  [[nodiscard]] std::vector<proxy::Range> plan_waves(const proxy::TaskSetup& setup);
  [[nodiscard]] int longest_response(proxy::Range wave) const;
  void prefill(const proxy::Rollout& rollout, proxy::Range wave);
  void prefill_chunk(const proxy::Rollout& rollout, proxy::Range chunk, int first_slot);
  void decode(proxy::Range wave);
  // The kernels of one step on the first `rows` rows.
  void queue_step(int rows);
  void step(int rows);
  void collect(proxy::Range wave, proxy::Rollout& rollout);
  [[nodiscard]] CacheLayer cache_layer(int layer) const;
  [[nodiscard]] DecodeRows decode_rows(int rows) const { return {slots_.data(), positions_.data(), rows}; }

  const proxy::Workload* workload_;
  bool graphs_;
  int chunk_sequences_;
  int largest_wave_ = 0;
  int longest_response_ = 0;
  AttentionLimits limits_;  // of prefill
  std::vector<proxy::Range> waves_;
  DeviceStash stash_;
  DeviceScratch scratch_;
  DecodeScratch decode_scratch_;
  DeviceSampler sampler_;
  DeviceBatch batch_;
  int capacity_;                // tokens of a sequence in the cache
  std::size_t layer_elements_;  // of keys, or of values
  DeviceArray<Bf16> keys_;      // [layers, slots, kv_heads, capacity, dim]
  DeviceArray<Bf16> values_;
  DeviceArray<Bf16> x_;
  DeviceArray<Bf16> last_;  // rows of a chunk that predict the first response token
  DeviceArray<int> last_rows_;
  DeviceArray<std::uint64_t> noise_keys_;
  DeviceArray<int> slots_;  // of the step's rows
  DeviceArray<int> positions_;
  DeviceArray<int> chunk_slots_;
  DeviceArray<int> chunk_positions_;
  DeviceArray<int> latest_;                               // by slot
  DeviceArray<int> prompt_tokens_;                        // by slot
  DeviceArray<int> history_;                              // [slots, longest response]
  std::map<int, std::unique_ptr<DecodeGraph>> recorded_;  // by rows
  proxy::PackedBatch packed_;
};

}  // namespace sextant::gpu
