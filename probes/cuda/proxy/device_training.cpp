#include "probes/cuda/proxy/device_training.h"

#include <algorithm>

#include "probes/proxy/inference.h"
#include "probes/proxy/schedule.h"
#include "probes/proxy/training.h"

namespace sextant::gpu {

using namespace proxy;

DeviceTraining::DeviceTraining(ProxyGpu& gpu, const TaskSetup& setup)
    : DeviceTask(gpu, setup, Purpose::training),
      workload_(&setup.workload),
      stage_(setup.group.position().stage),
      stages_(setup.group.my_replica().pipeline_parallel()),
      recompute_(setup.plan.recompute == Recompute::full),
      mini_batches_(plan_mini_batches(setup)),
      scratch_(layer_shape(), limits_, Purpose::training),
      replicas_(make_gpu_collectives(setup.group.data())),
      x_(static_cast<std::size_t>(limits_.tokens) * hidden()),
      dx_(x_.size()),
      targets_(static_cast<std::size_t>(limits_.tokens)),
      factors_(targets_.size()),
      loss_on_device_(1) {
  make_slots();
  if (shape().is_last()) head_.emplace(gpu, shape(), tensor(), limits_.tokens, Purpose::training);
  make_link(setup.group,
            link_sizes(TaskKind::training, stages_, static_cast<int>(slots_.size()), x_.bytes(), 0));
  make_shared_kv_heads(setup);
}

std::vector<DeviceTraining::MiniBatch> DeviceTraining::plan_mini_batches(const TaskSetup& setup) {
  std::vector<MiniBatch> planned;
  for (const Range& whole : cut_evenly(setup.workload.all(), setup.workflow.mini_batches)) {
    const Range mine = replica_range(setup.plan, setup.group.position().replica, whole);
    planned.push_back({whole.size(), cut_by_size(mine, setup.plan.micro_batch_sequences)});
    for (const Range& sequences : planned.back().micro_batches) {
      limits_.include(setup.workload.lengths(sequences));
    }
  }
  return planned;
}

void DeviceTraining::make_slots() {
  std::size_t maximum = 1;
  for (const MiniBatch& mini_batch : mini_batches_)
    maximum = std::max(maximum, mini_batch.micro_batches.size());
  slots_.resize(static_cast<std::size_t>(micro_batches_in_flight(stage_, stages_, static_cast<int>(maximum))));
  for (Slot& slot : slots_) {
    slot.batch = DeviceBatch(limits_);
    if (recompute_) {
      slot.inputs = DeviceArray<Bf16>(x_.size() * static_cast<std::size_t>(shape().layers));
      continue;
    }
    for (int layer = 0; layer < shape().layers; ++layer) {
      slot.stashes.push_back(std::make_unique<DeviceStash>(layer_shape(), limits_, true));
    }
  }
  if (recompute_) recomputed_ = std::make_unique<DeviceStash>(layer_shape(), limits_, true);
}

void DeviceTraining::make_shared_kv_heads(const TaskSetup& setup) {
  const TensorShard& shard = shape().shard;
  if (shard.size <= shape().model.kv_heads) return;
  same_kv_heads_ = setup.group.tensor().split(first_kv_head(shape().model, shard), shard.rank);
  same_kv_heads_gradients_ = make_gpu_collectives(*same_kv_heads_);
}

void DeviceTraining::run(Rollout& rollout) {
  loss_ = 0;
  for (const MiniBatch& mini_batch : mini_batches_) {
    queue_mini_batch(rollout, mini_batch);
    parameters().take_adam_step(Training::kLearningRate);
  }
  read_loss();
}

void DeviceTraining::accumulate_gradients(const Rollout& rollout, int mini_batch) {
  queue_mini_batch(rollout, mini_batches_[static_cast<std::size_t>(mini_batch)]);
  read_loss();
}

void DeviceTraining::queue_mini_batch(const Rollout& rollout, const MiniBatch& mini_batch) {
  parameters().clear_gradients();
  const auto& micro_batches = mini_batch.micro_batches;
  for (const PipelineStep& step :
       one_forward_one_backward(stage_, stages_, static_cast<int>(micro_batches.size()))) {
    const auto number = static_cast<std::size_t>(step.micro_batch);
    Slot& slot = slots_[number % slots_.size()];
    if (step.pass == Pass::forward) {
      forward(rollout, micro_batches[number], slot);
    } else {
      backward(rollout, mini_batch, micro_batches[number], slot);
    }
  }
  reduce_gradients();
}

DeviceMatrix DeviceTraining::rows(const DeviceArray<Bf16>& storage, const Slot& slot) const {
  return as_matrix(storage, slot.packed.token_count(), hidden());
}

void DeviceTraining::forward(const Rollout& rollout, Range sequences, Slot& slot) {
  pack_sequences(*workload_, rollout, sequences, slot.packed);
  slot.batch.upload(gpu(), slot.packed);
  const DeviceMatrix x = rows(x_, slot);
  take_input(slot.batch.tokens(), nullptr, x);
  for (int layer = 0; layer < shape().layers; ++layer) {
    const auto number = static_cast<std::size_t>(layer);
    if (recompute_) {
      check_cuda(cudaMemcpyAsync(slot.inputs.data() + number * x_.size(), x.data, x.size() * sizeof(Bf16),
                                 cudaMemcpyDeviceToDevice, gpu().stream()),
                 "keeping a layer's input");
    }
    DeviceStash& stash = recompute_ ? *recomputed_ : *slot.stashes[number];
    forward_layer(context(), parameters().layer(layer), slot.batch, stash, scratch_, x);
  }
  if (!shape().is_last()) link().send_forward(x);
}

void DeviceTraining::backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences,
                              Slot& slot) {
  const DeviceMatrix dx = rows(dx_, slot);
  start_backward(rollout, mini_batch, sequences, slot, dx);
  for (int layer = shape().layers - 1; layer >= 0; --layer) {
    DeviceStash& stash = activations(slot, layer);
    backward_layer(context(), parameters().layer(layer), parameters().layer_gradients(layer), slot.batch, stash,
                   scratch_, dx);
  }
  if (shape().is_first()) {
    embed_backward(vocabulary(), slot.batch.tokens(), dx.data, dx.rows, dx.columns,
                   parameters().embedding_gradients().data, gpu().stream());
  } else {
    link().send_backward(dx);
  }
}

