#include "probes/proxy/weight_sync.h"

#include <algorithm>

#include "core/error.h"

namespace sextant::proxy {
namespace {

constexpr int kTag = 30000;  // beyond those of StageLink, and below MPI's guaranteed 32767

bool contains(const std::vector<DeviceId>& devices, DeviceId device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

}  // namespace

bool needs_synchronization(const TaskPlan& training, const TaskPlan& generation) {
  const auto trains = training.devices();
  const auto generates = generation.devices();
  return !std::includes(trains.begin(), trains.end(), generates.begin(), generates.end());
}

WeightSync::WeightSync(const WeightSyncSetup& setup)
    : setup_(setup), synchronizes_(needs_synchronization(setup.training_plan, setup.generation_plan)) {
  const bool takes_part = setup.training.takes_part() || setup.generation.takes_part();
  everyone_ = setup.world.split(takes_part ? 0 : -1, setup.world.rank());
  if (!takes_part) return;
  if (gathers()) make_owner_groups();
  size_buffers();
}

bool WeightSync::gathers() const {
  return setup_.training.takes_part() && (!synchronizes_ || setup_.training.position().replica == 0);
}

void WeightSync::make_owner_groups() {
  const Position& mine = setup_.training.position();
  for (int owner = 0; owner < setup_.training.my_replica().pipeline_parallel(); ++owner) {
    const bool is_owner = mine.stage == owner && mine.shard == 0;
    const bool receives = mine.stage != owner;
    Communicator& replica = setup_.training.replica();
    owner_groups_.push_back(replica.split(is_owner || receives ? 0 : -1, is_owner ? 0 : 1 + replica.rank()));
  }
}

void WeightSync::size_buffers() {
  std::size_t most_rows = 0;
  for (int block = 0; block < block_count(setup_.model); ++block) {
    most_rows = std::max(most_rows, block_shard(setup_.model, block, {}).full_rows);
  }
  full_.resize(most_rows * static_cast<std::size_t>(setup_.model.hidden));
  if (!gathers() || setup_.trained->shape().shard.size == 1) return;
  std::size_t largest_part = 0;
  const StageShape& shape = setup_.trained->shape();
  for (int block = shape.first_block(); block < shape.end_block(); ++block) {
    largest_part = std::max(largest_part, setup_.trained->block(block).size());
  }
  gathered_.resize(largest_part * static_cast<std::size_t>(shape.shard.size));
}

bool WeightSync::holds_whole(int block) const {
  if (!gathers()) return false;
  const StageShape& shape = setup_.trained->shape();
  return shape.shard.size == 1 && block >= shape.first_block() && block < shape.end_block();
}

std::span<float> WeightSync::full_block(int block) {
  if (holds_whole(block)) return setup_.trained->block(block);
  const std::size_t rows = block_shard(setup_.model, block, {}).full_rows;
  return std::span(full_).first(rows * static_cast<std::size_t>(setup_.model.hidden));
}

int WeightSync::stage_of(int block) const {
  const auto& stages = setup_.training.my_replica().stages;
  // The embedding lies with the first layer, the head with the last.
  const int layer = std::clamp(block - 1, 0, setup_.model.layers - 1);
  int end = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    end += stages[stage].layers;
    if (layer < end) return static_cast<int>(stage);
  }
  SEXTANT_CHECK(false && "the plan's stages cover all layers");
  return 0;
}

void WeightSync::run() {
  for (int block = 0; block < block_count(setup_.model); ++block) {
    if (gathers()) gather(block);
    if (synchronizes_) send_to_generation(block);
    if (setup_.generation.takes_part()) deliver(block);
  }
}

void WeightSync::gather(int block) {
  const int owner = stage_of(block);
  if (setup_.training.position().stage == owner) gather_in_stage(block);
  const auto& group = owner_groups_[static_cast<std::size_t>(owner)];
  if (group != nullptr && group->size() > 1) group->broadcast(std::as_writable_bytes(full_block(block)), 0);
}

void WeightSync::gather_in_stage(int block) {
  if (holds_whole(block)) return;
  const auto hidden = static_cast<std::size_t>(setup_.model.hidden);
  const std::span<const float> mine = setup_.trained->block(block);
  const TensorShard shard = setup_.trained->shape().shard;
  const std::span<float> full = full_block(block);
  const auto gathered = std::span(gathered_).first(mine.size() * static_cast<std::size_t>(shard.size));
  setup_.training.tensor().all_gather(mine, gathered);
  for (int rank = 0; rank < shard.size; ++rank) {
    const auto part = gathered.subspan(mine.size() * static_cast<std::size_t>(rank), mine.size());
    insert_block(block_shard(setup_.model, block, {rank, shard.size}), hidden, part, full);
  }
}

void WeightSync::send_to_generation(int block) {
  const std::vector<DeviceId> sources = setup_.training_plan.replicas.front().devices();
  const int rank = setup_.world.rank();
  for (const Replica& replica : setup_.generation_plan.replicas) {
    const DeviceId first = replica.devices().front();
    if (contains(sources, first)) continue;
    const auto bytes = std::as_writable_bytes(full_block(block));
    if (rank == sources.front().value) setup_.world.send(bytes, first.value, kTag);
    if (rank == first.value) setup_.world.receive(bytes, sources.front().value, kTag);
  }
}

void WeightSync::deliver(int block) {
  if (synchronizes_ && setup_.generation.replica().size() > 1) {
    setup_.generation.replica().broadcast(std::as_writable_bytes(full_block(block)), 0);
  }
  const StageShape& shape = setup_.generating->shape();
  if (block < shape.first_block() || block >= shape.end_block()) return;
  slice_block(block_shard(setup_.model, block, shape.shard), static_cast<std::size_t>(setup_.model.hidden),
              full_block(block), setup_.generating->block(block));
}

}  // namespace sextant::proxy
