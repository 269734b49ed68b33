// New weights from the actor's training to its generation, block by block (embedding, each layer, head).
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
#include <vector>

#include "probes/proxy/groups.h"
#include "probes/proxy/parameters.h"
#include "probes/proxy/weight_transfer.h"

namespace sextant::proxy {

struct WeightSyncSetup {
  Communicator& world;
  const Model& model;
  const TaskPlan& training_plan;
  const TaskPlan& generation_plan;
  TaskGroup& training;
  TaskGroup& generation;
  StageParameters* trained;     // null on ranks that do not train
  StageParameters* generating;  // null on ranks that do not generate
};

[[nodiscard]] bool needs_synchronization(const TaskPlan& training, const TaskPlan& generation);

class WeightSync final : public WeightTransfer {
 public:
  // Collective over the world. References of the setup must outlive this.
  explicit WeightSync(const WeightSyncSetup& setup);

  [[nodiscard]] bool takes_part() const override { return everyone_ != nullptr; }
  [[nodiscard]] Communicator& everyone() override { return *everyone_; }
  void run() override;

 private:
  [[nodiscard]] bool gathers() const;
  // Trained here and not cut: sent as it lies.
  [[nodiscard]] bool holds_whole(int block) const;
  [[nodiscard]] std::span<float> full_block(int block);
  void make_owner_groups();
  void size_buffers();
  void gather(int block);
  void gather_in_stage(int block);
  void send_to_generation(int block);
  void deliver(int block);
  [[nodiscard]] int stage_of(int block) const;

  WeightSyncSetup setup_;
  bool synchronizes_;
  std::unique_ptr<Communicator> everyone_;
  // By stage of my training replica: its first rank and the ranks of all other stages, or null.
  std::vector<std::unique_ptr<Communicator>> owner_groups_;
  Buffer full_;
  Buffer gathered_;
};

}  // namespace sextant::proxy
