// Training of an actor on a GPU: for each mini-batch forward and backward passes of the replica's micro-batches
// in 1F1B order, gradients summed over the replicas, one Adam step. The loss is that of
// probes/proxy/training.h.
#pragma once

#include <memory>
#include <optional>

#include "probes/cuda/proxy/device_head.h"
#include "probes/cuda/proxy/device_task.h"
#include "probes/proxy/model/head.h"

namespace sextant::gpu {

class DeviceTraining final : public DeviceTask {
 public:
  DeviceTraining(ProxyGpu& gpu, const proxy::TaskSetup& setup);
  void run(proxy::Rollout& rollout) override;

  // Sum over the mini-batches of the last run, for this replica; 0 except on the last stage, whose shards all
  // have it.
  [[nodiscard]] double last_loss() const { return loss_; }
  // Computes the gradients of one mini-batch, without an optimizer step; adds to last_loss.
  void accumulate_gradients(const proxy::Rollout& rollout, int mini_batch);

 private:
  struct MiniBatch {
    int sequences = 0;  // over all replicas
    std::vector<proxy::Range> micro_batches;
  };
  // Data that is kept for a micro-batch between its two passes: everything that the backward pass needs, or
  // with recomputation each layer's input only.
  struct Slot {
    proxy::PackedBatch packed;
    DeviceBatch batch;
    std::vector<std::unique_ptr<DeviceStash>> stashes;  // by layer
    DeviceArray<Bf16> inputs;                           // for every layer
  };

  [[nodiscard]] std::vector<MiniBatch> plan_mini_batches(const proxy::TaskSetup& setup);
  void make_slots();
  void make_shared_kv_heads(const proxy::TaskSetup& setup);
  void queue_mini_batch(const proxy::Rollout& rollout, const MiniBatch& mini_batch);
  void forward(const proxy::Rollout& rollout, proxy::Range sequences, Slot& slot);
  void backward(const proxy::Rollout& rollout, const MiniBatch& mini_batch, proxy::Range sequences, Slot& slot);
  // Computes the gradient of the stage's output.
  void start_backward(const proxy::Rollout& rollout, const MiniBatch& mini_batch, proxy::Range sequences,
                      const Slot& slot, DeviceMatrix dx);
  void set_targets(const proxy::Rollout& rollout, const MiniBatch& mini_batch, proxy::Range sequences,
                   const proxy::PackedBatch& packed);
  // Returns the activations of layer `layer`, recomputed if they were not kept.
  [[nodiscard]] DeviceStash& activations(Slot& slot, int layer);
  [[nodiscard]] DeviceMatrix rows(const DeviceArray<Bf16>& storage, const Slot& slot) const;
  void reduce_gradients();
  void read_loss();

  const proxy::Workload* workload_;
  int stage_;
  int stages_;
  bool recompute_;
  AttentionLimits limits_;
  std::vector<MiniBatch> mini_batches_;
  std::vector<Slot> slots_;
  std::unique_ptr<DeviceStash> recomputed_;
  DeviceScratch scratch_;
  std::optional<DeviceHead> head_;                           // last stage
  std::unique_ptr<GpuCollectives> replicas_;                 // null with one replica
  std::unique_ptr<Communicator> same_kv_heads_;              // ranks that share a KV head, if any
  std::unique_ptr<GpuCollectives> same_kv_heads_gradients_;  // over these ranks
  DeviceArray<Bf16> x_;
  DeviceArray<Bf16> dx_;
  DeviceArray<int> targets_;
  DeviceArray<float> factors_;
  DeviceArray<double> loss_on_device_;
  proxy::Targets wanted_;
  double loss_ = 0;
};

}  // namespace sextant::gpu
