#include "probes/cuda/proxy/device_generation.h"

#include <algorithm>

#include "probes/proxy/generation.h"
#include "probes/proxy/model/random.h"

namespace sextant::gpu {

using namespace proxy;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

DeviceGeneration::DeviceGeneration(ProxyGpu& gpu, const TaskSetup& setup)
    : DeviceTask(gpu, setup, Purpose::forward_only),
      workload_(&setup.workload),
      graphs_(setup.plan.execution.cuda_graphs),
      chunk_sequences_(setup.plan.micro_batch_sequences),
      stages_(setup.group.my_replica().pipeline_parallel()),
      waves_(plan_waves(setup)),
      stash_(layer_shape(), limits_, false),
      scratch_(layer_shape(), limits_, Purpose::forward_only),
      decode_scratch_(layer_shape(), largest_wave_, setup.workload.longest(), gpu.multiprocessors()),
      batch_(limits_),
      capacity_(setup.workload.longest()),
      layer_elements_(at(slot_count()) * at(layer_shape().kv_width()) * at(capacity_)),
      keys_(layer_elements_ * at(shape().layers)),
      values_(keys_.size()),
      x_(at(std::max(limits_.tokens, largest_wave_)) * at(hidden())),
      last_(at(largest_wave_) * at(hidden())),
      last_rows_(at(largest_wave_)),
      noise_keys_(at(largest_wave_)),
      slots_(at(slot_count())),
      positions_(slots_.size()),
      chunk_slots_(at(largest_wave_)),
      chunk_positions_(at(largest_wave_)),
      latest_(at(slot_count())),
      prompt_tokens_(latest_.size()),
      history_(shape().is_last() ? latest_.size() * at(longest_response_) : 0) {
  if (shape().is_last()) sampler_.emplace(gpu, shape(), tensor(), std::max(1, largest_wave_));
  make_link(setup.group,
            link_sizes(TaskKind::generation, stages_, 1, x_.bytes(), at(largest_wave_) * sizeof(int)));
}

std::vector<Range> DeviceGeneration::plan_waves(const TaskSetup& setup) {
  const Range mine = replica_range(setup.plan, setup.group.position().replica, setup.workload.all());
  const int batch = setup.plan.decode_batch_sequences > 0 ? setup.plan.decode_batch_sequences : mine.size();
  const int count = mine.size() == 0 ? 0 : (mine.size() + batch - 1) / batch;
  std::vector<Range> waves = cut_evenly(mine, count);
  for (const Range& wave : waves) {
    largest_wave_ = std::max(largest_wave_, wave.size());
    longest_response_ = std::max(longest_response_, longest_response(wave));
    for (const Range& chunk : cut_by_size(wave, chunk_sequences_)) {
      limits_.include(setup.workload.prompts(chunk));
    }
  }
  return waves;
}

int DeviceGeneration::longest_response(Range wave) const {
  int longest = 0;
  for (int i = wave.begin; i < wave.end; ++i) longest = std::max(longest, workload_->response(i));
  return longest;
}

CacheLayer DeviceGeneration::cache_layer(int layer) const {
  return {keys_.data() + at(layer) * layer_elements_, values_.data() + at(layer) * layer_elements_, capacity_};
}

SampledTokens DeviceGeneration::sampled() const {
  return {latest_.data(), history_.data(), prompt_tokens_.data(), longest_response_};
}

void DeviceGeneration::run(Rollout& rollout) {
  for (std::size_t first = 0; first < waves_.size(); first += at(stages_)) {
    std::vector<WaveInFlight> together;
    for (int number = 0; number < stages_ && first + at(number) < waves_.size(); ++number) {
      together.push_back({waves_[first + at(number)], number, number * largest_wave_, -1});
    }
    run_together(std::move(together), rollout);
  }
  finish("generating");
}

void DeviceGeneration::run_together(std::vector<WaveInFlight> waves, Rollout& rollout) {
  int steps = 0;
  for (const WaveInFlight& wave : waves) {
    steps = std::max(steps, longest_response(wave.sequences));
    prefill(rollout, wave);
  }
  for (int number = 1; number < steps; ++number) {
    for (WaveInFlight& wave : waves) decode(wave, number);
  }
  if (!writes_results()) return;
  for (const WaveInFlight& wave : waves) collect(wave, rollout);
}

void DeviceGeneration::prefill(const Rollout& rollout, const WaveInFlight& wave) {
  const std::vector<int> prompts = workload_->prompts(wave.sequences);
  gpu().uploads().copy(std::span<const int>(prompts), prompt_tokens_.data() + wave.first_slot);
  for (const Range& chunk : cut_by_size(wave.sequences, chunk_sequences_)) {
    prefill_chunk(rollout, chunk, wave.first_slot + chunk.begin - wave.sequences.begin);
  }
  return_tokens(wave, 1);
}

void DeviceGeneration::prefill_chunk(const Rollout& rollout, Range chunk, int first_slot) {
  pack_prompts(*workload_, rollout, chunk, packed_);
  batch_.upload(gpu(), packed_);
  const HeadShape heads = head_shape(layer_shape());
  const DeviceMatrix x = as_matrix(x_, packed_.token_count(), hidden());
  take_input(batch_.tokens(), nullptr, x);
  for (int layer = 0; layer < shape().layers; ++layer) {
    forward_layer(context(), parameters().layer(layer), batch_, stash_, scratch_, x);
    store_in_cache(heads, batch_.places(), stash_.key.data(), stash_.value.data(), first_slot,
                   cache_layer(layer), gpu().stream());
  }
  if (shape().is_last()) {
    sample_first_tokens(rollout, chunk, first_slot, x);
  } else {
    link().send_forward(x);
  }
}

void DeviceGeneration::sample_first_tokens(const Rollout& rollout, Range chunk, int first_slot,
                                           DeviceMatrix x) {
  std::vector<int> last;
  std::vector<int> slots;
  std::vector<int> positions;
  std::vector<std::uint64_t> keys;
  for (int s = 0; s < chunk.size(); ++s) {
    last.push_back(packed_.offset(s + 1) - 1);
    slots.push_back(first_slot + s);
    positions.push_back(packed_.length(s) - 1);
    keys.push_back(noise_key(rollout.seed, chunk.begin + s));
  }
  Uploads& uploads = gpu().uploads();
  uploads.copy(std::span<const int>(last), last_rows_.data());
  uploads.copy(std::span<const int>(slots), chunk_slots_.data());
  uploads.copy(std::span<const int>(positions), chunk_positions_.data());
  uploads.copy(std::span<const std::uint64_t>(keys), noise_keys_.data());
  const DeviceMatrix rows = as_matrix(last_, chunk.size(), hidden());
  pick_rows(x.data, last_rows_.data(), rows.rows, rows.columns, rows.data, gpu().stream());
  sampler_->sample(parameters().head(), rows, noise_keys_.data(),
                   {chunk_slots_.data(), chunk_positions_.data(), rows.rows}, sampled());
}

void DeviceGeneration::decode(WaveInFlight& wave, int number) {
  LiveRows live = live_rows(*workload_, wave.sequences, wave.first_slot, number);
  if (live.count() == 0) return;
  const int rows = graphs_ ? graph_rows(live.count(), largest_wave_) : live.count();
  // Positions advance on the device, so they are sent only when the rows change.
  if (live.count() != wave.live) {
    wave.live = live.count();
    pad_rows(live, rows, slot_count() - 1);
    gpu().uploads().copy(std::span<const int>(live.slots), slots_.data() + wave.first_slot);
    gpu().uploads().copy(std::span<const int>(live.positions), positions_.data() + wave.first_slot);
  }
  if (!shape().is_first()) {
    link().receive_forward(as_matrix(x_, rows, hidden()));
  } else if (stages_ > 1) {
    link().receive_tokens(latest_.data() + wave.first_slot, wave.sequences.size());
  }
  step(wave, rows);
  if (!shape().is_last()) link().send_forward(as_matrix(x_, rows, hidden()));
  return_tokens(wave, number + 1);
}

void DeviceGeneration::step(const WaveInFlight& wave, int rows) {
  if (!graphs_) return queue_step(wave, rows);
  std::unique_ptr<DecodeGraph>& graph = recorded_[{wave.number, rows}];
  if (graph != nullptr) return graph->launch(gpu().stream());
  // Launched first: what a library loads or plans at a first call cannot be recorded.
  queue_step(wave, rows);
  gpu().wait("decoding");
  graph = std::make_unique<DecodeGraph>(gpu().stream(), [&] { queue_step(wave, rows); });
}

void DeviceGeneration::queue_step(const WaveInFlight& wave, int rows) {
  const DeviceMatrix x = as_matrix(x_, rows, hidden());
  const DecodeRows live{slots_.data() + wave.first_slot, positions_.data() + wave.first_slot, rows};
  if (shape().is_first()) look_up(latest_.data(), live.slots, x);
  for (int layer = 0; layer < shape().layers; ++layer) {
    decode_layer(context(), parameters().layer(layer), live, cache_layer(layer), decode_scratch_, x);
  }
  if (shape().is_last()) {
    sampler_->sample(parameters().head(), x, nullptr, live, sampled());
  } else {
    advance_positions(live, gpu().stream());
  }
}

void DeviceGeneration::return_tokens(const WaveInFlight& wave, int next_step) {
  if (!shape().is_last() || shape().is_first() || longest_response(wave.sequences) <= next_step) return;
  link().send_tokens(latest_.data() + wave.first_slot, wave.sequences.size());
}

void DeviceGeneration::collect(const WaveInFlight& wave, Rollout& rollout) {
  const std::size_t first = at(wave.first_slot) * at(longest_response_);
  std::vector<int> history(at(wave.sequences.size()) * at(longest_response_));
  check_cuda(cudaMemcpyAsync(history.data(), history_.data() + first, history.size() * sizeof(int),
                             cudaMemcpyDeviceToHost, gpu().stream()),
             "reading generated tokens");
  gpu().wait("generating");
  for (int i = wave.sequences.begin; i < wave.sequences.end; ++i) {
    const int* of_sequence = history.data() + at(i - wave.sequences.begin) * at(longest_response_);
    float* to = rollout.sampled.data() + workload_->offset(i) + workload_->prompt(i);
    for (int token = 0; token < workload_->response(i); ++token)
      to[token] = static_cast<float>(of_sequence[token]);
  }
}

}  // namespace sextant::gpu
