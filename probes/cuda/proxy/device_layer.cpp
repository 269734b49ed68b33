#include "probes/cuda/proxy/device_layer.h"

#include <algorithm>
#include <cmath>

namespace sextant::gpu {

using namespace proxy;

namespace {

std::size_t times(std::size_t rows, int width) { return rows * static_cast<std::size_t>(width); }

std::size_t tokens_times(const AttentionLimits& limits, int width) {
  return times(static_cast<std::size_t>(limits.tokens), width);
}

}  // namespace

HeadShape head_shape(const LayerShape& shape) { return {shape.heads, shape.kv_heads, shape.head_dim}; }

DeviceRotary::DeviceRotary(ProxyGpu& gpu, int dim, int positions)
    : cosine_(times(static_cast<std::size_t>(positions), dim / 2)), sine_(cosine_.size()) {
  constexpr double kBase = 10000.0;  // as probes/proxy/model/rotary.cpp
  const int half = dim / 2;
  std::vector<double> frequencies;
  for (int i = 0; i < half; ++i) frequencies.push_back(std::pow(kBase, -static_cast<double>(i) / half));
  std::vector<float> cosine;
  std::vector<float> sine;
  cosine.reserve(cosine_.size());
  sine.reserve(sine_.size());
  for (int position = 0; position < positions; ++position) {
    for (const double frequency : frequencies) {
      cosine.push_back(static_cast<float>(std::cos(position * frequency)));
      sine.push_back(static_cast<float>(std::sin(position * frequency)));
    }
  }
  gpu.uploads().copy(std::span<const float>(cosine), cosine_.data());
  gpu.uploads().copy(std::span<const float>(sine), sine_.data());
}

void DeviceBatch::upload(ProxyGpu& gpu, const PackedBatch& batch) {
  layout_ = attention_layout(batch);
  token_count_ = batch.token_count();
  gpu.uploads().copy(std::span<const int>(batch.tokens), tokens_.data());
  gpu.uploads().copy(std::span<const TokenPlace>(layout_.places), places_.data());
}

DeviceStash::DeviceStash(const LayerShape& shape, const AttentionLimits& limits, bool keep_probabilities)
    : keeps_probabilities(keep_probabilities),
      normed_in(tokens_times(limits, shape.hidden)),
      reciprocal_in(tokens_times(limits, 1)),
      query(times(limits.rows, shape.attention_width())),
      key(times(limits.rows, shape.kv_width())),
      value(times(limits.rows, shape.kv_width())),
      probabilities(keep_probabilities ? times(limits.squares, shape.heads) : 0),
      attended(tokens_times(limits, shape.attention_width())),
      normed_middle(tokens_times(limits, shape.hidden)),
      reciprocal_middle(tokens_times(limits, 1)),
      gate_up(tokens_times(limits, 2 * shape.intermediate)),
      activated(tokens_times(limits, shape.intermediate)) {}

DeviceScratch::DeviceScratch(const LayerShape& shape, const AttentionLimits& limits, Purpose purpose)
    : qkv(tokens_times(limits, purpose == Purpose::training
                                   ? std::max(shape.qkv_width(), 2 * shape.intermediate)
                                   : shape.qkv_width())),
      by_head(times(limits.rows, shape.attention_width())),
      scores(score_elements(shape, limits)) {
  if (purpose != Purpose::training) return;
  d_query = DeviceArray<Bf16>(times(limits.rows, shape.attention_width()));
  d_key = DeviceArray<Bf16>(times(limits.rows, shape.kv_width()));
  d_value = DeviceArray<Bf16>(times(limits.rows, shape.kv_width()));
  d_inner = DeviceArray<Bf16>(tokens_times(limits, std::max(shape.attention_width(), shape.intermediate)));
  d_normed = DeviceArray<Bf16>(tokens_times(limits, shape.hidden));
}

namespace {

// Key heads of some sequences of a run, with the query heads that share each: one batched product.
struct Groups {
  int count = 0;   // sequences x KV heads
  int length = 0;  // padded
  int heads = 0;   // query heads of each
  int dim = 0;
  std::size_t query = 0;  // elements before, of [heads, L, dim]
  std::size_t key = 0;    // of [kv_heads, L, dim]
  std::size_t score = 0;  // of [heads, L, L]

