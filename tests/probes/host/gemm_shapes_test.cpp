#include "probes/host/gemm_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

using testing::ElementsAre;

Model model() {
  Model model;
  model.name = "small";
  model.hidden = 64;
  model.intermediate = 96;
  model.heads = 8;
  model.kv_heads = 2;
  model.head_dim = 16;
  model.vocabulary = 1000;
  return model;
}

// Worked by hand: 8 query and 2 x 2 key-value heads of 16 are 192 columns.
TEST(GemmShapesOf, OneDevice) {
  EXPECT_THAT(gemm_shapes_of(model(), 10, 1),
              ElementsAre(GemmShape{"qkv", 10, 192, 64}, GemmShape{"attention_scores", 10, 10, 16, true},
                          GemmShape{"attention_values", 10, 16, 10}, GemmShape{"output", 10, 64, 128},
                          GemmShape{"gate_up", 10, 192, 64}, GemmShape{"down", 10, 64, 96},
                          GemmShape{"head", 10, 1000, 64}));
}

TEST(GemmShapesOf, TensorParallelismDividesHeadsAndColumns) {
  const auto shapes = gemm_shapes_of(model(), 10, 2);
  EXPECT_EQ(shapes[0], (GemmShape{"qkv", 10, 96, 64}));
  EXPECT_EQ(shapes[3], (GemmShape{"output", 10, 64, 64}));
  EXPECT_EQ(shapes[4], (GemmShape{"gate_up", 10, 96, 64}));
  EXPECT_EQ(shapes[5], (GemmShape{"down", 10, 64, 48}));
  EXPECT_EQ(shapes[6], (GemmShape{"head", 10, 500, 64}));
}

// Four devices share two key-value heads: each has one.
TEST(GemmShapesOf, KeyValueHeadsAreRepeatedWhenThereAreTooFew) {
  EXPECT_EQ(gemm_shapes_of(model(), 10, 4)[0], (GemmShape{"qkv", 10, (2 + 2) * 16, 64}));
}

// The FLOP of the shapes equals the model's own count: scores and values once for each head.
TEST(GemmShapesOf, AddUpToTheModelsFlop) {
  const auto shapes = gemm_shapes_of(model(), 10, 1);
  const LayerFlop flop = model().layer_flop(10);
  EXPECT_DOUBLE_EQ(shapes[0].flop() + shapes[3].flop(), flop.projections);
  EXPECT_DOUBLE_EQ(8 * (shapes[1].flop() + shapes[2].flop()), flop.attention);
  EXPECT_DOUBLE_EQ(shapes[4].flop() + shapes[5].flop(), flop.mlp);
  EXPECT_DOUBLE_EQ(shapes[6].flop(), model().head_flop(10));
}

TEST(GemmShapesOf, ValueHeadHasOneColumnAndNoVocabularyNoHead) {
  Model critic = model();
  critic.value_head = true;
  EXPECT_EQ(gemm_shapes_of(critic, 10, 2).back(), (GemmShape{"head", 10, 1, 64}));
  Model bare = model();
  bare.vocabulary = 0;
  EXPECT_EQ(gemm_shapes_of(bare, 10, 1).size(), 6U);
}

TEST(GemmShapesOf, AnExpertGetsItsShareOfTheTokens) {
  Model sparse = model();
  sparse.experts = Experts{8, 2, 32};
  const auto shapes = gemm_shapes_of(sparse, 100, 1);
  EXPECT_EQ(shapes[4], (GemmShape{"gate_up", 25, 64, 64}));
  EXPECT_EQ(shapes[5], (GemmShape{"down", 25, 64, 32}));
}

TEST(GemmShapesOf, RefusesMoreTensorParallelismThanHeads) {
  EXPECT_THROW(static_cast<void>(gemm_shapes_of(model(), 10, 9)), Error);
  EXPECT_THROW(static_cast<void>(gemm_shapes_of(model(), 0, 1)), Error);
}

}  // namespace
}  // namespace sextant
