// Transfers trained weights to generation between GPUs, or within one that trains and generates: whole blocks
// in device memory, over GPU collectives.
#pragma once

#include "probes/cuda/proxy/device_task.h"
#include "probes/proxy/blockwise_transfer.h"

namespace sextant::gpu {

class DeviceWeightTransfer final : public proxy::BlockwiseTransfer {
 public:
  // Collective over the world.
  DeviceWeightTransfer(ProxyGpu& gpu, const proxy::WeightTransferSetup& setup);

 private:
  // The two ranks of a delivery, if this one is among them.
  struct Pair {
    std::unique_ptr<Communicator> ranks;
    std::unique_ptr<GpuCollectives> collectives;
  };
  void join_groups();
  [[nodiscard]] DeviceMatrix full_block(int block) const;
  [[nodiscard]] GpuCollectives& pair_of(const Delivery& delivery) const;
  void copy_rows(DeviceMatrix from, DeviceMatrix to);
  void gather_in_stage(int block) override;
  void broadcast_from_owner(int block, int owner) override;
  void send(int block, const Delivery& delivery) override;
  void receive(int block, const Delivery& delivery) override;
  void broadcast_in_generation(int block) override;
  void cut(int block) override;
  void finish() override;

  ProxyGpu& gpu_;
  DeviceTask* trained_;                                  // null on ranks that do not train
  DeviceTask* generating_;                               // null on ranks that do not generate
  std::vector<std::unique_ptr<GpuCollectives>> owners_;  // indexed as owner_groups()
  std::unique_ptr<GpuCollectives> generation_;           // if it synchronizes
  std::vector<Pair> pairs_;                              // indexed as deliveries()
  DeviceArray<Bf16> full_;
  DeviceArray<Bf16> gathered_;
};

}  // namespace sextant::gpu