  [[nodiscard]] int query_rows() const { return heads * length; }
  [[nodiscard]] std::int64_t query_stride() const { return static_cast<std::int64_t>(query_rows()) * dim; }
  [[nodiscard]] std::int64_t key_stride() const { return static_cast<std::int64_t>(length) * dim; }
  [[nodiscard]] std::int64_t score_stride() const { return static_cast<std::int64_t>(query_rows()) * length; }
  [[nodiscard]] std::size_t score_rows() const {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(query_rows());
  }
  [[nodiscard]] DeviceMatrix queries(Bf16* data) const { return {data + query, query_rows(), dim, dim}; }
  [[nodiscard]] DeviceMatrix keys(Bf16* data) const { return {data + key, length, dim, dim}; }
  [[nodiscard]] DeviceMatrix scores(Bf16* data) const { return {data, query_rows(), length, length}; }
};

// Cut so that the scores of each part fit into `max_elements`.
template <typename Action>
void for_groups(const LayerShape& shape, const AttentionLayout& layout, std::size_t max_elements,
                Action action) {
  for (const LengthRun& run : layout.runs) {
    Groups groups;
    groups.length = run.length;
    groups.heads = shape.heads_per_kv_head();
    groups.dim = shape.head_dim;
    const auto stride = static_cast<std::size_t>(groups.score_stride());
    const int all = run.sequences * shape.kv_heads;
    const int at_once = static_cast<int>(std::clamp<std::size_t>(max_elements / stride, 1, 1U << 16));
    for (int first = 0; first < all; first += at_once) {
      const auto before = static_cast<std::size_t>(first);
      groups.count = std::min(at_once, all - first);
      groups.query =
          times(run.base, shape.attention_width()) + before * static_cast<std::size_t>(groups.query_stride());
      groups.key = times(run.base, shape.kv_width()) + before * static_cast<std::size_t>(groups.key_stride());
      groups.score = times(run.squares_before, shape.heads) + before * stride;
      action(groups);
    }
  }
}

float score_scale(const LayerShape& shape) { return 1.0F / std::sqrt(static_cast<float>(shape.head_dim)); }

void attend(const DeviceLayerContext& context, const DeviceBatch& batch, DeviceStash& stash,
            DeviceScratch& scratch) {
  const LayerShape& shape = context.shape;
  Products& products = context.gpu.products();
  const bool kept = stash.keeps_probabilities;
  const std::size_t room = kept ? stash.probabilities.size() : scratch.scores.size();
  for_groups(shape, batch.layout(), room, [&](const Groups& groups) {
    Bf16* storage = kept ? stash.probabilities.data() + groups.score : scratch.scores.data();
    const DeviceMatrix scores = groups.scores(storage);
    products.multiply(groups.queries(stash.query.data()), Op::plain, groups.keys(stash.key.data()),
                      Op::transposed, scores, {score_scale(shape), 0},
                      {groups.count, groups.query_stride(), groups.key_stride(), groups.score_stride()});
    causal_softmax(storage, groups.score_rows(), groups.length, context.gpu.stream());
    products.multiply(scores, Op::plain, groups.keys(stash.value.data()), Op::plain,
                      groups.queries(scratch.by_head.data()), kOverwrite,
                      {groups.count, groups.score_stride(), groups.key_stride(), groups.query_stride()});
  });
  join_heads(head_shape(shape), batch.places(), scratch.by_head.data(), stash.attended.data(),
             context.gpu.stream());
}

// d_qkv in scratch.qkv from d_attended in scratch.d_inner.
void attend_backward(const DeviceLayerContext& context, const DeviceBatch& batch, const DeviceStash& stash,
                     DeviceScratch& scratch) {
  const LayerShape& shape = context.shape;
  const HeadShape heads = head_shape(shape);
  Products& products = context.gpu.products();
  cudaStream_t stream = context.gpu.stream();
  split_rows(heads, batch.places(), scratch.d_inner.data(), scratch.by_head.data(), stream);
  for_groups(shape, batch.layout(), scratch.scores.size(), [&](const Groups& groups) {
    const float scale = score_scale(shape);
    Bf16* kept = stash.probabilities.data() + groups.score;
    const DeviceMatrix p = groups.scores(kept);
    const DeviceMatrix d_scores = groups.scores(scratch.scores.data());
    const DeviceMatrix d_out = groups.queries(scratch.by_head.data());
    const std::int64_t by_query = groups.query_stride();
    const std::int64_t by_key = groups.key_stride();
    const std::int64_t by_score = groups.score_stride();
    products.multiply(d_out, Op::plain, groups.keys(stash.value.data()), Op::transposed, d_scores, kOverwrite,
                      {groups.count, by_query, by_key, by_score});
    // The query heads of a group add up in their common key and value.
    products.multiply(p, Op::transposed, d_out, Op::plain, groups.keys(scratch.d_value.data()), kOverwrite,
                      {groups.count, by_score, by_query, by_key});
    softmax_backward(kept, scratch.scores.data(), groups.score_rows(), groups.length, stream);
    products.multiply(d_scores, Op::plain, groups.keys(stash.key.data()), Op::plain,
                      groups.queries(scratch.d_query.data()), {scale, 0},
                      {groups.count, by_score, by_key, by_query});
    products.multiply(d_scores, Op::transposed, groups.queries(stash.query.data()), Op::plain,
                      groups.keys(scratch.d_key.data()), {scale, 0},
                      {groups.count, by_score, by_query, by_key});
  });
  join_head_gradients(heads, batch.places(), context.rotary, scratch.d_query.data(), scratch.d_key.data(),
                      scratch.d_value.data(), scratch.qkv.data(), stream);
}

}  // namespace

namespace {

void sum_over_group(const DeviceLayerContext& context, DeviceMatrix values) {
  if (context.tensor != nullptr) {
    context.tensor->all_reduce_sum(values.data, values.size(), context.gpu.stream());
  }
}

// x += input * weights, summed over the group. x is the same on all ranks, so one of them adds it.
void project_and_add(const DeviceLayerContext& context, ConstDeviceMatrix input, ConstDeviceMatrix weights,
                     DeviceMatrix x) {
  const bool adds = context.tensor == nullptr || context.tensor->rank() == 0;
  context.gpu.products().multiply(input, Op::plain, weights, Op::plain, x, adds ? kAccumulate : kOverwrite);
  sum_over_group(context, x);
}

}  // namespace

void forward_layer(const DeviceLayerContext& context, const DeviceLayerWeights& weights,
                   const DeviceBatch& batch, DeviceStash& stash, DeviceScratch& scratch, DeviceMatrix x) {
  const LayerShape& shape = context.shape;
  Products& products = context.gpu.products();
  cudaStream_t stream = context.gpu.stream();
  const DeviceMatrix normed_in = as_matrix(stash.normed_in, x.rows, x.columns);
  const DeviceMatrix qkv = as_matrix(scratch.qkv, x.rows, shape.qkv_width());
  rms_norm(x.data, x.rows, x.columns, normed_in.data, stash.reciprocal_in.data(), stream);
  products.multiply(normed_in, Op::plain, weights.qkv, Op::transposed, qkv);
  split_heads(head_shape(shape), batch.places(), context.rotary, qkv.data, stash.query.data(), stash.key.data(),
              stash.value.data(), stream);
  attend(context, batch, stash, scratch);
  project_and_add(context, as_matrix(stash.attended, x.rows, shape.attention_width()), weights.output, x);

  const DeviceMatrix normed = as_matrix(stash.normed_middle, x.rows, x.columns);
  const DeviceMatrix gate_up = as_matrix(stash.gate_up, x.rows, 2 * shape.intermediate);
  const DeviceMatrix activated = as_matrix(stash.activated, x.rows, shape.intermediate);
  rms_norm(x.data, x.rows, x.columns, normed.data, stash.reciprocal_middle.data(), stream);
  products.multiply(normed, Op::plain, weights.gate_up, Op::transposed, gate_up);
  silu_multiply(gate_up.data, static_cast<std::size_t>(x.rows), shape.intermediate, activated.data, stream);
  project_and_add(context, activated, weights.down, x);
}

void backward_layer(const DeviceLayerContext& context, const DeviceLayerWeights& weights,
                    const DeviceLayerWeights& gradients, const DeviceBatch& batch, DeviceStash& stash,
                    DeviceScratch& scratch, DeviceMatrix dx) {
  const LayerShape& shape = context.shape;
  const int tokens = dx.rows;
  Products& products = context.gpu.products();
  cudaStream_t stream = context.gpu.stream();
  const DeviceMatrix d_normed = as_matrix(scratch.d_normed, tokens, shape.hidden);

  const DeviceMatrix activated = as_matrix(stash.activated, tokens, shape.intermediate);
  const DeviceMatrix d_activated = as_matrix(scratch.d_inner, tokens, shape.intermediate);
  const DeviceMatrix d_gate_up = as_matrix(scratch.qkv, tokens, 2 * shape.intermediate);
  const DeviceMatrix normed_middle = as_matrix(stash.normed_middle, tokens, shape.hidden);
  products.multiply(dx, Op::plain, weights.down, Op::transposed, d_activated);
  products.multiply(activated, Op::transposed, dx, Op::plain, gradients.down, kAccumulate);
  silu_multiply_backward(stash.gate_up.data(), d_activated.data, static_cast<std::size_t>(tokens),
                         shape.intermediate, d_gate_up.data, stream);
  products.multiply(d_gate_up, Op::transposed, normed_middle, Op::plain, gradients.gate_up, kAccumulate);
  products.multiply(d_gate_up, Op::plain, weights.gate_up, Op::plain, d_normed);
  sum_over_group(context, d_normed);
  rms_norm_backward(d_normed.data, normed_middle.data, stash.reciprocal_middle.data(), tokens, shape.hidden,
                    dx.data, stream);

  const DeviceMatrix attended = as_matrix(stash.attended, tokens, shape.attention_width());
  const DeviceMatrix d_attended = as_matrix(scratch.d_inner, tokens, shape.attention_width());
  const DeviceMatrix d_qkv = as_matrix(scratch.qkv, tokens, shape.qkv_width());
  const DeviceMatrix normed_in = as_matrix(stash.normed_in, tokens, shape.hidden);
  products.multiply(dx, Op::plain, weights.output, Op::transposed, d_attended);
  products.multiply(attended, Op::transposed, dx, Op::plain, gradients.output, kAccumulate);
  attend_backward(context, batch, stash, scratch);
  products.multiply(d_qkv, Op::transposed, normed_in, Op::plain, gradients.qkv, kAccumulate);
  products.multiply(d_qkv, Op::plain, weights.qkv, Op::plain, d_normed);
  sum_over_group(context, d_normed);
  rms_norm_backward(d_normed.data, normed_in.data, stash.reciprocal_in.data(), tokens, shape.hidden, dx.data,
                    stream);
}

DecodeScratch::DecodeScratch(const LayerShape& shape, int rows, int capacity, int multiprocessors)
    : normed(times(static_cast<std::size_t>(rows), shape.hidden)),
      qkv(times(static_cast<std::size_t>(rows), shape.qkv_width())),
      attended(times(static_cast<std::size_t>(rows), shape.attention_width())),
      gate_up(times(static_cast<std::size_t>(rows), 2 * shape.intermediate)),
      activated(times(static_cast<std::size_t>(rows), shape.intermediate)) {
  // Fewer rows have more splits: the most of any number.
  std::size_t maximum = 0;
  for (int count = 1; count <= rows; ++count) {
    const HeadShape heads = head_shape(shape);
    maximum = std::max(maximum,
                       decode_partials(heads, count, decode_splits(heads, count, capacity, multiprocessors)));
  }
  partials = DeviceArray<float>(maximum);
}

void decode_layer(const DeviceLayerContext& context, const DeviceLayerWeights& weights, DecodeRows rows,
                  CacheLayer cache, DecodeScratch& scratch, DeviceMatrix x) {
  const LayerShape& shape = context.shape;
  const HeadShape heads = head_shape(shape);
  Products& products = context.gpu.products();
  cudaStream_t stream = context.gpu.stream();
  const DeviceMatrix normed = as_matrix(scratch.normed, x.rows, x.columns);
  const DeviceMatrix qkv = as_matrix(scratch.qkv, x.rows, shape.qkv_width());
  const DeviceMatrix attended = as_matrix(scratch.attended, x.rows, shape.attention_width());
  rms_norm(x.data, x.rows, x.columns, normed.data, nullptr, stream);
  products.multiply(normed, Op::plain, weights.qkv, Op::transposed, qkv);
  rotate_and_store(heads, rows, context.rotary, qkv.data, cache, stream);
  const int splits = decode_splits(heads, rows.count, cache.capacity, context.gpu.multiprocessors());
  attend_cached(heads, rows, qkv.data, cache, splits, scratch.partials.data(), attended.data, stream);
  project_and_add(context, attended, weights.output, x);

  const DeviceMatrix gate_up = as_matrix(scratch.gate_up, x.rows, 2 * shape.intermediate);
  const DeviceMatrix activated = as_matrix(scratch.activated, x.rows, shape.intermediate);
  rms_norm(x.data, x.rows, x.columns, normed.data, nullptr, stream);
  products.multiply(normed, Op::plain, weights.gate_up, Op::transposed, gate_up);
  silu_multiply(gate_up.data, static_cast<std::size_t>(x.rows), shape.intermediate, activated.data, stream);
  project_and_add(context, activated, weights.down, x);
}

}  // namespace sextant::gpu
