#include <gtest/gtest.h>

#include <cmath>

#include "probes/harness/random_data.h"
#include "probes/host/blas.h"

namespace sextant {
namespace {

TEST(Half, KnownBits) {
  EXPECT_EQ(to_half(1.0F, HalfFormat::bf16), 0x3f80);
  EXPECT_EQ(to_half(-0.5F, HalfFormat::bf16), 0xbf00);
  EXPECT_EQ(to_half(1.0F, HalfFormat::fp16), 0x3c00);
  EXPECT_EQ(to_half(-0.5F, HalfFormat::fp16), 0xb800);
  EXPECT_EQ(to_half(0.0F, HalfFormat::fp16), 0x0000);
  EXPECT_EQ(to_half(0x1p-24F, HalfFormat::fp16), 0x0001);  // the smallest, without a leading one
  EXPECT_EQ(to_half(0.99999F, HalfFormat::fp16), 0x3c00);  // rounds up into the next power of two
}

// Nearest: off by at most half a step of the format, 2^-9 or 2^-12 of the value.
TEST(Half, RoundsToNearest) {
  RandomStream random(7);
  for (int trial = 0; trial < 10000; ++trial) {
    const auto value = static_cast<float>(2 * random.uniform() - 1);
    if (std::fabs(value) < 1e-3F) continue;
    EXPECT_NEAR(from_half(to_half(value, HalfFormat::bf16), HalfFormat::bf16), value,
                std::fabs(value) * 0x1p-8F);
    EXPECT_NEAR(from_half(to_half(value, HalfFormat::fp16), HalfFormat::fp16), value,
                std::fabs(value) * 0x1p-11F);
  }
}

// Every number of the format comes back as itself.
TEST(Half, RoundTripsEveryNumberUpToOne) {
  for (int bits = 0; bits <= 0x3c00; ++bits) {
    const auto half = static_cast<HalfBits>(bits);
    ASSERT_EQ(to_half(from_half(half, HalfFormat::fp16), HalfFormat::fp16), half) << bits;
  }
  for (int bits = 0; bits <= 0x3f80; ++bits) {
    const auto half = static_cast<HalfBits>(bits);
    ASSERT_EQ(to_half(from_half(half, HalfFormat::bf16), HalfFormat::bf16), half) << bits;
  }
}

}  // namespace
}  // namespace sextant
