// Training of an actor on a GPU: for each mini-batch forward and backward passes of the micro-batches,
// gradients summed over the replicas, one Adam step. The loss is that of probes/proxy/training.h.
#pragma once

#include <memory>
#include <optional>

#include "probes/cuda/proxy/device_head.h"
#include "probes/cuda/proxy/device_task.h"
#include "probes/cuda/proxy/gradient_sum.h"
#include "probes/proxy/head.h"

namespace sextant::gpu {

class DeviceTraining final : public DeviceTask {
 public:
  // `sum` adds the gradients of the replicas up; null with one replica.
  DeviceTraining(ProxyGpu& gpu, const proxy::TaskSetup& setup, std::unique_ptr<GradientSum> sum);
  void run(proxy::Rollout& rollout) override;

  // Sum over the mini-batches of the last run, of this replica.
  [[nodiscard]] double last_loss() const { return loss_; }
  // The gradients of one mini-batch, without taking the step; adds to last_loss.
  void accumulate_gradients(const proxy::Rollout& rollout, int mini_batch);

 private:
  struct MiniBatch {
    int sequences = 0;  // of all replicas
    std::vector<proxy::Range> micro_batches;
  };

  [[nodiscard]] std::vector<MiniBatch> plan_mini_batches(const proxy::TaskSetup& setup);
  void queue_mini_batch(const proxy::Rollout& rollout, const MiniBatch& mini_batch);
  void forward(const proxy::Rollout& rollout, proxy::Range sequences);
  void backward(const proxy::Rollout& rollout, const MiniBatch& mini_batch, proxy::Range sequences);
  void set_targets(const proxy::Rollout& rollout, const MiniBatch& mini_batch, proxy::Range sequences);
  // What layer `layer` left, computed again where it was not kept.
  [[nodiscard]] DeviceStash& activations(int layer);
  void read_loss();

  const proxy::Workload* workload_;
  std::unique_ptr<GradientSum> sum_;
  bool recompute_;
  AttentionLimits limits_;
  std::vector<MiniBatch> mini_batches_;
  std::vector<std::unique_ptr<DeviceStash>> stashes_;  // by layer, or one
  DeviceArray<Bf16> inputs_;                           // recomputation: of every layer
  DeviceScratch scratch_;
  DeviceHead head_;
  DeviceBatch batch_;
  DeviceArray<Bf16> x_;
  DeviceArray<Bf16> dx_;
  DeviceArray<int> targets_;
  DeviceArray<float> factors_;
  DeviceArray<double> loss_on_device_;
  proxy::PackedBatch packed_;
  proxy::Targets wanted_;
  double loss_ = 0;
};

}  // namespace sextant::gpu
