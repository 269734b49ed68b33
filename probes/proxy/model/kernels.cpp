#include "probes/proxy/model/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

// The build defines SEXTANT_VECTOR_CLONES where functions can be compiled for several instruction sets and
// chosen when the program starts (x86-64 with GCC, no sanitizer).
#ifdef SEXTANT_VECTOR_CLONES
#define SEXTANT_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SEXTANT_VECTORISED
#endif

namespace sextant::proxy {
namespace {

// e^x for x <= ~88, relative error below 3e-7 (Cephes expf: reduction by powers of two, polynomial of
// degree 5 on [-ln2 / 2, ln2 / 2]); about 1e-38 below -87. Branch-free, so that loops around it vectorise.
[[gnu::always_inline]] inline float fast_exp(float x) {
  const float above = x > -87.0F ? x : -87.0F;
  const float bounded = above < 88.0F ? above : 88.0F;
  const float scaled = bounded * 1.44269504F;
  const auto power = static_cast<std::int32_t>(scaled + (scaled < 0 ? -0.5F : 0.5F));
  const auto whole = static_cast<float>(power);
  const float rest = (bounded - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float series = 1.9875691500e-4F;
  series = series * rest + 1.3981999507e-3F;
  series = series * rest + 8.3334519073e-3F;
  series = series * rest + 4.1665795894e-2F;
  series = series * rest + 1.6666665459e-1F;
  series = series * rest + 5.0000001201e-1F;
  const float mantissa = series * rest * rest + rest + 1.0F;
  const std::int32_t bits = (power + 127) << 23;
  float power_of_two = 0;
  std::memcpy(&power_of_two, &bits, sizeof bits);
  return mantissa * power_of_two;
}

[[gnu::always_inline]] inline float sigmoid(float x) { return 1.0F / (1.0F + fast_exp(-x)); }

[[gnu::always_inline]] inline float max_of(const float* row, int count) {
  float largest = row[0];
#pragma omp simd reduction(max : largest)
  for (int j = 0; j < count; ++j) largest = row[j] > largest ? row[j] : largest;
  return largest;
}

[[gnu::always_inline]] inline float exp_in_place(float* row, int count, float shift) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < count; ++j) {
    row[j] = fast_exp(row[j] - shift);
    sum += row[j];
  }
  return sum;
}

[[gnu::always_inline]] inline float dot(const float* a, const float* b, int count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < count; ++j) sum += a[j] * b[j];
  return sum;
}

[[gnu::always_inline]] inline void scale_in_place(float* row, int count, float factor) {
  for (int j = 0; j < count; ++j) row[j] *= factor;
}

[[gnu::always_inline]] inline void softmax_in_place(float* row, int count) {
  const float sum = exp_in_place(row, count, max_of(row, count));
  scale_in_place(row, count, 1.0F / sum);
}

}  // namespace

SEXTANT_VECTORISED void rms_norm(ConstMatrix x, Matrix out, float* reciprocal) {
  for (int i = 0; i < x.rows; ++i) {
    const float* in = x.row(i);
    float* result = out.row(i);
    const float mean_square = dot(in, in, x.columns) / static_cast<float>(x.columns);
    const float factor = 1.0F / std::sqrt(mean_square + kNormEpsilon);
    reciprocal[i] = factor;
    for (int j = 0; j < x.columns; ++j) result[j] = in[j] * factor;
  }
}

SEXTANT_VECTORISED void rms_norm_backward(ConstMatrix d_out, ConstMatrix normed, const float* reciprocal,
                                          Matrix dx) {
  for (int i = 0; i < d_out.rows; ++i) {
    const float* gradient = d_out.row(i);
    const float* unit = normed.row(i);
    float* sum = dx.row(i);
    const float along = dot(gradient, unit, d_out.columns) / static_cast<float>(d_out.columns);
    const float factor = reciprocal[i];
    for (int j = 0; j < d_out.columns; ++j) sum[j] += factor * (gradient[j] - unit[j] * along);
  }
}

