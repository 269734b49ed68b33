#include "probes/cuda/proxy/device_training.h"

#include <algorithm>

#include "probes/proxy/inference.h"
#include "probes/proxy/training.h"

namespace sextant::gpu {

using namespace proxy;

DeviceTraining::DeviceTraining(ProxyGpu& gpu, const TaskSetup& setup, std::unique_ptr<GradientSum> sum)
    : DeviceTask(gpu, setup, Purpose::training),
      workload_(&setup.workload),
      sum_(std::move(sum)),
      recompute_(setup.plan.recompute == Recompute::full),
      mini_batches_(plan_mini_batches(setup)),
      scratch_(layer_shape(), limits_, Purpose::training),
      head_(gpu, model(), limits_.tokens, Purpose::training),
      batch_(limits_),
      x_(static_cast<std::size_t>(limits_.tokens) * model().hidden),
      dx_(x_.size()),
      targets_(static_cast<std::size_t>(limits_.tokens)),
      factors_(targets_.size()),
      loss_on_device_(1) {
  const int stashes = recompute_ ? 1 : model().layers;
  for (int i = 0; i < stashes; ++i) {
    stashes_.push_back(std::make_unique<DeviceStash>(layer_shape(), limits_, true));
  }
  if (recompute_) inputs_ = DeviceArray<Bf16>(x_.size() * static_cast<std::size_t>(model().layers));
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
  for (const Range& sequences : mini_batch.micro_batches) {
    forward(rollout, sequences);
    backward(rollout, mini_batch, sequences);
  }
  if (sum_ == nullptr) return;
  const DeviceArray<Bf16>& gradients = parameters().gradients();
  sum_->all_reduce(gradients.data(), gradients.size(), gpu().stream());
}

void DeviceTraining::forward(const Rollout& rollout, Range sequences) {
  pack_sequences(*workload_, rollout, sequences, packed_);
  batch_.upload(gpu(), packed_);
  const DeviceMatrix x = as_matrix(x_, packed_.token_count(), model().hidden);
  embed(parameters().embedding().data, batch_.tokens(), nullptr, x.rows, x.columns, x.data, gpu().stream());
  for (int layer = 0; layer < model().layers; ++layer) {
    const auto number = static_cast<std::size_t>(layer);
    if (recompute_) {
      check_cuda(cudaMemcpyAsync(inputs_.data() + number * x_.size(), x.data, x.size() * sizeof(Bf16),
                                 cudaMemcpyDeviceToDevice, gpu().stream()),
                 "keeping a layer's input");
    }
    DeviceStash& stash = *stashes_[recompute_ ? 0 : number];
    forward_layer(context(), parameters().layer(layer), batch_, stash, scratch_, x);
  }
}

void DeviceTraining::backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences) {
  set_targets(rollout, mini_batch, sequences);
  const int rows = packed_.token_count();
  const DeviceMatrix dx = as_matrix(dx_, rows, model().hidden);
  head_.loss_and_gradients(parameters().head(), parameters().head_gradients(),
                           as_matrix(x_, rows, model().hidden), targets_.data(), factors_.data(),
                           loss_on_device_.data(), dx);
  for (int layer = model().layers - 1; layer >= 0; --layer) {
    DeviceStash& stash = activations(layer);
    backward_layer(context(), parameters().layer(layer), parameters().layer_gradients(layer), batch_, stash,
                   scratch_, dx);
  }
  embed_backward(batch_.tokens(), dx.data, rows, dx.columns, parameters().embedding_gradients().data,
                 gpu().stream());
}

DeviceStash& DeviceTraining::activations(int layer) {
  const auto number = static_cast<std::size_t>(layer);
  if (!recompute_) return *stashes_[number];
  const DeviceMatrix x = as_matrix(x_, packed_.token_count(), model().hidden);
  check_cuda(cudaMemcpyAsync(x.data, inputs_.data() + number * x_.size(), x.size() * sizeof(Bf16),
                             cudaMemcpyDeviceToDevice, gpu().stream()),
             "taking a layer's input");
  forward_layer(context(), parameters().layer(layer), batch_, *stashes_.front(), scratch_, x);
  return *stashes_.front();
}

void DeviceTraining::set_targets(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences) {
  set_response_targets(*workload_, sequences, packed_, wanted_);
  for (int s = 0; s < packed_.sequences(); ++s) {
    const int sequence = sequences.begin + s;
    const float mean = 1.0F / static_cast<float>(workload_->response(sequence) * mini_batch.sequences);
    const float weight = mean * rollout.advantages[static_cast<std::size_t>(sequence)];
    for (int i = packed_.offset(s); i < packed_.offset(s + 1); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (wanted_.tokens[row] != Targets::kNone) wanted_.weights[row] = weight;
    }
  }
  gpu().uploads().copy(std::span<const int>(wanted_.tokens), targets_.data());
  gpu().uploads().copy(std::span<const float>(wanted_.weights), factors_.data());
}

void DeviceTraining::read_loss() {
  double loss = 0;
  check_cuda(
      cudaMemcpyAsync(&loss, loss_on_device_.data(), sizeof loss, cudaMemcpyDeviceToHost, gpu().stream()),
      "reading the loss");
  check_cuda(cudaMemsetAsync(loss_on_device_.data(), 0, sizeof loss, gpu().stream()), "clearing the loss");
  gpu().wait("training");
  loss_ += loss;
}

}  // namespace sextant::gpu