// On the last stage x_ still holds the micro-batch: its backward pass follows its forward pass at once.
void DeviceTraining::start_backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences,
                                    const Slot& slot, DeviceMatrix dx) {
  if (!shape().is_last()) return link().receive_backward(dx);
  set_targets(rollout, mini_batch, sequences, slot.packed);
  head_->loss_and_gradients(parameters().head(), parameters().head_gradients(), rows(x_, slot), targets_.data(),
                            factors_.data(), loss_on_device_.data(), dx);
}

DeviceStash& DeviceTraining::activations(Slot& slot, int layer) {
  const auto number = static_cast<std::size_t>(layer);
  if (!recompute_) return *slot.stashes[number];
  const DeviceMatrix x = rows(x_, slot);
  check_cuda(cudaMemcpyAsync(x.data, slot.inputs.data() + number * x_.size(), x.size() * sizeof(Bf16),
                             cudaMemcpyDeviceToDevice, gpu().stream()),
             "taking a layer's input");
  forward_layer(context(), parameters().layer(layer), slot.batch, *recomputed_, scratch_, x);
  return *recomputed_;
}

void DeviceTraining::set_targets(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences,
                                 const PackedBatch& packed) {
  set_response_targets(*workload_, sequences, packed, wanted_);
  for (int s = 0; s < packed.sequences(); ++s) {
    const int sequence = sequences.begin + s;
    const float mean = 1.0F / static_cast<float>(workload_->response(sequence) * mini_batch.sequences);
    const float weight = mean * rollout.advantages[static_cast<std::size_t>(sequence)];
    for (int i = packed.offset(s); i < packed.offset(s + 1); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (wanted_.tokens[row] != Targets::kNone) wanted_.weights[row] = weight;
    }
  }
  gpu().uploads().copy(std::span<const int>(wanted_.tokens), targets_.data());
  gpu().uploads().copy(std::span<const float>(wanted_.weights), factors_.data());
}

void DeviceTraining::reduce_gradients() {
  if (same_kv_heads_gradients_ != nullptr) {
    // Each rank has seen its own query heads only; the key and value heads are common.
    const LayerShape& local = layer_shape();
    for (int layer = 0; layer < shape().layers; ++layer) {
      const DeviceMatrix common =
          parameters().layer_gradients(layer).qkv.rows_from(local.attention_width(), 2 * local.kv_width());
      same_kv_heads_gradients_->all_reduce_sum(common.data, common.size(), gpu().stream());
    }
  }
  const DeviceArray<Bf16>& gradients = parameters().gradients();
  if (replicas_ != nullptr) replicas_->all_reduce_sum(gradients.data(), gradients.size(), gpu().stream());
}

void DeviceTraining::read_loss() {
  double loss = 0;
  check_cuda(
      cudaMemcpyAsync(&loss, loss_on_device_.data(), sizeof loss, cudaMemcpyDeviceToHost, gpu().stream()),
      "reading the loss");
  check_cuda(cudaMemsetAsync(loss_on_device_.data(), 0, sizeof loss, gpu().stream()), "clearing the loss");
  finish("training");
  loss_ += loss;
}

}  // namespace sextant::gpu
