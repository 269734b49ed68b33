#include "sextant/model.h"

#include <gtest/gtest.h>

#include <random>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

Model multi_head(int hidden, int heads, int intermediate) {
  Model model;
  model.name = "m";
  model.layers = 3;
  model.hidden = hidden;
  model.intermediate = intermediate;
  model.heads = model.kv_heads = heads;
  model.head_dim = hidden / heads;
  return model;
}

// HetRL B.2: a layer has 4 h1^2 + 3 h1 h2 parameters, and one sequence of s tokens costs
// 2 * 4 s h1^2 + 4 s^2 h1 + 2 * 3 s h1 h2 FLOP. Exactly: all are whole numbers below 2^53.
TEST(ModelTest, MultiHeadAttentionIsTheAppendix) {
  std::mt19937 random(5);
  for (int i = 0; i < 100; ++i) {
    const int heads = 1 << random() % 5;
    const int hidden = heads * static_cast<int>(8 + random() % 100);
    const Model model = multi_head(hidden, heads, static_cast<int>(1 + random() % 9000));
    const double h1 = hidden, h2 = model.intermediate, s = static_cast<double>(1 + random() % 8192);
    EXPECT_EQ(model.layer_parameters(), 4 * h1 * h1 + 3 * h1 * h2);
    EXPECT_EQ(model.layer_active_parameters(), model.layer_parameters());
    EXPECT_EQ(model.layer_flop(s).projections, 2 * 4 * s * h1 * h1);
    EXPECT_EQ(model.layer_flop(s).attention, 4 * s * s * h1);
    EXPECT_EQ(model.layer_flop(s).mlp, 2 * 3 * s * h1 * h2);
    EXPECT_EQ(model.parameters(), 3 * model.layer_parameters());  // no vocabulary
    EXPECT_EQ(model.head_flop(s), 0);
  }
}

// hidden 8, 4 heads of 2, 2 key-value heads: q and o 64 each, k and v 32 each; MLP 3 * 8 * 16.
TEST(ModelTest, GroupedQueries) {
  Model model = multi_head(8, 4, 16);
  model.kv_heads = 2;
  EXPECT_EQ(model.layer_parameters(), 64 + 64 + 32 + 32 + 384);
  EXPECT_EQ(model.layer_flop(10).projections, 2 * 10 * 192);
  EXPECT_EQ(model.layer_flop(10).attention, 4 * 100 * 8);
  EXPECT_EQ(model.kv_cache_elements_per_token(), 2 * 2 * 2);
}

// Two of three layers with 2 key heads of 3 and 4 value heads of 5: queries, keys and values 2 * 6 + 20 wide.
TEST(ModelTest, LinearAttentionAmongLayersOfAttention) {
  Model model = multi_head(8, 4, 16);
  model.attention_gate = true;
  model.linear_attention = LinearAttention{2, 2, 4, 3, 5, 4};
  const double linear = 8 * 32 + 8 * 20 + 2 * 8 * 4 + 20 * 8 + 32 * 4, full = 5 * 64, mlp = 384;
  EXPECT_EQ(model.linear_attention->parameters(8), linear);
  EXPECT_NEAR(model.parameters(), 2 * linear + full + 3 * mlp, 1e-9);
  // One layer in three has scores; two update a state of 4 * 5 * 3 numbers, 6 FLOP each.
  EXPECT_NEAR(model.layer_flop(10).attention, 4 * 100 * 8 / 3.0, 1e-9);
  EXPECT_NEAR(model.layer_flop(10).projections, 10 * (2 * (2 * linear + full) + 2 * 6 * 60) / 3, 1e-9);
  EXPECT_NEAR(model.kv_cache_elements_per_token(), 2 * 8 / 3.0, 1e-12);
  // 60 numbers in 32 bits, and three tokens before the convolution in 16.
  EXPECT_NEAR(model.sequence_state_bytes(), 2 * (60 * 4 + 3 * 32 * 2) / 3.0, 1e-9);
}

// The model has two layers of Mamba-2, one of attention, and three that are an MLP alone.
TEST(ModelTest, LayersThatAreAnMlpAlone) {
  Model model = multi_head(8, 4, 16);
  model.layers = 6;
  model.mlp_layers = 3;
  model.linear_attention = LinearAttention{2, 2, 4, 3, 5, 4, 1};
  const double linear = 8 * 32 + 8 * 20 + 8 * 4 + 20 * 8 + 32 * 4, full = 4 * 64, mlp = 384;
  EXPECT_EQ(model.linear_attention->parameters(8), linear);
  EXPECT_NEAR(model.parameters(), 2 * linear + full + 3 * mlp, 1e-9);
  EXPECT_NEAR(model.layer_flop(10).mlp, 10 * 2 * 3 * mlp / 6, 1e-9);
  EXPECT_NEAR(model.layer_flop(10).attention, 4 * 100 * 8 / 6.0, 1e-9);
  EXPECT_NEAR(model.kv_cache_elements_per_token(), 2 * 8 / 6.0, 1e-12);
  EXPECT_NEAR(model.active_width(), 16 / 2.0, 1e-12);
  // With experts in two of the MLPs.
  model.experts = Experts{4, 2, 5, 0, 1};
  EXPECT_NEAR(model.parameters(), 2 * linear + full + mlp + 2 * (480 + 32), 1e-9);
  EXPECT_NEAR(model.expert_share(), 2 / 6.0, 1e-12);
}

