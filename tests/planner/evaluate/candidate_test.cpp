// Shapes by number, and what becomes of those that no placement names any more.
#include "planner/request/candidate.h"

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

Shape shape_of(std::vector<int> layers, std::vector<int> sequences, int micro_batch_sequences = 1) {
  Shape shape;
  shape.micro_batch_sequences = micro_batch_sequences;
  shape.layers = std::move(layers);
  shape.sequences = std::move(sequences);
  return shape;
}

TEST(ShapeTable, NumbersEqualShapesOnce) {
  ShapeTable table;
  const int even = table.add(shape_of({6, 6}, {4, 4})), uneven = table.add(shape_of({6, 6}, {5, 3}));
  EXPECT_NE(even, uneven);
  EXPECT_EQ(table.add(shape_of({6, 6}, {4, 4})), even);
  EXPECT_EQ(table.at(uneven), shape_of({6, 6}, {5, 3}));
  EXPECT_EQ(table.size(), 2);
}

// Layers and shares of the same numbers are not the same shape.
TEST(ShapeTable, TellsLayersFromShares) {
  ShapeTable table;
  EXPECT_NE(table.add(shape_of({6}, {6, 6})), table.add(shape_of({6, 6}, {6})));
}

TEST(ShapeTable, KindsDifferInMoreThanShares) {
  ShapeTable table;
  const int even = table.add(shape_of({6, 6}, {4, 4})), uneven = table.add(shape_of({6, 6}, {5, 3}));
  const int larger = table.add(shape_of({6, 6}, {4, 4}, 2)), other_cut = table.add(shape_of({7, 5}, {4, 4}));
  EXPECT_EQ(table.kind(even), table.kind(uneven));
  EXPECT_NE(table.kind(even), table.kind(larger));
  EXPECT_EQ(table.cut(even), table.cut(larger));
  EXPECT_NE(table.cut(even), table.cut(other_cut));
}

// Replicas with as many sequences of the same lengths have equal shares in all shapes.
TEST(ShapeTable, NumbersSharesBySequencesAndTheirLengths) {
  ShapeTable table;
  const auto ranked = [](std::vector<int> sequences, std::vector<int> ranks) {
    Shape shape = shape_of({6}, std::move(sequences));
    shape.length_ranks = std::move(ranks);
    return shape;
  };
  const int mixed = table.add(shape_of({6}, {4, 4})), uneven = table.add(shape_of({6}, {4, 3, 1}));
  const int ordered = table.add(ranked({4, 4}, {0, 1})), turned = table.add(ranked({4, 4}, {1, 0}));
  const int further = table.add(ranked({4, 3, 1}, {0, 1, 2})),
            together = table.add(ranked({4, 2, 2}, {0, 1, 1}));
  EXPECT_NE(ordered, turned);
  EXPECT_EQ(table.kind(mixed), table.kind(ordered));
  EXPECT_EQ(table.shares(mixed)[0], table.shares(mixed)[1]);
  EXPECT_EQ(table.shares(mixed)[0], table.shares(uneven)[0]);
  EXPECT_NE(table.shares(ordered)[0], table.shares(ordered)[1]);
  EXPECT_NE(table.shares(ordered)[0], table.shares(mixed)[0]);
  EXPECT_EQ(table.shares(ordered)[0], table.shares(turned)[1]);
  EXPECT_EQ(table.shares(ordered)[0], table.shares(further)[0]);  // the four shortest
  EXPECT_NE(table.shares(ordered)[1], table.shares(further)[1]);
  EXPECT_EQ(table.shares(together)[1], table.shares(together)[2]);
}

// Evaluated shapes are known by numbers: none may change its meaning.
TEST(ShapeTable, ForgottenPositionsAreNotUsedAgain) {
  ShapeTable table;
  const int first = table.add(shape_of({6, 6}, {5, 3}));
  const int kind = table.kind(first), cut = table.cut(first);
  table.forget(first);
  EXPECT_TRUE(table.at(first).sequences.empty());
  const int other = table.add(shape_of({12}, {8})), again = table.add(shape_of({6, 6}, {5, 3}));
  EXPECT_NE(other, first);
  EXPECT_NE(again, first);
  EXPECT_NE(table.kind(other), kind);
  EXPECT_EQ(table.kind(again), kind);
  EXPECT_EQ(table.cut(again), cut);
  EXPECT_EQ(table.at(again), shape_of({6, 6}, {5, 3}));
}

}  // namespace
}  // namespace sextant::test