SEXTANT_VECTORISED void causal_softmax(Matrix scores) {
  for (int i = 0; i < scores.rows; ++i) {
    float* row = scores.row(i);
    softmax_in_place(row, i + 1);
    std::fill(row + i + 1, row + scores.columns, 0.0F);
  }
}

SEXTANT_VECTORISED void softmax(float* row, int count) { softmax_in_place(row, count); }

SEXTANT_VECTORISED void softmax_backward(ConstMatrix probabilities, Matrix d_probabilities) {
  for (int i = 0; i < probabilities.rows; ++i) {
    const float* p = probabilities.row(i);
    float* d = d_probabilities.row(i);
    const float along = dot(p, d, probabilities.columns);
    for (int j = 0; j < probabilities.columns; ++j) d[j] = p[j] * (d[j] - along);
  }
}

SEXTANT_VECTORISED void silu_multiply(ConstMatrix gate_up, Matrix out) {
  for (int i = 0; i < out.rows; ++i) {
    const float* gate = gate_up.row(i);
    const float* up = gate + out.columns;
    float* result = out.row(i);
    for (int j = 0; j < out.columns; ++j) result[j] = gate[j] * sigmoid(gate[j]) * up[j];
  }
}

SEXTANT_VECTORISED void silu_multiply_backward(ConstMatrix gate_up, ConstMatrix d_out, Matrix d_gate_up) {
  for (int i = 0; i < d_out.rows; ++i) {
    const float* gate = gate_up.row(i);
    const float* up = gate + d_out.columns;
    const float* gradient = d_out.row(i);
    float* d_gate = d_gate_up.row(i);
    float* d_up = d_gate + d_out.columns;
    for (int j = 0; j < d_out.columns; ++j) {
      const float s = sigmoid(gate[j]);
      const float silu = gate[j] * s;
      d_up[j] = gradient[j] * silu;
      d_gate[j] = gradient[j] * up[j] * (s + silu * (1.0F - s));
    }
  }
}

SEXTANT_VECTORISED void rotate(float* head, int width, const float* cosine, const float* sine,
                               float direction) {
  const int half = width / 2;
  for (int i = 0; i < half; ++i) {
    const float a = head[i];
    const float b = head[i + half];
    const float s = direction * sine[i];
    head[i] = a * cosine[i] - b * s;
    head[i + half] = a * s + b * cosine[i];
  }
}

SEXTANT_VECTORISED void add_to(std::span<float> sum, std::span<const float> values) {
  float* to = sum.data();
  const float* from = values.data();
  const std::size_t count = sum.size();
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

SEXTANT_VECTORISED float row_max(const float* row, int count) { return max_of(row, count); }

SEXTANT_VECTORISED float exponentiate(float* row, int count, float shift) {
  return exp_in_place(row, count, shift);
}

SEXTANT_VECTORISED float sum_of_exponentials(const float* row, int count, float shift) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int j = 0; j < count; ++j) sum += fast_exp(row[j] - shift);
  return sum;
}

SEXTANT_VECTORISED void scale_row(float* row, int count, float factor) { scale_in_place(row, count, factor); }

SEXTANT_VECTORISED int position_of_max(const float* row, int count) {
  const float largest = max_of(row, count);
  return static_cast<int>(std::find(row, row + count, largest) - row);
}

SEXTANT_VECTORISED void adam_update(const AdamStep& step, std::span<const float> gradients,
                                    std::span<float> first_moments, std::span<float> second_moments,
                                    std::span<float> parameters) {
  const float* g = gradients.data();
  float* m = first_moments.data();
  float* v = second_moments.data();
  float* w = parameters.data();
  const AdamStep s = step;
  const float rate = s.learning_rate / s.first_correction;
  const float second_scale = 1.0F / s.second_correction;
  const std::size_t count = parameters.size();
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    m[i] = s.first_decay * m[i] + (1.0F - s.first_decay) * g[i];
    v[i] = s.second_decay * v[i] + (1.0F - s.second_decay) * g[i] * g[i];
    w[i] -= rate * m[i] / (std::sqrt(v[i] * second_scale) + s.epsilon);
  }
}

}  // namespace sextant::proxy