// The state of one sequence in Qwen3.5-27B: 48 layers of 48 matrices of 128 x 128 numbers, and 3 x 10240 of the
// convolution.
TEST(ModelTest, AStateIsAsLargeAsAnEngineAllocates) {
  Model model;
  model.layers = 64;
  model.linear_attention = LinearAttention{48, 16, 48, 128, 128, 4};
  EXPECT_NEAR(model.layers * model.sequence_state_bytes(), 48 * (48 * 128 * 128 * 4.0 + 3 * 10240 * 2.0), 1);
}

TEST(ModelTest, HeadsNeedNotFillTheHiddenDimension) {
  Model model = multi_head(8, 4, 16);
  model.head_dim = 3;  // 12 wide
  EXPECT_EQ(model.layer_parameters(), 4 * 8 * 12 + 384);
  EXPECT_EQ(model.decode_layer_flop(7).attention, 4 * 7 * 12);
}

// 4 experts of 5, 2 active: all 4 * 3 * 8 * 5, active 2 * 3 * 8 * 5, router 8 * 4.
TEST(ModelTest, Experts) {
  Model model = multi_head(8, 4, 16);
  model.experts = Experts{4, 2, 5};
  EXPECT_EQ(model.layer_parameters(), 256 + 480 + 32);
  EXPECT_EQ(model.layer_active_parameters(), 256 + 240 + 32);
  EXPECT_EQ(model.layer_flop(3).mlp, 2 * 3 * (240 + 32));
}

TEST(ModelTest, DecodingOneTokenIsOneRowOfAttention) {
  const Model model = multi_head(64, 4, 256);
  const LayerFlop decode = model.decode_layer_flop(100);
  EXPECT_EQ(decode.projections, model.layer_flop(1).projections);
  EXPECT_EQ(decode.mlp, model.layer_flop(1).mlp);
  EXPECT_EQ(decode.attention * 100, model.layer_flop(100).attention);
  EXPECT_EQ(decode.total(), decode.projections + decode.attention + decode.mlp);
}

TEST(ModelTest, EmbeddingAndHead) {
  Model model = multi_head(8, 4, 16);
  model.vocabulary = 100;
  EXPECT_EQ(model.embedding_parameters(), 800);
  EXPECT_EQ(model.head_parameters(), 800);
  EXPECT_EQ(model.head_flop(3), 4800);
  EXPECT_EQ(model.parameters(), 3 * model.layer_parameters() + 1600);
  model.tied_embeddings = true;
  EXPECT_EQ(model.head_parameters(), 800);
  EXPECT_EQ(model.parameters(), 3 * model.layer_parameters() + 800);
  model.value_head = true;  // its own, also where a vocabulary head would be tied
  EXPECT_EQ(model.head_parameters(), 8);
  EXPECT_EQ(model.parameters(), 3 * model.layer_parameters() + 808);
  model.vocabulary = 0;
  EXPECT_EQ(model.head_parameters(), 8);
}

// The mixture of tests/data: 46.7e9 parameters, 12.9e9 of them active (Mixtral of Experts, abstract: 47B, 13B).
TEST(ModelTest, MixtralCountsAsPublished) {
  const auto model = load_fixture<Model>("model.json");
  EXPECT_NEAR(model.parameters(), 46.7e9, 0.05e9);
  const double active = model.layers * model.layer_active_parameters() + 2 * model.embedding_parameters();
  EXPECT_NEAR(active, 12.9e9, 0.05e9);
}

