#include "probes/cuda/proxy/device_weight_transfer.h"

namespace sextant::gpu {

using namespace proxy;

namespace {

DeviceTask* device_task(TaskWork* work) {
  return work == nullptr ? nullptr : &dynamic_cast<DeviceTask&>(*work);
}

}  // namespace

DeviceWeightTransfer::DeviceWeightTransfer(ProxyGpu& gpu, const WeightTransferSetup& setup)
    : BlockwiseTransfer(setup),
      gpu_(gpu),
      trained_(device_task(setup.trained)),
      generating_(device_task(setup.generating)),
      full_(rows().full * static_cast<std::size_t>(hidden())),
      gathered_(rows().gathered * static_cast<std::size_t>(hidden())) {
  join_groups();
}

// Training tasks have joined their tensor-parallel groups already.
void DeviceWeightTransfer::join_groups() {
  for (const auto& group : owner_groups()) {
    owners_.push_back(group == nullptr ? nullptr : make_gpu_collectives(*group));
  }
  for (const Delivery& delivery : deliveries()) {
    const int rank = setup().world.rank();
    const bool is_mine = rank == delivery.from || rank == delivery.to;
    Pair pair;
    pair.ranks = setup().world.split(is_mine ? 0 : -1, rank == delivery.from ? 0 : 1);
    if (is_mine) pair.collectives = make_gpu_collectives(*pair.ranks);
    pairs_.push_back(std::move(pair));
  }
  if (synchronizes() && setup().generation.takes_part()) {
    generation_ = make_gpu_collectives(setup().generation.replica());
  }
}

DeviceMatrix DeviceWeightTransfer::full_block(int block) const {
  if (holds_whole(block)) return trained_->parameters().block(block);
  return as_matrix(full_, static_cast<int>(block_shard(setup().model, block, {}).full_rows), hidden());
}

GpuCollectives& DeviceWeightTransfer::pair_of(const Delivery& delivery) const {
  return *pairs_[static_cast<std::size_t>(&delivery - deliveries().data())].collectives;
}

void DeviceWeightTransfer::copy_rows(DeviceMatrix from, DeviceMatrix to) {
  check_cuda(
      cudaMemcpyAsync(to.data, from.data, from.size() * sizeof(Bf16), cudaMemcpyDeviceToDevice, gpu_.stream()),
      "copying weights");
}

void DeviceWeightTransfer::gather_in_stage(int block) {
  const DeviceMatrix mine = trained_->parameters().block(block);
  const int ranks = trained().shard.size;
  trained_->tensor()->all_gather(mine.data, mine.size() * sizeof(Bf16), gathered_.data(), gpu_.stream());
  const DeviceMatrix full = full_block(block);
  DeviceMatrix part = as_matrix(gathered_, mine.rows * ranks, hidden());
  for (int rank = 0; rank < ranks; ++rank) {
    for (const RowRange& range : block_shard(setup().model, block, {rank, ranks}).ranges) {
      const int count = static_cast<int>(range.count);
      copy_rows(part.rows_from(0, count), full.rows_from(static_cast<int>(range.first), count));
      part = part.rows_from(count, part.rows - count);
    }
  }
}

void DeviceWeightTransfer::broadcast_from_owner(int block, int owner) {
  const DeviceMatrix full = full_block(block);
  owners_[static_cast<std::size_t>(owner)]->broadcast(full.data, full.size() * sizeof(Bf16), 0, gpu_.stream());
}

void DeviceWeightTransfer::send(int block, const Delivery& delivery) {
  const DeviceMatrix full = full_block(block);
  pair_of(delivery).send(full.data, full.size() * sizeof(Bf16), 1, gpu_.stream());
}

void DeviceWeightTransfer::receive(int block, const Delivery& delivery) {
  const DeviceMatrix full = full_block(block);
  pair_of(delivery).receive(full.data, full.size() * sizeof(Bf16), 0, gpu_.stream());
}

void DeviceWeightTransfer::broadcast_in_generation(int block) {
  const DeviceMatrix full = full_block(block);
  generation_->broadcast(full.data, full.size() * sizeof(Bf16), 0, gpu_.stream());
}

void DeviceWeightTransfer::cut(int block) {
  const DeviceMatrix full = full_block(block);
  DeviceMatrix part = generating_->parameters().block(block);
  const TensorShard shard = generating_->parameters().shape().shard;
  if (shard.size == 1) return copy_rows(full, part);
  for (const RowRange& range : block_shard(setup().model, block, shard).ranges) {
    const int count = static_cast<int>(range.count);
    copy_rows(full.rows_from(static_cast<int>(range.first), count), part.rows_from(0, count));
    part = part.rows_from(count, part.rows - count);
  }
}

void DeviceWeightTransfer::finish() { gpu_.wait("moving weights"); }

}  // namespace sextant::gpu
