// Trained weights into generation on the same GPU: each block is copied within device memory.
//
// Every GPU that generates also trains a whole model (limits of gpu_engine.cpp), so nothing crosses between
// GPUs.
#pragma once

#include "probes/cuda/proxy/device_task.h"
#include "probes/proxy/weight_transfer.h"

namespace sextant::gpu {

class DeviceWeightTransfer final : public proxy::WeightTransfer {
 public:
  // Collective over the world.
  DeviceWeightTransfer(ProxyGpu& gpu, const proxy::WeightTransferSetup& setup);
  [[nodiscard]] bool takes_part() const override { return everyone_ != nullptr; }
  [[nodiscard]] Communicator& everyone() override { return *everyone_; }
  void run() override;

 private:
  ProxyGpu& gpu_;
  DeviceParameters* trained_;
  DeviceParameters* generating_;
  std::unique_ptr<Communicator> everyone_;
};

}  // namespace sextant::gpu
