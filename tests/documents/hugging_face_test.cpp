// Hugging Face configs: totals of parameters, shapes, notes and refusals.
#include "documents/hugging_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/documents/checkpoint_parameters.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Json config_file(const std::string& file) {
  return parse_json(read_text_file(std::string(SEXTANT_SOURCE_DIR) + "/data/configs/" + file));
}

Json sources() { return config_file("sources.json")["configs"]; }

ConfigModel read_config(const Json& config) { return model_from_config(JsonView(config), "m"); }

std::string config_refusal(const Json& config) {
  return refusal_of([&config] { (void)read_config(config); });
}

Json llama() { return config_file("Llama-3.1-8B.json"); }

// The total of the published tensors equals the Model's count and what checkpoint_parameters.h adds, to the
// last parameter. Rounded, because a Model counts the mean of layers with and without experts.
TEST(HuggingFace, TotalsAreThoseOfThePublishedCheckpoints) {
  int published = 0;
  for (const Json& source : sources()) {
    const std::string file = source["file"];
    const Json config = config_file(file);
    const Model model = read_config(config).model;
    const double total =
        model.parameters() + uncounted_parameters(model, config) + stored_besides(file, model, config);
    EXPECT_EQ(std::round(total), source["total"].get<double>()) << file;
    if (!source.contains("computed")) ++published;
  }
  EXPECT_GE(published, 40);
}

TEST(HuggingFace, EveryConfigSaysItsSource) {
  for (const Json& source : sources()) {
    EXPECT_GT(source["config"].get<std::string>().size(), 10U) << source["file"];
    EXPECT_GT(source["total_source"].get<std::string>().size(), 10U) << source["file"];
  }
}

// The shapes of data/models.json were collected by hand from other sources.
TEST(HuggingFace, ShapesAreThoseOfTheCarriedFacts) {
  std::map<std::string, Model> facts;
  const Json json = parse_json(read_text_file(SEXTANT_SOURCE_DIR "/data/models.json"));
  for (const JsonView& entry : JsonView(json).required("models").items()) {
    Model model = Model::parse(entry);
    facts.emplace(model.name, model);
  }
  int compared = 0;
  for (const Json& source : sources()) {
    if (!source.contains("facts")) continue;
    Model expected = facts.at(source["facts"]);
    expected.source.reset();
    expected.context_tokens = 0;  // the carried configs state no positions
    Model model = model_from_config(JsonView(config_file(source["file"])), expected.name).model;
    model.context_tokens = 0;
    EXPECT_EQ(model, expected) << format_json(model.to_json());
    ++compared;
  }
  EXPECT_GE(compared, 30);
}

TEST(HuggingFace, EveryShapeIsAModelDocument) {
  for (const Json& source : sources()) {
    const Model model = read_config(config_file(source["file"])).model;
    const Json written = model.to_json();
    EXPECT_EQ(Model::parse(JsonView(written)), model) << source["file"];
  }
}

TEST(HuggingFace, LayersOfNemotronAreMambaAttentionOrAnMlpAlone) {
  Json config = config_file("Nemotron-Nano-9B-v2.json");
  const Model model = read_config(config).model;
  EXPECT_EQ(model.mlp_layers, 25);
  EXPECT_EQ(model.linear_attention, (LinearAttention{27, 8, 128, 128, 80, 4, 1}));
  EXPECT_NEAR(model.full_attention_share() * model.layers, 4, 1e-12);
  EXPECT_EQ(model.parts_per_layer(), 1);
  // The same as a list of names, which newer configs have.
  const std::string pattern = config["hybrid_override_pattern"];
  Json names = Json::array();
  for (const char kind : pattern) names.push_back(kind == 'M' ? "mamba" : kind == '*' ? "attention" : "mlp");
  config.erase("hybrid_override_pattern");
  config["layers_block_type"] = names;
  EXPECT_EQ(read_config(config).model, model);
  config["layers_block_type"][3] = "convolution";
  EXPECT_THAT(config_refusal(config),
              HasSubstr("layers of another kind than Mamba, attention, MLP and experts"));
  config["layers_block_type"].erase(3);
  EXPECT_THAT(config_refusal(config), HasSubstr("expected 56 layers, as num_hidden_layers says, got 55"));
  Json latent = config_file("Nemotron-3-Nano-30B-A3B.json");
  EXPECT_EQ(read_config(latent).model.experts, (Experts{128, 6, 1856, 3712, 0}));
  latent["moe_latent_size"] = 1024;
  EXPECT_THAT(config_refusal(latent), HasSubstr("experts that compute in a space of fewer dimensions"));
}

