// Element-wise operations between the matrix products, written so that the compiler vectorises them.
//
// Matrices hold one token per row. Sizes are in elements.
#pragma once

#include <cstddef>
#include <span>

#include "probes/proxy/model/buffer.h"

namespace sextant::proxy {

inline constexpr float kNormEpsilon = 1e-6F;

// out = x / sqrt(mean(x^2) + epsilon) row by row; reciprocal[i] is the factor of row i. x may equal out.
void rms_norm(ConstMatrix x, Matrix out, float* reciprocal);
// dx += gradient of the norm's input, given that of its output.
void rms_norm_backward(ConstMatrix d_out, ConstMatrix normed, const float* reciprocal, Matrix dx);

// Turns scores [tokens, tokens] into probabilities over columns 0 .. row, zero to the right of it.
void causal_softmax(Matrix scores);
// Turns one row of scores into probabilities.
void softmax(float* row, int count);
// d_probabilities becomes the gradient of the scores.
void softmax_backward(ConstMatrix probabilities, Matrix d_probabilities);

// gate_up holds gate | up, each as wide as `out`: out = silu(gate) * up.
void silu_multiply(ConstMatrix gate_up, Matrix out);
// d_gate_up from gate_up and d_out.
void silu_multiply_backward(ConstMatrix gate_up, ConstMatrix d_out, Matrix d_gate_up);

// Rotates the pairs (i, i + width / 2) of one head by the angles in cosine, sine [width / 2];
// `direction` -1 rotates back.
void rotate(float* head, int width, const float* cosine, const float* sine, float direction);

void add_to(std::span<float> sum, std::span<const float> values);

[[nodiscard]] float row_max(const float* row, int count);
// row = exp(row - shift); returns the sum.
float exponentiate(float* row, int count, float shift);
// Returns only the sum, leaving the row unchanged.
[[nodiscard]] float sum_of_exponentials(const float* row, int count, float shift);
void scale_row(float* row, int count, float factor);
// Returns the position of the largest element, the first one of ties.
[[nodiscard]] int position_of_max(const float* row, int count);

struct AdamStep {
  float learning_rate = 1e-4F;
  float first_decay = 0.9F;
  float second_decay = 0.95F;
  float epsilon = 1e-8F;
  float first_correction = 1;   // 1 - first_decay^step
  float second_correction = 1;  // 1 - second_decay^step
};
// One step for all parameters; the spans have equal lengths.
void adam_update(const AdamStep& step, std::span<const float> gradients, std::span<float> first_moments,
                 std::span<float> second_moments, std::span<float> parameters);

}  // namespace sextant::proxy
