#include "probes/proxy/generation.h"

#include <algorithm>

#include "probes/proxy/model/random.h"

namespace sextant::proxy {

Generation::Generation(const TaskSetup& setup)
    : workload_(&setup.workload),
      worker_(setup, Purpose::forward_only),
      stages_(setup.group.my_replica().pipeline_parallel()),
      chunk_sequences_(setup.plan.micro_batch_sequences) {
  plan_waves(setup);
  const LayerShape& shape = worker_.layer_shape();
  const int slots = stages_ * largest_wave_;
  stash_.emplace(shape, limits_, false);
  cache_.emplace(shape, worker_.shape().layers, slots, workload_->longest());
  x_.resize(static_cast<std::size_t>(limits_.tokens) * worker_.hidden());
  last_rows_.resize(static_cast<std::size_t>(largest_wave_) * worker_.hidden());
  scores_.resize(static_cast<std::size_t>(shape.heads_per_kv_head()) * workload_->longest());
  latest_by_slot_.resize(static_cast<std::size_t>(slots));
  if (worker_.shape().is_last()) {
    head_.emplace(worker_.shape(), worker_.tensor(), largest_wave_, Purpose::forward_only);
  }
}

void Generation::plan_waves(const TaskSetup& setup) {
  const Range mine = replica_range(setup.plan, setup.group.position().replica, setup.workload.all());
  const int batch = setup.plan.decode_batch_sequences > 0 ? setup.plan.decode_batch_sequences : mine.size();
  const int count = mine.size() == 0 ? 0 : (mine.size() + batch - 1) / batch;
  waves_ = cut_evenly(mine, count);
  for (const Range& wave : waves_) {
    largest_wave_ = std::max(largest_wave_, wave.size());
    for (const Range& chunk : cut_by_size(wave, chunk_sequences_)) {
      limits_.include(setup.workload.prompts(chunk));
    }
  }
  limits_.tokens = std::max(limits_.tokens, largest_wave_);
}

int Generation::longest_response(std::span<const Range> waves) const {
  int longest = 0;
  for (const Range& wave : waves) {
    for (int i = wave.begin; i < wave.end; ++i) longest = std::max(longest, workload_->response(i));
  }
  return longest;
}

void Generation::run(Rollout& rollout) {
  const auto in_flight = static_cast<std::size_t>(stages_);
  for (std::size_t first = 0; first < waves_.size(); first += in_flight) {
    const auto flight = std::span(waves_).subspan(first, std::min(in_flight, waves_.size() - first));
    const auto for_each_wave = [&](auto action) {
      for (std::size_t i = 0; i < flight.size(); ++i) action(flight[i], static_cast<int>(i) * largest_wave_);
    };
    for_each_wave([&](Range wave, int slot) { prefill(rollout, wave, slot); });
    const int steps = longest_response(flight);
    for (int step = 1; step < steps; ++step) {
      for_each_wave([&](Range wave, int slot) { decode(rollout, wave, slot, step); });
    }
  }
  worker_.link().finish();
}

void Generation::prefill(Rollout& rollout, Range wave, int first_slot) {
  for (const Range& chunk : cut_by_size(wave, chunk_sequences_)) {
    prefill_chunk(rollout, chunk, first_slot + chunk.begin - wave.begin);
  }
  return_tokens(wave, first_slot, 1);
}

void Generation::prefill_chunk(Rollout& rollout, Range chunk, int first_slot) {
  pack_prompts(*workload_, rollout, chunk, prompts_);
  const Matrix x = rows(x_, prompts_.token_count());
  worker_.take_input(prompts_.tokens, x);
  for (int layer = 0; layer < worker_.shape().layers; ++layer) {
    forward_layer(worker_.context(), worker_.parameters().layer(layer), prompts_, *stash_, x);
    cache_->store(layer, first_slot, prompts_,
                  as_matrix(stash_->qkv, x.rows, worker_.layer_shape().qkv_width()));
  }
  if (!worker_.shape().is_last()) {
    worker_.link().send_forward(x.flat());
    return;
  }
  const Matrix last = rows(last_rows_, chunk.size());
  sequences_.clear();
  for (int s = 0; s < chunk.size(); ++s) {
    std::copy_n(x.row(prompts_.offset(s + 1) - 1), x.columns, last.row(s));
    sequences_.push_back(chunk.begin + s);
  }
  sample(rollout, sequences_, 0, last);
  std::copy(sampled_.begin(), sampled_.end(), latest_by_slot_.begin() + first_slot);
}

void Generation::fill_decode_batch(Range wave, int first_slot, int step) {
  decoding_.clear();
  sequences_.clear();
  for (int i = wave.begin; i < wave.end; ++i) {
    if (workload_->response(i) <= step) continue;
    const int slot = first_slot + i - wave.begin;
    decoding_.slots.push_back(slot);
    decoding_.positions.push_back(workload_->prompt(i) + step - 1);
    decoding_.tokens.push_back(latest_by_slot_[static_cast<std::size_t>(slot)]);
    sequences_.push_back(i);
  }
}

void Generation::decode(Rollout& rollout, Range wave, int first_slot, int step) {
  fill_decode_batch(wave, first_slot, step);
  if (decoding_.size() == 0) return;
  if (worker_.shape().is_first() && !worker_.shape().is_last()) {
    worker_.link().receive_tokens(decoding_.tokens);
  }
  const Matrix x = rows(x_, decoding_.size());
  worker_.take_input(decoding_.tokens, x);
  for (int layer = 0; layer < worker_.shape().layers; ++layer) {
    decode_layer(worker_.context(), worker_.parameters().layer(layer), decoding_, *cache_, layer, *stash_,
                 scores_, x);
  }
  if (!worker_.shape().is_last()) {
    worker_.link().send_forward(x.flat());
    return;
  }
  sample(rollout, sequences_, step, x);
  for (int i = 0; i < decoding_.size(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    latest_by_slot_[static_cast<std::size_t>(decoding_.slots[row])] = sampled_[row];
  }
  return_tokens(wave, first_slot, step + 1);
}

void Generation::sample(Rollout& rollout, std::span<const int> sequences, int step, ConstMatrix x) {
  sampled_.resize(sequences.size());
  noise_keys_.clear();
  if (step == 0) {
    for (const int sequence : sequences) noise_keys_.push_back(noise_key(rollout.seed, sequence));
  }
  head_->sample(worker_.parameters().head(), x, noise_keys_, sampled_);
  if (!worker_.writes_results()) return;
  for (std::size_t row = 0; row < sequences.size(); ++row) {
    const int sequence = sequences[row];
    const auto position = static_cast<std::size_t>(workload_->prompt(sequence) + step);
    rollout.sampled[workload_->offset(sequence) + position] = static_cast<float>(sampled_[row]);
  }
}

void Generation::return_tokens(Range wave, int first_slot, int next_step) {
  if (!worker_.shape().is_last() || worker_.shape().is_first()) return;
  fill_decode_batch(wave, first_slot, next_step);
  if (decoding_.size() > 0) worker_.link().send_tokens(decoding_.tokens);
}

}  // namespace sextant::proxy
