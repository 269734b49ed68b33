#include "probes/gpu/proxy/attention_layout.h"

#include <gtest/gtest.h>

#include "probes/proxy/model/batch.h"

namespace sextant::gpu {
namespace {

proxy::PackedBatch batch_of(const std::vector<int>& lengths) {
  proxy::PackedBatch batch;
  for (const int length : lengths) batch.append(std::vector<int>(static_cast<std::size_t>(length), 1));
  return batch;
}

TEST(AttentionLayout, PutsSequencesOfOnePaddedLengthNextToEachOther) {
  const AttentionLayout layout = attention_layout(batch_of({9, 3, 16, 8}));
  ASSERT_EQ(layout.runs.size(), 2U);
  EXPECT_EQ(layout.runs[0].length, 8);
  EXPECT_EQ(layout.runs[0].sequences, 2);
  EXPECT_EQ(layout.runs[0].base, 0U);
  EXPECT_EQ(layout.runs[1].length, 16);
  EXPECT_EQ(layout.runs[1].sequences, 2);
  EXPECT_EQ(layout.runs[1].base, 16U);
  EXPECT_EQ(layout.runs[1].squares_before, 2U * 64);
  EXPECT_EQ(layout.rows(), 48U);
  EXPECT_EQ(layout.squares, 2U * 64 + 2U * 256);
}

TEST(AttentionLayout, EveryTokenHasOnePlaceAndPaddingHasNone) {
  const std::vector<int> lengths{5, 24, 1, 17};
  const proxy::PackedBatch batch = batch_of(lengths);
  std::vector<int> seen(static_cast<std::size_t>(batch.token_count()), 0);
  std::size_t row = 0;
  int padding = 0;
  for (const TokenPlace& place : attention_layout(batch).places) {
    EXPECT_EQ(static_cast<std::size_t>(place.base + place.position), row++);
    EXPECT_EQ(place.length % kLengthMultiple, 0);
    if (place.source < 0) {
      ++padding;
      EXPECT_GE(place.position, batch.length(place.sequence));
      continue;
    }
    EXPECT_EQ(place.source, batch.offset(place.sequence) + place.position);
    ++seen[static_cast<std::size_t>(place.source)];
  }
  EXPECT_EQ(padding, 3 + 0 + 7 + 7);
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(AttentionLimits, HoldEveryBatchThatWasIncluded) {
  AttentionLimits limits;
  const std::vector<std::vector<int>> batches{{100, 3}, {17, 17, 17, 17}};
  for (const auto& lengths : batches) limits.include(lengths);
  for (const auto& lengths : batches) {
    const AttentionLayout layout = attention_layout(batch_of(lengths));
    EXPECT_LE(layout.rows(), limits.rows);
    EXPECT_LE(layout.squares, limits.squares);
  }
  EXPECT_EQ(limits.tokens, 103);
  EXPECT_EQ(limits.longest, 104);
  EXPECT_EQ(limits.sequences, 4);
}

}  // namespace
}  // namespace sextant::gpu
