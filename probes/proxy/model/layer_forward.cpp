#include "probes/proxy/model/blas.h"
#include "probes/proxy/model/kernels.h"
#include "probes/proxy/model/layer.h"

namespace sextant::proxy {
namespace {

// x += input * weights, summed over the group.
void project_and_add(const LayerContext& context, ConstMatrix input, ConstMatrix weights, Buffer& partial,
                     Matrix x) {
  if (context.tensor->size() == 1) {
    multiply(input, Op::plain, weights, Op::plain, x, kAccumulate);
    return;
  }
  const Matrix sum = as_matrix(partial, x.rows, x.columns);
  multiply(input, Op::plain, weights, Op::plain, sum);
  context.tensor->all_reduce_sum(sum.flat());
  add_to(x.flat(), sum.flat());
}

Matrix project_qkv(const LayerContext& context, const LayerWeights& weights, LayerStash& stash, ConstMatrix x) {
  const Matrix normed = as_matrix(stash.normed_in, x.rows, x.columns);
  const Matrix qkv = as_matrix(stash.qkv, x.rows, context.shape.qkv_width());
  rms_norm(x, normed, stash.reciprocal_in.data());
  multiply(normed, Op::plain, weights.qkv, Op::transposed, qkv);
  return qkv;
}

void finish_layer(const LayerContext& context, const LayerWeights& weights, LayerStash& stash, Matrix x) {
  const LayerShape& shape = context.shape;
  const Matrix attended = as_matrix(stash.attended, x.rows, shape.attention_width());
  project_and_add(context, attended, weights.output, stash.partial, x);

  const Matrix normed = as_matrix(stash.normed_middle, x.rows, x.columns);
  const Matrix gate_up = as_matrix(stash.gate_up, x.rows, 2 * shape.intermediate);
  const Matrix activated = as_matrix(stash.activated, x.rows, shape.intermediate);
  rms_norm(x, normed, stash.reciprocal_middle.data());
  multiply(normed, Op::plain, weights.gate_up, Op::transposed, gate_up);
  silu_multiply(gate_up, activated);
  project_and_add(context, activated, weights.down, stash.partial, x);
}

}  // namespace

void forward_layer(const LayerContext& context, const LayerWeights& weights, const PackedBatch& batch,
                   LayerStash& stash, Matrix x) {
  const Matrix qkv = project_qkv(context, weights, stash, x);
  context.rotary->apply(qkv, context.shape, batch);
  attend(context.shape, batch, qkv, {stash.probabilities, stash.keeps_probabilities},
         as_matrix(stash.attended, x.rows, context.shape.attention_width()));
  finish_layer(context, weights, stash, x);
}

void decode_layer(const LayerContext& context, const LayerWeights& weights, const DecodeBatch& batch,
                  KvCache& cache, int layer, LayerStash& stash, std::span<float> scores, Matrix x) {
  const Matrix qkv = project_qkv(context, weights, stash, x);
  const Matrix attended = as_matrix(stash.attended, x.rows, context.shape.attention_width());
  for (int i = 0; i < batch.size(); ++i) {
    const auto sequence = static_cast<std::size_t>(i);
    const int slot = batch.slots[sequence];
    const int position = batch.positions[sequence];
    context.rotary->apply(qkv.row(i), context.shape, position);
    cache.store(layer, slot, position, qkv.row(i));
    attend_cached(context.shape, cache, layer, slot, position + 1, qkv.row(i), scores, attended.row(i));
  }
  finish_layer(context, weights, stash, x);
}

}  // namespace sextant::proxy
