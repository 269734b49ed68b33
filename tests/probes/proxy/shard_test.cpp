#include "probes/proxy/model/shard.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/probes/proxy/fixture.h"

namespace sextant::proxy {
namespace {

std::vector<float> numbered(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

// Every row of every block is held by some rank, and inserting what was sliced gives the block again.
TEST(Shard, PartsMakeUpTheWhole) {
  const Model model = test::small_model("actor");
  const auto hidden = static_cast<std::size_t>(model.hidden);
  for (const int ranks : {1, 2, 4}) {
    for (int block = 0; block < block_count(model); ++block) {
      const std::size_t elements = block_shard(model, block, {}).full_rows * hidden;
      const std::vector<float> full = numbered(elements);
      std::vector<float> rebuilt(elements, -1);
      for (int rank = 0; rank < ranks; ++rank) {
        const BlockShard shard = block_shard(model, block, {rank, ranks});
        std::vector<float> part(shard.rows() * hidden);
        slice_block(shard, hidden, full, part);
        insert_block(shard, hidden, part, rebuilt);
      }
      EXPECT_EQ(rebuilt, full) << "block " << block << " on " << ranks << " ranks";
    }
  }
}

TEST(Shard, StoresWhatTheModelCounts) {
  const Model model = test::small_model("actor");
  EXPECT_EQ(static_cast<double>(block_shard(model, 1, {}).full_rows) * model.hidden, model.layer_parameters());
  EXPECT_EQ(static_cast<double>(block_shard(model, 0, {}).full_rows) * model.hidden,
            model.embedding_parameters());
}

// Worked by hand: 4 query heads and 2 KV heads on 4 ranks, so that ranks 0 and 1 share KV head 0.
TEST(Shard, KvHeadsAreRepeatedWhenRanksAreMore) {
  const Model model = test::small_model("actor");
  EXPECT_EQ(layer_shape(model, {1, 4}).kv_heads, 1);
  EXPECT_EQ(first_kv_head(model, {1, 4}), 0);
  EXPECT_EQ(first_kv_head(model, {2, 4}), 1);
  const BlockShard second = block_shard(model, 1, {1, 4});
  EXPECT_EQ(second.ranges[0].first, 4U);   // query head 1
  EXPECT_EQ(second.ranges[1].first, 16U);  // key head 0, after 16 query rows
}

TEST(Shard, StagesOwnConsecutiveBlocks) {
  StageShape shape;
  shape.model = test::small_model("actor");
  shape.layers = 2;
  EXPECT_EQ(shape.first_block(), 0);
  EXPECT_EQ(shape.end_block(), 3);
  shape.first_layer = 2;
  shape.layers = 1;
  EXPECT_EQ(shape.first_block(), 3);
  EXPECT_EQ(shape.end_block(), 5);
}

}  // namespace
}  // namespace sextant::proxy