TEST(HuggingFace, GlmIsReadAsItsPublishedShape) {
  const Json config = {{"architectures", {"Glm4MoeForCausalLM"}},
                       {"model_type", "glm4_moe"},
                       {"hidden_size", 5120},
                       {"intermediate_size", 12288},
                       {"num_hidden_layers", 92},
                       {"num_attention_heads", 96},
                       {"num_key_value_heads", 8},
                       {"head_dim", 128},
                       {"vocab_size", 151552},
                       {"n_routed_experts", 160},
                       {"n_shared_experts", 1},
                       {"num_experts_per_tok", 8},
                       {"moe_intermediate_size", 1536},
                       {"first_k_dense_replace", 3},
                       {"tie_word_embeddings", false}};
  const ConfigModel read = read_config(config);
  EXPECT_EQ(read.model.experts, (Experts{160, 8, 1536, 1536, 3}));
  EXPECT_EQ(read.model.head_dim, 128);  // not 5120 / 96
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(HuggingFace, ClassDefaultsFillWhatTheConfigLeavesOut) {
  const Model gemma = read_config(config_file("gemma-3-4b.json")).model;  // no heads, no vocabulary
  EXPECT_EQ(gemma.heads, 8);
  EXPECT_EQ(gemma.kv_heads, 4);
  EXPECT_EQ(gemma.head_dim, 256);
  EXPECT_EQ(gemma.vocabulary, 262208);
  EXPECT_TRUE(gemma.tied_embeddings);
  Json config = llama();
  config.erase("num_key_value_heads");
  config.erase("tie_word_embeddings");
  EXPECT_EQ(read_config(config).model.kv_heads, 32);
  EXPECT_FALSE(read_config(config).model.tied_embeddings);
}

struct WindowCase {
  const char* file;
  int tokens, layers;
};

TEST(HuggingFace, WindowsAreCountedByLayer) {
  const WindowCase cases[] = {{"Mistral-7B-v0.1.json", 4096, 0},  // all layers
                              {"Mistral-7B-v0.3.json", 0, 0},     // null
                              {"Qwen2.5-7B.json", 0, 0},          // use_sliding_window is false
                              {"gemma-2-9b.json", 4096, 21},      // every second
                              {"gemma-3-27b.json", 1024, 52},     // all but every sixth
                              {"gpt-oss-20b.json", 128, 12},      // listed
                              {"Llama-4-Scout-17B-16E.json", 8192, 36},
                              {"Llama-4-Maverick-17B-128E.json", 8192, 36}};  // without a list
  for (const WindowCase& expected : cases) {
    const Model model = read_config(config_file(expected.file)).model;
    EXPECT_EQ(model.sliding_window, expected.tokens) << expected.file;
    EXPECT_EQ(model.sliding_window_layers, expected.layers) << expected.file;
  }
  Json qwen = config_file("Qwen2.5-7B.json");
  qwen["use_sliding_window"] = true;
  qwen["max_window_layers"] = 21;
  EXPECT_EQ(read_config(qwen).model.sliding_window_layers, 7);
}

TEST(HuggingFace, DenseLayersAmongExperts) {
  EXPECT_EQ(read_config(config_file("Llama-4-Maverick-17B-128E.json")).model.experts->dense_layers, 24);
  Json qwen = config_file("Qwen3-30B-A3B.json");
  qwen["mlp_only_layers"] = {0, 1, 47};
  qwen["decoder_sparse_step"] = 2;  // layers 1, 3, ... have experts, but 1 and 47 are listed
  EXPECT_EQ(read_config(qwen).model.experts->dense_layers, 26);
  qwen["decoder_sparse_step"] = 64;
  EXPECT_FALSE(read_config(qwen).model.experts.has_value());
}

// The longest sequences are those that engines take: rope scaling multiplies the positions, unless they are stated after it.
TEST(HuggingFace, ScalingLengthensTheContext) {
  Json config = config_file("Qwen3-8B.json");
  const auto tokens = [&config] { return read_config(config).model.context_tokens; };
  config.erase("max_position_embeddings");
  EXPECT_EQ(tokens(), 0);
  config["max_position_embeddings"] = 40960;
  EXPECT_EQ(tokens(), 40960);
  config["rope_scaling"] = nullptr;
  EXPECT_EQ(tokens(), 40960);
  config["rope_scaling"] = {
      {"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}};
  EXPECT_EQ(tokens(), 131072);
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 2.0}};
  EXPECT_EQ(tokens(), 81920);
  config["rope_scaling"] = {
      {"rope_type", "llama3"}, {"factor", 8.0}, {"original_max_position_embeddings", 8192}};
  EXPECT_EQ(tokens(), 40960);
  config["rope_scaling"] = {{"rope_type", "default"}, {"mrope_section", {16, 24, 24}}};
  EXPECT_EQ(tokens(), 40960);
}

TEST(HuggingFace, NewerNameOfTheNumberOfExperts) {
  Json qwen = config_file("Qwen3-30B-A3B.json");
  qwen.erase("num_experts");
  qwen["num_local_experts"] = 128;
  EXPECT_EQ(read_config(qwen).model, read_config(config_file("Qwen3-30B-A3B.json")).model);
}

TEST(HuggingFace, NotesSayWhatIsLeftOut) {
  EXPECT_THAT(
      read_config(config_file("Qwen3-VL-8B.json")).notes,
      ElementsAre(
          "Qwen3VLForConditionalGeneration is read as its language model, without its encoder of images: the "
          "encoder's weights and time are not counted, and tokens of images only where the lengths of prompts "
          "have them."));
  EXPECT_THAT(read_config(config_file("Qwen2-VL-7B.json")).notes,
              ElementsAre(HasSubstr("without its encoder of images:")));
  EXPECT_THAT(read_config(config_file("DeepSeek-V3.json")).notes,
              ElementsAre("Layers for multi-token prediction are left out: 1."));
  EXPECT_THAT(read_config(config_file("Llama-4-Scout-17B-16E.json")).notes,
              ElementsAre(HasSubstr("Chunks of 8192 tokens"), HasSubstr("encoder of images")));
  EXPECT_THAT(read_config(llama()).notes, IsEmpty());
}

TEST(HuggingFace, LayersOfLinearAttentionAreCounted) {
  Json config = config_file("Qwen3.5-27B.json");
  const Model model = read_config(config).model;
  EXPECT_EQ(model.linear_attention, (LinearAttention{48, 16, 48, 128, 128, 4}));
  EXPECT_TRUE(model.attention_gate);
  EXPECT_EQ(model.context_tokens, 262144);
  EXPECT_THAT(read_config(config).notes, ElementsAre(HasSubstr("encoder of images"),
                                                     "Layers for multi-token prediction are left out: 1."));
  // The same layers by name.
  Json types = Json::array();
  for (int layer = 1; layer <= 64; ++layer)
    types.push_back(layer % 4 == 0 ? "full_attention" : "linear_attention");
  config["text_config"]["layer_types"] = types;
  EXPECT_EQ(read_config(config).model, model);
  config["text_config"]["layer_types"][5] = "mamba";
  EXPECT_THAT(config_refusal(config), HasSubstr("layers of the kind \"mamba\""));
}

TEST(HuggingFace, CriticsHaveAValueHead) {
  Json config = llama();
  config["architectures"] = {"LlamaForTokenClassification"};
  EXPECT_TRUE(read_config(config).model.value_head);
}

TEST(HuggingFace, UnknownArchitecturesAreRefusedByName) {
  Json config = llama();
  config["architectures"] = {"NewForCausalLM"};
  config["model_type"] = "new";
  EXPECT_EQ(config_refusal(config),
            "/model_type: unknown architecture \"NewForCausalLM\" (model_type \"new\"); a model document can "
            "state its "
            "shape instead");
  config.erase("architectures");
  EXPECT_THAT(config_refusal(config), HasSubstr("unknown architecture \"new\""));
}

TEST(HuggingFace, ShapesThatAModelCannotDescribeAreRefusedWithTheReason) {
  const auto refused = [](const char* type) {
    Json config = llama();
    config["model_type"] = type;
    return config_refusal(config);
  };
  EXPECT_THAT(refused("kimi_linear"),
              HasSubstr("/model_type: the architecture \"LlamaForCausalLM\" (model_type "
                        "\"kimi_linear\") has layers of linear attention"));
  EXPECT_THAT(refused("jamba"), HasSubstr("has Mamba layers"));
  EXPECT_THAT(refused("glm_moe_dsa"), HasSubstr("has sparse attention"));
  EXPECT_THAT(refused("bloom"), HasSubstr("has positions by ALiBi"));
  Json config = llama();
  config["is_encoder_decoder"] = true;
  EXPECT_THAT(config_refusal(config), HasSubstr("is an encoder and a decoder"));
  config = {{"architectures", {"MiniMaxM3ForConditionalGeneration"}},
            {"model_type", "minimax_m3_vl"},
            {"text_config", {{"model_type", "minimax_m3"}}}};
  EXPECT_THAT(config_refusal(config), HasSubstr("/text_config/model_type: the architecture \"MiniMaxM3For"));
  config = llama();
  config["num_hidden_layers"] = 2;
  config["layer_types"] = {"full_attention", "linear_attention"};
  EXPECT_THAT(config_refusal(config), HasSubstr("/layer_types/1: layers of the kind \"linear_attention\""));
}

TEST(HuggingFace, MalformedMembersAreRefusedWithTheirPath) {
  const auto refused = [](const char* member, const Json& value) {
    Json config = config_file("Mixtral-8x7B-v0.1.json");
    config[member] = value;
    return config_refusal(config);
  };
  EXPECT_THAT(refused("num_hidden_layers", 2147483647),
              HasSubstr("/num_hidden_layers: expected at most 100000 layers"));
  EXPECT_EQ(refused("hidden_size", "4096"), "/hidden_size: expected an integer >= 1, got \"4096\"");
  EXPECT_THAT(refused("num_attention_heads", 0),
              HasSubstr("/num_attention_heads: expected an integer >= 1, got 0"));
  EXPECT_THAT(refused("num_key_value_heads", -8), HasSubstr("/num_key_value_heads: expected an integer >= 1"));
  EXPECT_THAT(refused("num_key_value_heads", 5), HasSubstr("not divisible by num_key_value_heads"));
  EXPECT_THAT(refused("num_hidden_layers", 1e30), HasSubstr("/num_hidden_layers: expected an integer"));
  EXPECT_THAT(refused("vocab_size", nullptr), HasSubstr("missing member \"vocab_size\""));
  EXPECT_THAT(refused("num_experts_per_tok", 9), HasSubstr("/num_experts_per_tok: expected at most"));
  EXPECT_THAT(refused("tie_word_embeddings", 1), HasSubstr("/tie_word_embeddings: expected"));
  EXPECT_THAT(refused("layer_types", {"full_attention"}), HasSubstr("/layer_types: expected 32 layers, got 1"));
  EXPECT_THAT(refused("architectures", "Mixtral"), HasSubstr("/architectures: expected"));
  EXPECT_THAT(refused("text_config", Json::array()), HasSubstr("/text_config: expected"));
  EXPECT_THAT(config_refusal(Json::array()), HasSubstr("expected"));
  EXPECT_THAT(config_refusal(Json::object()), HasSubstr("missing member \"model_type\""));
  Json config = config_file("Qwen3-30B-A3B.json");
  config["decoder_sparse_step"] = 0;
  EXPECT_THAT(config_refusal(config), HasSubstr("/decoder_sparse_step: expected an integer >= 1"));
  config = config_file("DeepSeek-V3.json");
  config["n_shared_experts"] = 2000000;
  EXPECT_THAT(config_refusal(config), HasSubstr("/n_shared_experts: expected"));
}

TEST(HuggingFace, NumbersThatOnlyPythonWritesAreNull) {
  const Json config =
      parse_config(R"({"time_step_limit": [0.0, Infinity, -Infinity], "a": "NaN \"Infinity", "b": NaN})");
  EXPECT_EQ(config,
            (Json{{"time_step_limit", {0.0, nullptr, nullptr}}, {"a", "NaN \"Infinity"}, {"b", nullptr}}));
  EXPECT_THAT(refusal_of([] { (void)parse_config("{\"a\": Infinit}"); }), HasSubstr("/a"));
}

TEST(HuggingFace, OldVisionLanguageConfigsStateTheTypeOnce) {
  Json config = {{"model_type", "llama"}, {"text_config", llama()}};
  config["text_config"].erase("model_type");
  EXPECT_EQ(read_config(config).model, read_config(llama()).model);
}

// No member of a config can crash the reader: each is removed or replaced in turn.
TEST(HuggingFace, AnyMemberMayBeMissingOrWrong) {
  const Json values[] = {nullptr, 0, -1, 1e300, "text", true, Json::array(), Json::object(), {1, "a"}};
  for (const Json& source : sources()) {
    const Json config = config_file(source["file"]);
    const bool is_nested = config.contains("text_config");
    const Json& members = is_nested ? config["text_config"] : config;
    for (const auto& item : members.items()) {
      for (const Json& value : values) {
        Json changed = config;
        (is_nested ? changed["text_config"] : changed)[item.key()] = value;
        try {
          (void)read_config(changed).model.parameters();
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::bad_input) << item.key();
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant
