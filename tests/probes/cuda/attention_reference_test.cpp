#include "probes/gpu/attention_reference.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

constexpr std::uint16_t kOne = 0x3f80;
constexpr std::uint16_t kTwo = 0x4000;
constexpr std::uint16_t kZero = 0;

TEST(AttentionReference, ReadsBf16) {
  EXPECT_EQ(from_bf16(kOne), 1.0);
  EXPECT_EQ(from_bf16(0xc040), -3.0);
}

// Worked by hand: head_dim 4, scores 1 * 2 / sqrt(4) = 1 and 0, weights e / (e + 1) and 1 / (e + 1).
TEST(AttentionReference, WeighsValuesBySoftmaxOfScores) {
  const Bf16Row query = {kOne, kZero, kZero, kZero};
  const Bf16Row keys = {kTwo, kZero, kZero, kZero, kZero, kOne, kZero, kZero};
  const Bf16Row values = {kOne, kZero, kZero, kTwo, kZero, kOne, kZero, kTwo};
  const auto output = attention_row(query, keys, values, 2);
  const double first = std::exp(1.0) / (std::exp(1.0) + 1);
  EXPECT_NEAR(output[0], first, 1e-12);
  EXPECT_NEAR(output[1], 1 - first, 1e-12);
  EXPECT_NEAR(output[3], 2, 1e-12);
  // A token that is not there yet counts for nothing.
  EXPECT_NEAR(attention_row(query, keys, values, 1)[1], 0, 1e-12);
}

TEST(AttentionReference, TellsRoundingFromMistakes) {
  const std::vector<double> want = {1.0, 2.0};
  EXPECT_TRUE(is_attention_right({kOne, kTwo}, want));
  EXPECT_TRUE(is_attention_right({static_cast<std::uint16_t>(kOne + 1), kTwo}, want));
  EXPECT_FALSE(is_attention_right({kTwo, kOne}, want));
  EXPECT_FALSE(is_attention_right({0x7fc0, kTwo}, want));  // NaN
  EXPECT_FALSE(is_attention_right({kOne}, want));
}

}  // namespace
}  // namespace sextant
