#include "probes/collective/collective_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace sextant {
namespace {

constexpr int kRanks = 3;

std::vector<float> input(const CollectiveShape& shape, int rank) {
  std::vector<float> values(shape.elements());
  fill_input(shape, rank, 0, values);
  return values;
}

// The result of a collective, from all ranks' inputs and its definition alone.
std::vector<float> result(const CollectiveShape& shape, int rank) {
  std::vector<std::vector<float>> inputs;
  for (int other = 0; other < shape.ranks; ++other) inputs.push_back(input(shape, other));
  std::vector<float> out(shape.elements());
  const std::size_t part = shape.part_elements;
  for (std::size_t at = 0; at < out.size(); ++at) {
    const std::size_t owner = at / part;
    switch (shape.kind) {
      case CollectiveKind::all_reduce:
      case CollectiveKind::reduce_scatter:
        for (const auto& values : inputs) out[at] += values[at];
        break;
      case CollectiveKind::all_gather:
        out[at] = inputs[owner][at];
        break;
      case CollectiveKind::broadcast:
        out[at] = inputs[0][at];
        break;
      case CollectiveKind::all_to_all:
        out[at] = inputs[owner][static_cast<std::size_t>(rank) * part + at % part];
        break;
      case CollectiveKind::send_receive:
        out[at] = inputs[static_cast<std::size_t>((rank + shape.ranks - 1) % shape.ranks)][at];
    }
  }
  return out;
}

class CollectiveData : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] CollectiveShape shape() const {
    return shape_of(static_cast<CollectiveKind>(GetParam()), kRanks, 12000);
  }
};

TEST_P(CollectiveData, IsRightAfterTheCollective) {
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(count_wrong(shape(), rank, 0, result(shape(), rank)), 0U);
  }
}

TEST_P(CollectiveData, IsWrongBeforeIt) {
  const int rank = 1;
  EXPECT_GT(count_wrong(shape(), rank, 0, input(shape(), rank)), shape().elements() / 4);
}

TEST_P(CollectiveData, EveryWrongElementIsFound) {
  const int rank = 1;
  std::vector<float> values = result(shape(), rank);
  values[shape().part_elements / 2 + (shape().has_parts() ? shape().part_elements : 0)] += 1;
  EXPECT_EQ(count_wrong(shape(), rank, 0, values), 1U);
}

TEST_P(CollectiveData, ComesInChunks) {
  const std::vector<float> whole = input(shape(), 2);
  std::vector<float> chunk(777);
  fill_input(shape(), 2, 1000, chunk);
  EXPECT_TRUE(std::equal(chunk.begin(), chunk.end(), whole.begin() + 1000));
  const std::vector<float> out = result(shape(), 2);
  EXPECT_EQ(count_wrong(shape(), 2, 1000, std::span(out).subspan(1000, 777)), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, CollectiveData, testing::Range(0, kCollectiveKindCount), [](const auto& kind) {
  return std::string(name_of(static_cast<CollectiveKind>(kind.param)));
});

TEST(ReduceScatter, WhatIsLeftInOthersPartsDoesNotCount) {
  const CollectiveShape shape = shape_of(CollectiveKind::reduce_scatter, kRanks, 12000);
  std::vector<float> values = result(shape, 1);
  values[0] += 1;
  EXPECT_EQ(count_wrong(shape, 1, 0, values), 0U);
}

// Longer than the blocks in which it is copied and compared, and no multiple of them.
TEST(LongBuffers, AreFilledAndComparedToTheLastElement) {
  const CollectiveShape shape = shape_of(CollectiveKind::all_reduce, kRanks, 4.0 * 100'003);
  std::vector<float> values = result(shape, 0);
  EXPECT_EQ(count_wrong(shape, 0, 0, values), 0U);
  for (const std::size_t at : {std::size_t{0}, std::size_t{16'064}, values.size() - 1}) values[at] += 1;
  EXPECT_EQ(count_wrong(shape, 0, 0, values), 3U);
  const std::vector<float> whole = input(shape, 1);
  for (std::size_t at = 251; at < whole.size(); ++at) ASSERT_EQ(whole[at], whole[at - 251]);
}

TEST(MessagePattern, RepeatsWithoutASeamAndHasNoZero) {
  const std::vector<unsigned char> pattern = message_pattern(1000);
  ASSERT_EQ(pattern.size(), 753U);  // three periods
  EXPECT_EQ(pattern.front(), 1);
  EXPECT_EQ(pattern.back(), 251);
  EXPECT_EQ(message_pattern(8).size(), 8U);
}

}  // namespace
}  // namespace sextant
