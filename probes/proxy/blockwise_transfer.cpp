#include "probes/proxy/blockwise_transfer.h"

#include <algorithm>

#include "sextant/error.h"

namespace sextant::proxy {
namespace {

bool contains(const std::vector<DeviceId>& devices, DeviceId device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

bool is_of(const StageShape& shape, int block) {
  return block >= shape.first_block() && block < shape.end_block();
}

std::optional<StageShape> shape_of(const Model& model, const TaskPlan& plan, int rank) {
  const std::optional<Position> position = position_of(plan, rank);
  if (!position) return std::nullopt;
  return stage_shape(model, plan.replicas[static_cast<std::size_t>(position->replica)], *position);
}

// The stage that the rank trains if it gathers.
std::optional<StageShape> gathering_shape(const Model& model, const TaskPlan& training,
                                          const TaskPlan& generation, int rank) {
  const std::optional<Position> position = position_of(training, rank);
  if (!position || (needs_synchronization(training, generation) && position->replica > 0)) return std::nullopt;
  return shape_of(model, training, rank);
}

int stage_of(int block, const Replica& replica, int layers) {
  // The embedding lies with the first layer, the head with the last.
  const int layer = std::clamp(block - 1, 0, layers - 1);
  int end = 0;
  for (std::size_t stage = 0; stage < replica.stages.size(); ++stage) {
    end += replica.stages[stage].layers;
    if (layer < end) return static_cast<int>(stage);
  }
  SEXTANT_CHECK(false && "the plan's stages cover all layers");
  return 0;
}

}  // namespace

bool needs_synchronization(const TaskPlan& training, const TaskPlan& generation) {
  const auto trains = training.devices();
  const auto generates = generation.devices();
  return !std::includes(trains.begin(), trains.end(), generates.begin(), generates.end());
}

TransferRows transfer_rows(const Model& model, const TaskPlan& training, const TaskPlan& generation, int rank) {
  const std::optional<StageShape> trained = gathering_shape(model, training, generation, rank);
  const bool gets = trained || (needs_synchronization(training, generation) && position_of(generation, rank));
  TransferRows rows;
  for (int block = 0; gets && block < block_count(model); ++block) {
    const bool is_trained = trained && is_of(*trained, block);
    if (is_trained && trained->shard.size == 1) continue;
    rows.full = std::max(rows.full, block_shard(model, block, {}).full_rows);
    if (!is_trained) continue;
    const std::size_t part = block_shard(model, block, trained->shard).rows();
    rows.gathered = std::max(rows.gathered, part * static_cast<std::size_t>(trained->shard.size));
  }
  return rows;
}

BlockwiseTransfer::BlockwiseTransfer(const WeightTransferSetup& setup)
    : setup_(setup),
      synchronizes_(needs_synchronization(setup.training_plan, setup.generation_plan)),
      trained_(gathering_shape(setup.model, setup.training_plan, setup.generation_plan, setup.world.rank())),
      generating_(shape_of(setup.model, setup.generation_plan, setup.world.rank())) {
  const bool takes_part = setup.training.takes_part() || setup.generation.takes_part();
  everyone_ = setup.world.split(takes_part ? 0 : -1, setup.world.rank());
  const std::vector<DeviceId> sources = setup.training_plan.replicas.front().devices();
  for (const Replica& replica : setup.generation_plan.replicas) {
    const DeviceId first = replica.devices().front();
    if (synchronizes_ && !contains(sources, first)) {
      deliveries_.push_back({sources.front().value, first.value});
    }
  }
  if (gathers()) make_owner_groups();
}

void BlockwiseTransfer::make_owner_groups() {
  const Position& mine = setup_.training.position();
  for (int owner = 0; owner < setup_.training.my_replica().pipeline_parallel(); ++owner) {
    const bool is_owner = mine.stage == owner && mine.shard == 0;
    const bool receives = mine.stage != owner;
    Communicator& replica = setup_.training.replica();
    owner_groups_.push_back(replica.split(is_owner || receives ? 0 : -1, is_owner ? 0 : 1 + replica.rank()));
  }
}

TransferRows BlockwiseTransfer::rows() const {
  return transfer_rows(setup_.model, setup_.training_plan, setup_.generation_plan, setup_.world.rank());
}

bool BlockwiseTransfer::holds_whole(int block) const {
  return gathers() && trained_->shard.size == 1 && is_of(*trained_, block);
}

void BlockwiseTransfer::run() {
  const int rank = setup_.world.rank();
  for (int block = 0; block < block_count(setup_.model); ++block) {
    if (gathers()) gather(block);
    for (const Delivery& delivery : deliveries_) {
      if (rank == delivery.from) send(block, delivery);
      if (rank == delivery.to) receive(block, delivery);
    }
    if (generating_) deliver(block);
  }
  finish();
}

void BlockwiseTransfer::gather(int block) {
  const int owner = stage_of(block, setup_.training.my_replica(), setup_.model.layers);
  if (setup_.training.position().stage == owner && !holds_whole(block)) gather_in_stage(block);
  const auto& group = owner_groups_[static_cast<std::size_t>(owner)];
  if (group != nullptr && group->size() > 1) broadcast_from_owner(block, owner);
}

void BlockwiseTransfer::deliver(int block) {
  if (synchronizes_ && setup_.generation.replica().size() > 1) broadcast_in_generation(block);
  if (is_of(*generating_, block)) cut(block);
}

}  // namespace sextant::proxy
