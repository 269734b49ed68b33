#include "probes/collective/collective_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

// nccl-tests, doc/PERFORMANCE.md, for eight ranks.
TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_reduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::reduce_scatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_to_all, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::send_receive, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_reduce, 2), 1);
}

TEST(CollectiveShape, BytesAreThoseOfOneWholeBuffer) {
  EXPECT_EQ(shape_of(CollectiveKind::all_reduce, 8, 1024).bytes(), 1024);
  const CollectiveShape gathered = shape_of(CollectiveKind::all_gather, 8, 1024);
  EXPECT_EQ(gathered.bytes(), 1024);
  EXPECT_EQ(gathered.part_elements, 32U);
  // Parts are equal, and nobody's is empty.
  EXPECT_EQ(shape_of(CollectiveKind::all_gather, 3, 1024).bytes(), 1020);
  EXPECT_EQ(shape_of(CollectiveKind::all_to_all, 8, 8).bytes(), 32);
  EXPECT_EQ(shape_of(CollectiveKind::all_reduce, 8, 8).bytes(), 8);
}

TEST(CollectiveShape, OnlyExchangesNeedTwoBuffers) {
  EXPECT_EQ(shape_of(CollectiveKind::all_reduce, 2, 8).buffers(), 1);
  EXPECT_EQ(shape_of(CollectiveKind::reduce_scatter, 2, 8).buffers(), 1);
  EXPECT_EQ(shape_of(CollectiveKind::all_to_all, 2, 8).buffers(), 2);
  EXPECT_EQ(shape_of(CollectiveKind::send_receive, 2, 8).buffers(), 2);
}

TEST(CollectiveShapes, GoFromAFewBytesToTheMost) {
  const auto shapes = collective_shapes(CollectiveKind::all_reduce, 4, 1024.0 * 1024 * 1024);
  EXPECT_EQ(shapes.front().bytes(), 8);
  EXPECT_EQ(shapes[1].bytes(), 32);
  EXPECT_EQ(shapes.back().bytes(), 1024.0 * 1024 * 1024);
  EXPECT_EQ(shapes.size(), 15U);
  // 8 and 32 bytes are both one element for each of eight ranks.
  EXPECT_EQ(collective_shapes(CollectiveKind::all_gather, 8, 128).size(), 2U);
  EXPECT_EQ(collective_shapes(CollectiveKind::all_reduce, 8, 4).size(), 1U);
}

}  // namespace
}  // namespace sextant