// hidden 8, 4 heads of 2 and 1 rotary dimension: queries 8 * 4 * 3 (through rank 5: 5 (8 + 12)), compression
// 8 (3 + 1), keys and values 3 * 2 * 8, output 64.
TEST(ModelTest, LatentAttention) {
  Model model = multi_head(8, 4, 16);
  model.latent_attention = LatentAttention{0, 3, 1};
  EXPECT_EQ(model.attention_parameters(), 96 + 32 + 48 + 64);
  model.latent_attention->query_rank = 5;
  EXPECT_EQ(model.attention_parameters(), 100 + 32 + 48 + 64);
  EXPECT_EQ(model.kv_cache_elements_per_token(), 3 + 1);
  // Scores over 2 + 1 dimensions of a head and values of 2; decoding on the compressed vector, 3 + 1 and 3.
  EXPECT_EQ(model.layer_flop(10).attention, 2 * 100 * 4 * 5);
  EXPECT_EQ(model.decode_layer_flop(7).attention, 2 * 7 * 4 * 7);
  // Values of 3 dimensions a head, as GLM-4.7-Flash has them wider than its keys: keys and values 3 * (8 + 12),
  // output 12 * 8.
  model.latent_attention->value_dim = 3;
  EXPECT_EQ(model.attention_parameters(), 100 + 32 + 60 + 96);
  EXPECT_EQ(model.layer_flop(10).attention, 2 * 100 * 4 * 6);
  EXPECT_EQ(model.decode_layer_flop(7).attention, 2 * 7 * 4 * 7);
  EXPECT_EQ(model.kv_cache_elements_per_token(), 3 + 1);
}

// 4 experts of 5, 2 active, shared ones of 6: router 32, shared 3 * 8 * 6. One dense layer of three.
TEST(ModelTest, SharedExpertsAndDenseLayers) {
  Model model = multi_head(8, 4, 16);
  model.experts = Experts{4, 2, 5, 6, 0};
  EXPECT_EQ(model.layer_parameters(), 256 + 480 + 32 + 144);
  EXPECT_EQ(model.layer_active_parameters(), 256 + 240 + 32 + 144);
  EXPECT_EQ(model.layer_expert_parameters(), 480);
  model.experts->dense_layers = 1;
  EXPECT_DOUBLE_EQ(3 * model.layer_parameters(), 3 * 256 + 2 * (480 + 32 + 144) + 384);
  EXPECT_DOUBLE_EQ(3 * model.layer_expert_parameters(), 2 * 480);
}

// A token touches its 2 experts, two tokens 4 (1 - 1/4), many all; shared ones are always read.
TEST(ModelTest, TouchedExperts) {
  Model model = multi_head(8, 4, 16);
  model.experts = Experts{4, 2, 5, 6, 0};
  EXPECT_DOUBLE_EQ(model.layer_touched_parameters(1), model.layer_active_parameters());
  EXPECT_DOUBLE_EQ(model.layer_touched_parameters(0.3), model.layer_active_parameters());  // at least one token
  EXPECT_DOUBLE_EQ(model.layer_touched_parameters(2), 256 + 3 * 120 + 32 + 144);
  EXPECT_DOUBLE_EQ(model.layer_touched_parameters(1e6), model.layer_parameters());
  // Against routing drawn at random: 3 tokens choose 2 of 4 experts each.
  std::mt19937 random(3);
  constexpr int kDraws = 200000;
  double touched = 0;
  for (int i = 0; i < kDraws; ++i) {
    unsigned seen = 0;
    for (int token = 0; token < 3; ++token) {
      const unsigned first = random() % 4;
      seen |= 1U << first | 1U << (first + 1 + random() % 3) % 4;
    }
    touched += __builtin_popcount(seen);
  }
  constexpr double kFourSigma = 4 * 1.0 / 447;  // a deviation below 1, sqrt(200000) = 447
  EXPECT_NEAR((model.layer_touched_parameters(3) - 256 - 32 - 144) / 120, touched / kDraws, kFourSigma);
  model.experts.reset();
  EXPECT_EQ(model.layer_touched_parameters(7), model.layer_parameters());
}

TEST(ModelTest, SlidingWindows) {
  Model model = multi_head(8, 4, 16);
  EXPECT_EQ(model.attended_tokens(100), 100);
  model.sliding_window = 10;
  EXPECT_EQ(model.attended_tokens(100), 10);
  EXPECT_EQ(model.attended_tokens(4), 4);
  EXPECT_EQ(model.layer_flop(100).attention, 4 * 100 * 10 * 8);
  EXPECT_EQ(model.decode_layer_flop(100).attention, 4 * 10 * 8);
  model.sliding_window_layers = 1;  // of three
  EXPECT_DOUBLE_EQ(model.attended_tokens(100), (10 + 100 + 100) / 3.0);
}

TEST(ModelTest, WithoutAGateTheMlpHasTwoMatrices) {
  Model model = multi_head(8, 4, 16);
  model.gated_mlp = false;
  EXPECT_EQ(model.layer_parameters(), 256 + 2 * 8 * 16);
  EXPECT_EQ(model.layer_flop(3).mlp, 2 * 3 * 256);
  model.experts = Experts{4, 2, 5};
  EXPECT_EQ(model.layer_expert_parameters(), 320);
}

