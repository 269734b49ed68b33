// Log-probabilities of the response tokens on a GPU: whole sequences in micro-batches through the stages, head
// over all positions.
#pragma once

#include <optional>

#include "probes/cuda/proxy/device_head.h"
#include "probes/cuda/proxy/device_task.h"
#include "probes/proxy/model/head.h"

namespace sextant::gpu {

class DeviceInference final : public DeviceTask {
 public:
  DeviceInference(ProxyGpu& gpu, const proxy::TaskSetup& setup);
  void run(proxy::Rollout& rollout) override;

 private:
  // Writes the results to rows from `first_row` on.
  void forward(const proxy::Rollout& rollout, proxy::Range sequences, std::size_t first_row);
  void read_results(proxy::Rollout& rollout);

  const proxy::Workload* workload_;
  std::vector<proxy::Range> micro_batches_;
  AttentionLimits limits_;
  DeviceStash stash_;
  DeviceScratch scratch_;
  std::optional<DeviceHead> head_;  // last stage
  DeviceBatch batch_;
  DeviceArray<Bf16> x_;
  DeviceArray<int> targets_;
  DeviceArray<float> results_;  // all tokens of the replica
  proxy::PackedBatch packed_;
  proxy::Targets wanted_;
};

}  // namespace sextant::gpu
