#include "probes/gpu/proxy/decode_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::gpu {
namespace {

using testing::ElementsAre;

proxy::Workload three_sequences() {
  proxy::Workload workload;
  workload.prompt_tokens = {4, 6, 2};
  workload.response_tokens = {3, 1, 5};
  workload.offsets = {0, 7, 14, 21};
  return workload;
}

TEST(DecodeBatch, SequencesLeaveWhenTheirResponseIsWhole) {
  const proxy::Workload workload = three_sequences();
  const LiveRows first = live_rows(workload, {0, 3}, 0, 1);
  EXPECT_THAT(first.slots, ElementsAre(0, 2));
  EXPECT_THAT(first.positions, ElementsAre(4, 2));  // of each one's first response token
  const LiveRows later = live_rows(workload, {0, 3}, 0, 4);
  EXPECT_THAT(later.slots, ElementsAre(2));
  EXPECT_THAT(later.positions, ElementsAre(5));
  EXPECT_EQ(live_rows(workload, {0, 3}, 0, 5).count(), 0);
}

TEST(DecodeBatch, SlotsAreCountedFromTheWave) {
  EXPECT_THAT(live_rows(three_sequences(), {2, 3}, 0, 1).slots, ElementsAre(0));
  EXPECT_THAT(live_rows(three_sequences(), {0, 3}, 8, 1).slots, ElementsAre(8, 10));
}

TEST(DecodeBatch, GraphsHaveAFewSizes) {
  EXPECT_EQ(graph_rows(1, 256), 1);
  EXPECT_EQ(graph_rows(3, 256), 4);
  EXPECT_EQ(graph_rows(5, 256), 8);
  EXPECT_EQ(graph_rows(9, 256), 16);
  EXPECT_EQ(graph_rows(33, 256), 40);
  EXPECT_EQ(graph_rows(33, 36), 36) << "no more rows than there are sequences";
  EXPECT_EQ(graph_rows(36, 36), 36);
  for (int rows = 1; rows <= 300; ++rows) {
    EXPECT_GE(graph_rows(rows, 300), rows);
    EXPECT_LE(graph_rows(rows, 300), rows + 7);
  }
}

TEST(DecodeBatch, PaddingReadsAFreeSlot) {
  LiveRows live{{0, 1, 2}, {7, 8, 9}};
  pad_rows(live, 5, 6);
  EXPECT_THAT(live.slots, ElementsAre(0, 1, 2, 6, 6));
  EXPECT_THAT(live.positions, ElementsAre(7, 8, 9, 0, 0));
  pad_rows(live, 4, 6);
  EXPECT_EQ(live.count(), 5);
}

}  // namespace
}  // namespace sextant::gpu