Model published(const std::string& name) {
  const Json facts = parse_json(read_text_file(SEXTANT_SOURCE_DIR "/data/models.json"));
  for (const Json& model : facts["models"]) {
    if (model["name"] == name) return parse_as<Model>(model);
  }
  ADD_FAILURE() << "data/models.json has no " << name;
  return {};
}

// Totals and active parameters of all published shapes are tested in tests/data_facts; here the parts that only
// one kind of model has.
TEST(ModelTest, KvCachesAsPublished) {
  // Insights into DeepSeek-V3, arXiv 2505.09343, Table 1: KB a token in bf16.
  const auto cache_bytes = [](const Model& model) {
    return 2 * model.layers * model.kv_cache_elements_per_token();
  };
  EXPECT_EQ(cache_bytes(published("DeepSeek-V3")), 70272);
  EXPECT_EQ(cache_bytes(published("Qwen2.5-72B")), 327680);
  EXPECT_EQ(cache_bytes(published("Llama-3.1-405B")), 516096);
}

// DeepSeek-V3's attention, matrix by matrix (its modeling code): q_a 7168 x 1536, q_b 1536 x 24576, kv_a
// 7168 x 576, kv_b 512 x 32768, o 16384 x 7168.
TEST(ModelTest, LatentAttentionAsPublished) {
  const Model model = published("DeepSeek-V3");
  EXPECT_EQ(model.attention_parameters(),
            7168.0 * 1536 + 1536.0 * 24576 + 7168.0 * 576 + 512.0 * 32768 + 16384.0 * 7168);
  // 58 of 61 layers have 256 experts of three matrices 7168 x 2048.
  EXPECT_NEAR(61 * model.layer_expert_parameters(), 58 * 256 * 3 * 7168.0 * 2048, 1);
}

TEST(ModelTest, EverySecondLayerOfGemma2Slides) {
  const Model model = published("gemma-2-2b");
  EXPECT_DOUBLE_EQ(model.attended_tokens(8192), (4096 + 8192) / 2.0);
  EXPECT_DOUBLE_EQ(model.attended_tokens(1000), 1000);
}

TEST(ModelTest, LargeShapesDoNotOverflow) {
  Model model = multi_head(1 << 20, 1 << 10, 1 << 22);
  model.vocabulary = 1 << 20;
  EXPECT_EQ(model.embedding_parameters(), 0x1p40);
  EXPECT_EQ(model.layer_parameters(), 4 * 0x1p40 + 3 * 0x1p42);
}

Json small() {
  return parse_json(
      R"({"name": "m", "layers": 2, "hidden": 8, "intermediate": 16, "heads": 4, "vocabulary": 10})");
}

TEST(ModelTest, HeadsDefaultToMultiHeadAttention) {
  const auto model = parse_as<Model>(small());
  EXPECT_EQ(model.kv_heads, 4);
  EXPECT_EQ(model.head_dim, 2);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_FALSE(model.value_head);
}

TEST(ModelTest, RefusesImpossibleShapes) {
  Json json = small();
  json["kv_heads"] = 3;
  EXPECT_EQ(refusal_as<Model>(json), "/kv_heads: expected a divisor of the 4 heads, got 3");
  json = small();
  json["heads"] = 3;
  EXPECT_EQ(refusal_as<Model>(json), "missing member \"head_dim\": hidden 8 is not divisible by 3 heads");
  json = small();
  json["experts"] = {{"count", 4}, {"active_per_token", 5}, {"intermediate", 16}};
  EXPECT_EQ(refusal_as<Model>(json),
            "/experts/active_per_token: expected at most the layer's 4 experts, got 5");
  json = small();
  json["experts"] = {{"count", 4}, {"active_per_token", 2}, {"intermediate", 16}, {"dense_layers", 2}};
  EXPECT_EQ(refusal_as<Model>(json), "/experts/dense_layers: expected fewer than the model's 2 layers, got 2");
  json = small();
  json["sliding_window_layers"] = 3;
  EXPECT_EQ(refusal_as<Model>(json), "/sliding_window_layers: expected at most the model's 2 layers, got 3");
  json = small();
  json["layers"] = 0;
  EXPECT_EQ(refusal_as<Model>(json), "/layers: expected an integer from 1 to 100000, got 0");
  json["layers"] = 2147483647;
  EXPECT_EQ(refusal_as<Model>(json), "/layers: expected an integer from 1 to 100000, got 2147483647");
  json = small();
  json.erase("vocabulary");
  EXPECT_EQ(refusal_as<Model>(json), "missing member \"vocabulary\"");
}

}  // namespace
}  // namespace sextant
