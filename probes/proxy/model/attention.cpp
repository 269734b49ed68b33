#include "probes/proxy/model/attention.h"

#include <cmath>

#include "probes/proxy/model/blas.h"
#include "probes/proxy/model/kernels.h"

namespace sextant::proxy {
namespace {

float score_scale(const LayerShape& shape) { return 1.0F / std::sqrt(static_cast<float>(shape.head_dim)); }

// The rows and columns of one head of one sequence in a packed [tokens, qkv_width] matrix.
template <typename T>
struct HeadViews {
  BasicMatrix<T> query;
  BasicMatrix<T> key;
  BasicMatrix<T> value;
};

template <typename T>
HeadViews<T> head_views(const LayerShape& shape, BasicMatrix<T> qkv, const PackedBatch& batch, int sequence,
                        int head) {
  const BasicMatrix<T> rows = qkv.rows_from(batch.offset(sequence), batch.length(sequence));
  const int dim = shape.head_dim;
  const int key = shape.attention_width() + head / shape.heads_per_kv_head() * dim;
  return {rows.columns_from(head * dim, dim), rows.columns_from(key, dim),
          rows.columns_from(key + shape.kv_width(), dim)};
}

template <typename T>
BasicMatrix<T> head_output(const LayerShape& shape, BasicMatrix<T> out, const PackedBatch& batch, int sequence,
                           int head) {
  return out.rows_from(batch.offset(sequence), batch.length(sequence))
      .columns_from(head * shape.head_dim, shape.head_dim);
}

}  // namespace

std::size_t probability_floats(const LayerShape& shape, const BatchLimits& limits, bool kept) {
  const auto longest = static_cast<std::size_t>(limits.longest);
  return kept ? limits.squared_lengths * static_cast<std::size_t>(shape.heads) : longest * longest;
}

void attend(const LayerShape& shape, const PackedBatch& batch, ConstMatrix qkv, Probabilities probabilities,
            Matrix out) {
  const Scale scaled{score_scale(shape), 0};
  std::span<float> free = probabilities.storage;
  for (int s = 0; s < batch.sequences(); ++s) {
    const int length = batch.length(s);
    for (int head = 0; head < shape.heads; ++head) {
      const auto views = head_views(shape, qkv, batch, s, head);
      const Matrix square = as_matrix(free, length, length);
      multiply(views.query, Op::plain, views.key, Op::transposed, square, scaled);
      causal_softmax(square);
      multiply(square, Op::plain, views.value, Op::plain, head_output(shape, out, batch, s, head));
      if (probabilities.kept) free = free.subspan(square.size());
    }
  }
}

void attend_backward(const LayerShape& shape, const PackedBatch& batch, ConstMatrix qkv,
                     std::span<const float> probabilities, ConstMatrix d_out, std::span<float> square,
                     Matrix d_qkv) {
  const float scale = score_scale(shape);
  for (int s = 0; s < batch.sequences(); ++s) {
    const int length = batch.length(s);
    for (int head = 0; head < shape.heads; ++head) {
      const auto views = head_views(shape, qkv, batch, s, head);
      const auto gradients = head_views(shape, d_qkv, batch, s, head);
      const ConstMatrix d_head = head_output(shape, d_out, batch, s, head);
      const ConstMatrix p = as_matrix(probabilities, length, length);
      const Matrix d_scores = as_matrix(square, length, length);
      // The query heads of a group add up in their common key and value.
      const float old = head % shape.heads_per_kv_head() == 0 ? 0.0F : 1.0F;
      multiply(d_head, Op::plain, views.value, Op::transposed, d_scores);
      multiply(p, Op::transposed, d_head, Op::plain, gradients.value, {1, old});
      softmax_backward(p, d_scores);
      multiply(d_scores, Op::plain, views.key, Op::plain, gradients.query, {scale, 0});
      multiply(d_scores, Op::transposed, views.query, Op::plain, gradients.key, {scale, old});
      probabilities = probabilities.subspan(p.size());
    }
  }
}

void attend_cached(const LayerShape& shape, const KvCache& cache, int layer, int slot, int context,
                   const float* query, std::span<float> scores, float* out) {
  const int group = shape.heads_per_kv_head();
  const int dim = shape.head_dim;
  const Scale scaled{score_scale(shape), 0};
  for (int kv_head = 0; kv_head < shape.kv_heads; ++kv_head) {
    const std::size_t first = static_cast<std::size_t>(kv_head) * group * dim;
    const ConstMatrix queries{query + first, group, dim, dim};
    const Matrix weights = as_matrix(scores, group, context);
    multiply(queries, Op::plain, cache.keys(layer, slot, kv_head, context), Op::transposed, weights, scaled);
    for (int i = 0; i < group; ++i) softmax(weights.row(i), context);
    multiply(weights, Op::plain, cache.values(layer, slot, kv_head, context), Op::plain,
             {out + first, group, dim, dim});
  }
}

}  // namespace sextant::proxy
