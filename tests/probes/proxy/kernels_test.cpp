#include "probes/proxy/model/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::proxy {
namespace {

// Single precision carries 24 bits; the polynomial is good to a few units in the last place.
constexpr double kExpTolerance = 1e-6;

TEST(Kernels, ExponentialIsAccurateOverItsRange) {
  for (float x = -80; x < 80; x += 0.37F) {
    float value = x;
    exponentiate(&value, 1, 0);
    EXPECT_NEAR(value / std::exp(static_cast<double>(x)), 1, kExpTolerance) << x;
  }
}

TEST(Kernels, ExponentialOfVeryNegativeNumbersVanishes) {
  float value = -1e30F;
  exponentiate(&value, 1, 0);
  EXPECT_LT(value, 1e-37F);
}

TEST(Kernels, SumOfExponentialsAgreesWithExponentiate) {
  std::vector<float> row(103);
  std::iota(row.begin(), row.end(), -60.0F);
  const float sum = sum_of_exponentials(row.data(), 103, 42);
  EXPECT_NEAR(exponentiate(row.data(), 103, 42) / sum, 1, kExpTolerance);
}

TEST(Kernels, CausalSoftmaxLooksBackOnly) {
  Buffer scores(9, 5.0F);
  causal_softmax(as_matrix(scores, 3, 3));
  const std::vector<float> expected{1, 0, 0, 0.5F, 0.5F, 0, 1 / 3.0F, 1 / 3.0F, 1 / 3.0F};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(scores[i], expected[i], kExpTolerance) << i;
}

TEST(Kernels, RmsNormGivesUnitMeanSquare) {
  Buffer x(std::size_t{2} * 37);
  std::iota(x.begin(), x.end(), -20.0F);
  Buffer out(x.size());
  std::vector<float> reciprocal(2);
  rms_norm(as_matrix(x, 2, 37), as_matrix(out, 2, 37), reciprocal.data());
  for (int row = 0; row < 2; ++row) {
    const float* values = &out[static_cast<std::size_t>(row) * 37];
    EXPECT_NEAR(std::inner_product(values, values + 37, values, 0.0F) / 37, 1, 1e-5);
  }
}

TEST(Kernels, RotationIsUndoneByTheOppositeOne) {
  const Buffer cosine{0.6F, 0.0F};
  const Buffer sine{0.8F, 1.0F};
  Buffer head{1, 2, 3, 4};
  rotate(head.data(), 4, cosine.data(), sine.data(), 1);
  EXPECT_NEAR(head[0], 0.6 * 1 - 0.8 * 3, 1e-6);  // pairs are (0, 2) and (1, 3)
  EXPECT_NEAR(head[3], 2, 1e-6);
  rotate(head.data(), 4, cosine.data(), sine.data(), -1);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(head[i], static_cast<float>(i + 1), 1e-6);
}

TEST(Kernels, FirstOfEqualMaximaWins) {
  std::vector<float> row(50, 1.0F);
  row[17] = row[31] = 2;
  EXPECT_EQ(position_of_max(row.data(), 50), 17);
  EXPECT_EQ(row_max(row.data(), 50), 2);
}

// Worked by hand: with one step the corrected moments are g and g^2, so that each weight moves by the rate.
TEST(Kernels, FirstAdamStepMovesByTheLearningRate) {
  AdamStep step;
  step.learning_rate = 0.01F;
  step.first_correction = 1 - step.first_decay;
  step.second_correction = 1 - step.second_decay;
  Buffer gradients{2, -0.5F};
  Buffer first(2);
  Buffer second(2);
  Buffer weights{1, 1};
  adam_update(step, gradients, first, second, weights);
  EXPECT_NEAR(weights[0], 0.99, 1e-6);
  EXPECT_NEAR(weights[1], 1.01, 1e-6);
}

}  // namespace
}  // namespace sextant::proxy
