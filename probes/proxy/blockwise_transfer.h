// The transfer of new weights from the actor's training to its generation, block by block (embedding, each
// layer, head). Cores: weight_sync.h; GPUs: probes/cuda/proxy/device_weight_transfer.h.
//
// A training replica all-gathers a block within the tensor-parallel group that owns it, puts the parts together
// and broadcasts it to its other stages, so that all its devices get the whole block. Then
//   resharding, when every generation device trains as well: each replica gathers for itself and each
//     generation rank cuts its shard out of the block;
//   synchronization, otherwise: only replica 0 gathers; its first device sends the block to the first device
//     of each generation replica that is not in replica 0, which broadcasts it within its replica, where each
//     rank cuts out its shard.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "probes/proxy/weight_transfer.h"

namespace sextant::proxy {

[[nodiscard]] bool needs_synchronization(const TaskPlan& training, const TaskPlan& generation);

// Rows of `hidden` elements that a rank holds for the transfer, in addition to its weights: the largest block
// that it does not hold whole, and all parts of the largest one that its tensor-parallel group gathers.
struct TransferRows {
  std::size_t full = 0;
  std::size_t gathered = 0;
};
[[nodiscard]] TransferRows transfer_rows(const Model& model, const TaskPlan& training,
                                         const TaskPlan& generation, int rank);

class BlockwiseTransfer : public WeightTransfer {
 public:
  // Collective over the world. Objects referenced by the setup must outlive this.
  explicit BlockwiseTransfer(const WeightTransferSetup& setup);

  [[nodiscard]] bool takes_part() const override { return everyone_ != nullptr; }
  [[nodiscard]] Communicator& everyone() override { return *everyone_; }
  void run() override;

 protected:
  // A delivery from the first device that trains to the first of a generation replica.
  struct Delivery {
    int from = 0;
    int to = 0;
  };

  [[nodiscard]] const WeightTransferSetup& setup() const { return setup_; }
  [[nodiscard]] int hidden() const { return setup_.model.hidden; }
  // Communicators by stage of this training replica: its first rank and all other stages' ranks, or null.
  [[nodiscard]] const std::vector<std::unique_ptr<Communicator>>& owner_groups() const { return owner_groups_; }
  [[nodiscard]] const std::vector<Delivery>& deliveries() const { return deliveries_; }
  [[nodiscard]] bool synchronizes() const { return synchronizes_; }
  // Whether this rank gathers; it then trains, too.
  [[nodiscard]] bool gathers() const { return trained_.has_value(); }
  [[nodiscard]] const StageShape& trained() const { return *trained_; }
  [[nodiscard]] TransferRows rows() const;
  // Whether a block is trained here and not cut: it is sent as it is.
  [[nodiscard]] bool holds_whole(int block) const;

 private:
  // Gathers all parts of a block that this stage trains.
  virtual void gather_in_stage(int block) = 0;
  virtual void broadcast_from_owner(int block, int owner) = 0;
  virtual void send(int block, const Delivery& delivery) = 0;
  virtual void receive(int block, const Delivery& delivery) = 0;
  virtual void broadcast_in_generation(int block) = 0;
  // Cuts out this rank's shard of a block that it generates with.
  virtual void cut(int block) = 0;
  // Returns when the device has completed all work.
  virtual void finish() {}

  void make_owner_groups();
  void gather(int block);
  void deliver(int block);

  WeightTransferSetup setup_;
  bool synchronizes_;
  std::optional<StageShape> trained_;
  std::optional<StageShape> generating_;
  std::unique_ptr<Communicator> everyone_;
  std::vector<std::unique_ptr<Communicator>> owner_groups_;
  std::vector<Delivery> deliveries_;
};

}  // namespace sextant::proxy
