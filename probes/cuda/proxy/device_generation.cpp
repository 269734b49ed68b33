#include "probes/cuda/proxy/device_generation.h"

#include <algorithm>

#include "probes/proxy/generation.h"
#include "probes/proxy/random.h"

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
      waves_(plan_waves(setup)),
      stash_(layer_shape(), limits_, false),
      scratch_(layer_shape(), limits_, Purpose::forward_only),
      decode_scratch_(layer_shape(), largest_wave_, setup.workload.longest(), gpu.multiprocessors()),
      sampler_(gpu, model(), std::max(1, largest_wave_)),
      batch_(limits_),
      capacity_(setup.workload.longest()),
      layer_elements_(at(largest_wave_ + 1) * at(layer_shape().kv_width()) * at(capacity_)),
      keys_(layer_elements_ * at(model().layers)),
      values_(keys_.size()),
      x_(at(std::max(limits_.tokens, largest_wave_)) * at(model().hidden)),
      last_(at(largest_wave_) * at(model().hidden)),
      last_rows_(at(largest_wave_)),
      noise_keys_(at(largest_wave_)),
      slots_(at(largest_wave_)),
      positions_(at(largest_wave_)),
      chunk_slots_(at(largest_wave_)),
      chunk_positions_(at(largest_wave_)),
      latest_(at(largest_wave_ + 1)),
      prompt_tokens_(latest_.size()),
      history_(latest_.size() * at(longest_response_)) {}

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

void DeviceGeneration::run(Rollout& rollout) {
  for (const Range& wave : waves_) {
    prefill(rollout, wave);
    decode(wave);
    collect(wave, rollout);
  }
}

void DeviceGeneration::prefill(const Rollout& rollout, Range wave) {
  const std::vector<int> prompts = workload_->prompts(wave);
  gpu().uploads().copy(std::span<const int>(prompts), prompt_tokens_.data());
  for (const Range& chunk : cut_by_size(wave, chunk_sequences_)) {
    prefill_chunk(rollout, chunk, chunk.begin - wave.begin);
  }
}

void DeviceGeneration::prefill_chunk(const Rollout& rollout, Range chunk, int first_slot) {
  pack_prompts(*workload_, rollout, chunk, packed_);
  batch_.upload(gpu(), packed_);
  const HeadShape heads = head_shape(layer_shape());
  const DeviceMatrix x = as_matrix(x_, packed_.token_count(), model().hidden);
  embed(parameters().embedding().data, batch_.tokens(), nullptr, x.rows, x.columns, x.data, gpu().stream());
  for (int layer = 0; layer < model().layers; ++layer) {
    forward_layer(context(), parameters().layer(layer), batch_, stash_, scratch_, x);
    store_in_cache(heads, batch_.places(), stash_.key.data(), stash_.value.data(), first_slot,
                   cache_layer(layer), gpu().stream());
  }
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
  const DeviceMatrix rows = as_matrix(last_, chunk.size(), model().hidden);
  pick_rows(x.data, last_rows_.data(), rows.rows, rows.columns, rows.data, gpu().stream());
  sampler_.sample(parameters().head(), rows, noise_keys_.data(),
                  {chunk_slots_.data(), chunk_positions_.data(), rows.rows},
                  {latest_.data(), history_.data(), prompt_tokens_.data(), longest_response_});
}

void DeviceGeneration::decode(Range wave) {
  const int steps = longest_response(wave);
  int live_before = -1;
  for (int number = 1; number < steps; ++number) {
    LiveRows live = live_rows(*workload_, wave, number);
    const int rows = graphs_ ? graph_rows(live.count(), largest_wave_) : live.count();
    // Positions advance on the device, so they are sent only when the rows change.
    if (live.count() != live_before) {
      live_before = live.count();
      pad_rows(live, rows, largest_wave_);
      gpu().uploads().copy(std::span<const int>(live.slots), slots_.data());
      gpu().uploads().copy(std::span<const int>(live.positions), positions_.data());
    }
    step(rows);
  }
}

void DeviceGeneration::step(int rows) {
  if (!graphs_) return queue_step(rows);
  std::unique_ptr<DecodeGraph>& graph = recorded_[rows];
  if (graph != nullptr) return graph->launch(gpu().stream());
  // Launched first: what a library loads or plans at a first call cannot be recorded.
  queue_step(rows);
  gpu().wait("decoding");
  graph = std::make_unique<DecodeGraph>(gpu().stream(), [&] { queue_step(rows); });
}

void DeviceGeneration::queue_step(int rows) {
  const DeviceMatrix x = as_matrix(x_, rows, model().hidden);
  const DecodeRows live = decode_rows(rows);
  embed(parameters().embedding().data, latest_.data(), slots_.data(), x.rows, x.columns, x.data,
        gpu().stream());
  for (int layer = 0; layer < model().layers; ++layer) {
    decode_layer(context(), parameters().layer(layer), live, cache_layer(layer), decode_scratch_, x);
  }
  sampler_.sample(parameters().head(), x, nullptr, live,
                  {latest_.data(), history_.data(), prompt_tokens_.data(), longest_response_});
}

void DeviceGeneration::collect(Range wave, Rollout& rollout) {
  std::vector<int> history(at(wave.size()) * at(longest_response_));
  check_cuda(cudaMemcpyAsync(history.data(), history_.data(), history.size() * sizeof(int),
                             cudaMemcpyDeviceToHost, gpu().stream()),
             "reading generated tokens");
  gpu().wait("generating");
  for (int i = wave.begin; i < wave.end; ++i) {
    const int* of_sequence = history.data() + at(i - wave.begin) * at(longest_response_);
    float* to = rollout.sampled.data() + workload_->offset(i) + workload_->prompt(i);
    for (int token = 0; token < workload_->response(i); ++token)
      to[token] = static_cast<float>(of_sequence[token]);
  }
}

}  // namespace sextant::gpu
