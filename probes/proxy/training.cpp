#include "probes/proxy/training.h"

#include <algorithm>

#include "probes/proxy/inference.h"
#include "probes/proxy/model/embedding.h"

namespace sextant::proxy {

Training::Training(const TaskSetup& setup)
    : workload_(&setup.workload),
      group_(&setup.group),
      worker_(setup, Purpose::training),
      recompute_(setup.plan.recompute == Recompute::full) {
  plan_mini_batches(setup);
  make_slots(setup);
  const auto elements = static_cast<std::size_t>(limits_.tokens) * worker_.hidden();
  x_.resize(elements);
  dx_.resize(elements);
  const StageShape& shape = worker_.shape();
  if (shape.is_last()) head_.emplace(shape, worker_.tensor(), limits_.tokens, Purpose::training);
  if (shape.shard.size > shape.model.kv_heads) {
    same_kv_heads_ = worker_.tensor().split(first_kv_head(shape.model, shape.shard), shape.shard.rank);
  }
}

void Training::plan_mini_batches(const TaskSetup& setup) {
  for (const Range& whole : cut_evenly(setup.workload.all(), setup.workflow.mini_batches)) {
    const Range mine = replica_range(setup.plan, setup.group.position().replica, whole);
    mini_batches_.push_back({whole.size(), cut_by_size(mine, setup.plan.micro_batch_sequences)});
    for (const Range& sequences : mini_batches_.back().micro_batches) {
      limits_.include(setup.workload.lengths(sequences));
    }
  }
}

void Training::make_slots(const TaskSetup& setup) {
  std::size_t maximum = 0;
  for (const MiniBatch& mini_batch : mini_batches_)
    maximum = std::max(maximum, mini_batch.micro_batches.size());
  const int stages = setup.group.my_replica().pipeline_parallel();
  slots_.resize(static_cast<std::size_t>(
      micro_batches_in_flight(setup.group.position().stage, stages, static_cast<int>(maximum))));
  for (Slot& slot : slots_) {
    for (int layer = 0; layer < worker_.shape().layers; ++layer) {
      if (recompute_) {
        slot.inputs.emplace_back(static_cast<std::size_t>(limits_.tokens) * worker_.hidden());
      } else {
        slot.stashes.emplace_back(worker_.layer_shape(), limits_, true);
      }
    }
  }
  if (recompute_) recomputed_.emplace(worker_.layer_shape(), limits_, true);
  scratch_.emplace(worker_.layer_shape(), limits_);
}

void Training::run(Rollout& rollout) {
  loss_ = 0;
  for (int i = 0; i < mini_batches(); ++i) {
    accumulate_gradients(rollout, i);
    worker_.parameters().take_adam_step(kLearningRate);
  }
}

void Training::accumulate_gradients(const Rollout& rollout, int mini_batch) {
  const MiniBatch& chosen = mini_batches_[static_cast<std::size_t>(mini_batch)];
  worker_.parameters().clear_gradients();
  const auto steps =
      one_forward_one_backward(group_->position().stage, group_->my_replica().pipeline_parallel(),
                               static_cast<int>(chosen.micro_batches.size()));
  for (const PipelineStep& step : steps) {
    const auto number = static_cast<std::size_t>(step.micro_batch);
    Slot& slot = slots_[number % slots_.size()];
    if (step.pass == Pass::forward) {
      forward(rollout, chosen.micro_batches[number], slot);
    } else {
      backward(rollout, chosen, chosen.micro_batches[number], slot);
    }
  }
  worker_.link().finish();
  reduce_gradients();
}

void Training::forward(const Rollout& rollout, Range sequences, Slot& slot) {
  pack_sequences(*workload_, rollout, sequences, slot.batch);
  const Matrix x = rows(x_, slot.batch.token_count());
  worker_.take_input(slot.batch.tokens, x);
  for (int layer = 0; layer < worker_.shape().layers; ++layer) {
    if (recompute_) std::copy_n(x.data, x.size(), slot.inputs[static_cast<std::size_t>(layer)].data());
    LayerStash& stash = recompute_ ? *recomputed_ : slot.stashes[static_cast<std::size_t>(layer)];
    forward_layer(worker_.context(), worker_.parameters().layer(layer), slot.batch, stash, x);
  }
  if (!worker_.shape().is_last()) worker_.link().send_forward(x.flat());
}

void Training::backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences, Slot& slot) {
  const Matrix dx = rows(dx_, slot.batch.token_count());
  start_backward(rollout, mini_batch, sequences, slot, dx);
  StageParameters& parameters = worker_.parameters();
  for (int layer = worker_.shape().layers - 1; layer >= 0; --layer) {
    backward_layer(worker_.context(), parameters.layer(layer), parameters.layer_gradients(layer), slot.batch,
                   activations(slot, layer), *scratch_, dx);
  }
  if (worker_.shape().is_first()) {
    embed_backward(parameters.embedding_gradients(), worker_.shape().first_token(), slot.batch.tokens, dx);
  } else {
    worker_.link().send_backward(dx.flat());
  }
}

// On the last stage x_ still holds the micro-batch: its backward pass follows its forward pass at once.
void Training::start_backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences,
                              const Slot& slot, Matrix dx) {
  if (!worker_.shape().is_last()) {
    worker_.link().receive_backward(dx.flat());
    return;
  }
  set_targets(rollout, mini_batch, sequences, slot.batch);
  loss_ += head_->loss_and_gradients(worker_.parameters().head(), worker_.parameters().head_gradients(),
                                     rows(x_, dx.rows), targets_, dx);
}

LayerStash& Training::activations(Slot& slot, int layer) {
  if (!recompute_) return slot.stashes[static_cast<std::size_t>(layer)];
  const Matrix x = rows(x_, slot.batch.token_count());
  std::copy_n(slot.inputs[static_cast<std::size_t>(layer)].data(), x.size(), x.data);
  forward_layer(worker_.context(), worker_.parameters().layer(layer), slot.batch, *recomputed_, x);
  return *recomputed_;
}

void Training::set_targets(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences,
                           const PackedBatch& batch) {
  set_response_targets(*workload_, sequences, batch, targets_);
  for (int s = 0; s < batch.sequences(); ++s) {
    const int sequence = sequences.begin + s;
    const float mean = 1.0F / static_cast<float>(workload_->response(sequence) * mini_batch.sequences);
    const float advantage = rollout.advantages[static_cast<std::size_t>(sequence)];
    for (int i = batch.offset(s); i < batch.offset(s + 1); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (targets_.tokens[row] == Targets::kNone) continue;
      targets_.weights[row] = worker_.shape().model.value_head ? mean : mean * advantage;
      targets_.goals[row] = rollout.returns[static_cast<std::size_t>(sequence)];
    }
  }
}

void Training::reduce_gradients() {
  StageParameters& parameters = worker_.parameters();
  if (same_kv_heads_ != nullptr && same_kv_heads_->size() > 1) {
    // Each rank has seen its own query heads only; the key and value heads are common.
    const LayerShape& shape = worker_.layer_shape();
    for (int layer = 0; layer < worker_.shape().layers; ++layer) {
      const Matrix qkv = parameters.layer_gradients(layer).qkv;
      same_kv_heads_->all_reduce_sum(qkv.rows_from(shape.attention_width(), 2 * shape.kv_width()).flat());
    }
  }
  if (group_->data().size() > 1) group_->data().all_reduce_sum(parameters.gradients());
}

}  // namespace sextant::proxy
