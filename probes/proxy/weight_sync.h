// Copies weights from training to generation in host memory, over the ranks' communicators.
#pragma once

#include "probes/proxy/blockwise_transfer.h"
#include "probes/proxy/model/parameters.h"

namespace sextant::proxy {

class WeightSync final : public BlockwiseTransfer {
 public:
  // Collective over the world. The tasks must be those of CPU cores (host_task.h).
  explicit WeightSync(const WeightTransferSetup& setup);

 private:
  [[nodiscard]] std::span<float> full_block(int block);
  void gather_in_stage(int block) override;
  void broadcast_from_owner(int block, int owner) override;
  void send(int block, const Delivery& delivery) override;
  void receive(int block, const Delivery& delivery) override;
  void broadcast_in_generation(int block) override;
  void cut(int block) override;

  StageParameters* trained_;     // null on ranks that do not train
  StageParameters* generating_;  // null on ranks that do not generate
  Buffer full_;
  Buffer gathered_;
};

}  // namespace sextant::proxy
