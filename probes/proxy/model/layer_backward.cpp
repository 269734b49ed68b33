#include "probes/proxy/model/blas.h"
#include "probes/proxy/model/kernels.h"
#include "probes/proxy/model/layer.h"

namespace sextant::proxy {
namespace {

struct Projection {
  ConstMatrix weights;  // [outputs, hidden]
  Matrix gradients;
  ConstMatrix normed;  // its input, the output of a norm
  const float* reciprocal;
};

// Through a projection and the norm before it: adds to the weights' gradients and to dx.
void backward_into_norm(const LayerContext& context, const Projection& projection, ConstMatrix d_projected,
                        Buffer& storage, Matrix dx) {
  const Matrix d_normed = as_matrix(storage, dx.rows, dx.columns);
  multiply(d_projected, Op::transposed, projection.normed, Op::plain, projection.gradients, kAccumulate);
  multiply(d_projected, Op::plain, projection.weights, Op::plain, d_normed);
  if (context.tensor->size() > 1) context.tensor->all_reduce_sum(d_normed.flat());
  rms_norm_backward(d_normed, projection.normed, projection.reciprocal, dx);
}

// Through the projection that ends a branch: d_inner from dx.
void backward_out_of_branch(ConstMatrix weights, Matrix gradients, ConstMatrix inner, ConstMatrix dx,
                            Matrix d_inner) {
  multiply(dx, Op::plain, weights, Op::transposed, d_inner);
  multiply(inner, Op::transposed, dx, Op::plain, gradients, kAccumulate);
}

}  // namespace

void backward_layer(const LayerContext& context, const LayerWeights& weights, const LayerWeights& gradients,
                    const PackedBatch& batch, LayerStash& stash, BackwardScratch& scratch, Matrix dx) {
  const LayerShape& shape = context.shape;
  const int tokens = dx.rows;

  const Matrix d_activated = as_matrix(scratch.d_inner, tokens, shape.intermediate);
  const Matrix d_gate_up = as_matrix(scratch.d_projected, tokens, 2 * shape.intermediate);
  backward_out_of_branch(weights.down, gradients.down, as_matrix(stash.activated, tokens, shape.intermediate),
                         dx, d_activated);
  silu_multiply_backward(as_matrix(stash.gate_up, tokens, 2 * shape.intermediate), d_activated, d_gate_up);
  backward_into_norm(context,
                     {weights.gate_up, gradients.gate_up, as_matrix(stash.normed_middle, tokens, shape.hidden),
                      stash.reciprocal_middle.data()},
                     d_gate_up, scratch.d_normed, dx);

  const Matrix d_attended = as_matrix(scratch.d_inner, tokens, shape.attention_width());
  const Matrix d_qkv = as_matrix(scratch.d_projected, tokens, shape.qkv_width());
  backward_out_of_branch(weights.output, gradients.output,
                         as_matrix(stash.attended, tokens, shape.attention_width()), dx, d_attended);
  attend_backward(shape, batch, as_matrix(stash.qkv, tokens, shape.qkv_width()), stash.probabilities,
                  d_attended, scratch.square, d_qkv);
  context.rotary->apply(d_qkv, shape, batch, -1);
  backward_into_norm(context,
                     {weights.qkv, gradients.qkv, as_matrix(stash.normed_in, tokens, shape.hidden),
                      stash.reciprocal_in.data()},
                     d_qkv, scratch.d_normed, dx);
}

}  // namespace sextant::proxy
