#include "probes/proxy/weight_sync.h"

#include "probes/proxy/host_task.h"

namespace sextant::proxy {
namespace {

constexpr int kTag = 30000;  // beyond those of StageLink, and below MPI's guaranteed 32767

StageParameters* parameters_of(TaskWork* work) {
  return work == nullptr ? nullptr : &dynamic_cast<HostTask&>(*work).parameters();
}

}  // namespace

WeightSync::WeightSync(const WeightTransferSetup& setup)
    : BlockwiseTransfer(setup),
      trained_(parameters_of(setup.trained)),
      generating_(parameters_of(setup.generating)),
      full_(rows().full * static_cast<std::size_t>(hidden())),
      gathered_(rows().gathered * static_cast<std::size_t>(hidden())) {}

std::span<float> WeightSync::full_block(int block) {
  if (holds_whole(block)) return trained_->block(block);
  const std::size_t rows = block_shard(setup().model, block, {}).full_rows;
  return std::span(full_).first(rows * static_cast<std::size_t>(hidden()));
}

void WeightSync::gather_in_stage(int block) {
  const std::span<const float> mine = trained_->block(block);
  const TensorShard shard = trained().shard;
  const std::span<float> full = full_block(block);
  const auto gathered = std::span(gathered_).first(mine.size() * static_cast<std::size_t>(shard.size));
  setup().training.tensor().all_gather(mine, gathered);
  for (int rank = 0; rank < shard.size; ++rank) {
    const auto part = gathered.subspan(mine.size() * static_cast<std::size_t>(rank), mine.size());
    insert_block(block_shard(setup().model, block, {rank, shard.size}), static_cast<std::size_t>(hidden()),
                 part, full);
  }
}

void WeightSync::broadcast_from_owner(int block, int owner) {
  owner_groups()[static_cast<std::size_t>(owner)]->broadcast(std::as_writable_bytes(full_block(block)), 0);
}

void WeightSync::send(int block, const Delivery& delivery) {
  setup().world.send(std::as_bytes(full_block(block)), delivery.to, kTag);
}

void WeightSync::receive(int block, const Delivery& delivery) {
  setup().world.receive(std::as_writable_bytes(full_block(block)), delivery.from, kTag);
}

void WeightSync::broadcast_in_generation(int block) {
  setup().generation.replica().broadcast(std::as_writable_bytes(full_block(block)), 0);
}

void WeightSync::cut(int block) {
  slice_block(block_shard(setup().model, block, generating_->shape().shard), static_cast<std::size_t>(hidden()),
              full_block(block), generating_->block(block));
}

}  // namespace sextant::proxy
