#include "probes/gpu/attention_splits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant::gpu {
namespace {

TEST(AttentionShapes, ThatKernelsCannotRunAreSaidSo) {
  EXPECT_EQ(attention_complaint({1, 100, 32, 8, 128}, true), nullptr);
  EXPECT_EQ(attention_complaint({1, 100, 32, 8, 64}, false), nullptr);
  EXPECT_STREQ(attention_complaint({1, 100, 32, 8, 96}, true),
               "attention is measured with head_dim 64 and 128 only");
  EXPECT_STREQ(attention_complaint({1, 100, 30, 8, 128}, true), "heads must be a multiple of kv_heads");
  EXPECT_STREQ(attention_complaint({1, 100, 32, 0, 128}, false), "heads must be a multiple of kv_heads");
  EXPECT_EQ(attention_complaint({1, 100, 16, 1, 128}, true), nullptr);
  EXPECT_STREQ(attention_complaint({1, 100, 32, 1, 128}, true),
               "more than 16 query heads share keys and values");
  EXPECT_EQ(attention_complaint({1, 100, 32, 1, 128}, false), nullptr);
}

TEST(PagesOf, ASequenceAreRoundedUp) {
  EXPECT_EQ(pages_of({1, 1, 1, 1, 64}), 1);
  EXPECT_EQ(pages_of({1, 16, 1, 1, 64}), 1);
  EXPECT_EQ(pages_of({1, 17, 1, 1, 64}), 2);
}

TEST(PartialFloats, AreARowAndTwoNumbersForEachHeadAndSplit) {
  EXPECT_EQ(partial_floats({2, 100, 32, 8, 128}, 3), 2U * 32 * 3 * 130);
}

TEST(ChooseSplits, FillsTheLastRoundOfBlocks) {
  // 64 x 8 blocks on 264 places: 512 of 528.
  EXPECT_EQ(choose_splits({64, 4096, 32, 8, 128}, 264), 1);
  // 8 blocks: 33 splits make 264.
  EXPECT_EQ(choose_splits({1, 32768, 32, 8, 128}, 264), 32);  // 256 of 264 are 97 %
  // A short sequence is not cut below its least pages.
  EXPECT_EQ(choose_splits({1, 16, 32, 8, 128}, 264), 1);
  for (const int tokens : {100, 1000, 10'000}) {
    const AttentionShape shape{1, tokens, 32, 8, 128};
    EXPECT_LE(choose_splits(shape, 264) * kMinPagesPerSplit, std::max(pages_of(shape), kMinPagesPerSplit));
  }
}

}  // namespace
}  // namespace sextant::gpu
