#include "documents/hugging_face_architectures.h"

#include <algorithm>

namespace sextant::inline documents {
namespace {

constexpr ExpertMembers kMixtral{.count = "num_local_experts", .width = "intermediate_size"};
constexpr ExpertMembers kMiniMax{
    .count = "num_local_experts", .width = "intermediate_size", .shared_width = "shared_intermediate_size"};
constexpr ExpertMembers kOlmoe{.count = "num_experts", .width = "intermediate_size"};
constexpr ExpertMembers kQwen{.count = "num_experts",
                              .width = "moe_intermediate_size",
                              .shared_width = "shared_expert_intermediate_size",
                              .layers = ExpertLayers::every_sparse_step};
constexpr ExpertMembers kDeepSeek{.count = "n_routed_experts",
                                  .width = "moe_intermediate_size",
                                  .shared_count = "n_shared_experts",
                                  .layers = ExpertLayers::after_first_dense};
constexpr ExpertMembers kLlama4{.count = "num_local_experts",
                                .width = "intermediate_size",
                                .shared_width = "intermediate_size",
                                .layers = ExpertLayers::every_interleave_step};

// Class defaults are those of huggingface/transformers, src/transformers/models/NAME/configuration_NAME.py.
// Only members that published configs leave out need one; a missing member without a default is an error.
const std::vector<Architecture>& architectures() {
  using enum WindowLayers;
  static const std::vector<ClassDefault> qwen_defaults = {{"num_key_value_heads", 32},
                                                          {"max_window_layers", 28}};
  static const std::vector<ClassDefault> qwen3_defaults = {
      {"num_key_value_heads", 32}, {"head_dim", 128}, {"max_window_layers", 28}};
  static const std::vector<ClassDefault> gemma3_defaults = {
      {"num_attention_heads", 8}, {"num_key_value_heads", 4}, {"head_dim", 256},
      {"vocab_size", 262208},     {"sliding_window", 4096},   {"sliding_window_pattern", 6}};
  static const std::vector<ClassDefault> sparse_defaults = {{"decoder_sparse_step", 1}};
  static const std::vector<ClassDefault> linear_defaults = {{"head_dim", 256},
                                                            {"decoder_sparse_step", 1},
                                                            {"full_attention_interval", 4},
                                                            {"linear_key_head_dim", 128},
                                                            {"linear_value_head_dim", 128},
                                                            {"linear_conv_kernel_dim", 4}};
  static const std::vector<Architecture> table = {
      {.model_type = "llama"},
      {.model_type = "llama4_text",
       .windows = chunked,
       .experts = &kLlama4,
       .dense_width = "intermediate_size_mlp",
       .defaults = {{"interleave_moe_layer_step", 1}, {"no_rope_layer_interval", 4}, {"head_dim", 128}}},
      {.model_type = "mistral",
       .windows = all,
       .defaults = {{"num_key_value_heads", 8}, {"sliding_window", 4096}}},
      {.model_type = "ministral3", .windows = all, .defaults = {{"num_key_value_heads", 8}, {"head_dim", 128}}},
      {.model_type = "mixtral", .windows = all, .experts = &kMixtral, .defaults = {{"num_key_value_heads", 8}}},
      {.model_type = "qwen2", .windows = after_max_window, .defaults = qwen_defaults},
      {.model_type = "qwen2_vl", .windows = after_max_window, .defaults = qwen_defaults},
      {.model_type = "qwen2_vl_text", .windows = after_max_window, .defaults = qwen_defaults},
      {.model_type = "qwen2_5_vl", .windows = after_max_window, .defaults = qwen_defaults},
      {.model_type = "qwen2_5_vl_text", .windows = after_max_window, .defaults = qwen_defaults},
      {.model_type = "qwen2_moe",
       .windows = after_max_window,
       .experts = &kQwen,
       .defaults = {{"num_key_value_heads", 16}, {"max_window_layers", 28}, {"decoder_sparse_step", 1}}},
      {.model_type = "qwen3", .windows = after_max_window, .defaults = qwen3_defaults},
      {.model_type = "qwen3_vl_text", .defaults = qwen3_defaults},
      {.model_type = "qwen3_moe", .windows = after_max_window, .experts = &kQwen, .defaults = sparse_defaults},
      {.model_type = "qwen3_vl_moe_text", .experts = &kQwen, .defaults = sparse_defaults},
      {.model_type = "qwen3_next", .linear_attention = true, .experts = &kQwen, .defaults = linear_defaults},
      {.model_type = "qwen3_5_text", .linear_attention = true, .defaults = linear_defaults},
      // No layer has a dense MLP, so that the class has no width for one.
      {.model_type = "qwen3_5_moe_text",
       .linear_attention = true,
       .experts = &kQwen,
       .dense_width = "moe_intermediate_size",
       .defaults = linear_defaults},
      {.model_type = "deepseek_v2", .latent_attention = true, .experts = &kDeepSeek},
      {.model_type = "deepseek_v3", .latent_attention = true, .experts = &kDeepSeek},
      {.model_type = "kimi_k2", .latent_attention = true, .experts = &kDeepSeek},
      {.model_type = "deepseek", .experts = &kDeepSeek},
      {.model_type = "glm", .defaults = {{"head_dim", 128}, {"num_key_value_heads", 2}}},
      {.model_type = "glm4", .defaults = {{"head_dim", 128}, {"num_key_value_heads", 2}}},
      {.model_type = "glm4v_text", .defaults = {{"num_key_value_heads", 2}}},
      {.model_type = "glm4_moe",
       .experts = &kDeepSeek,
       .defaults = {{"num_key_value_heads", 8}, {"first_k_dense_replace", 1}}},
      {.model_type = "glm4v_moe_text",
       .experts = &kDeepSeek,
       .defaults = {{"num_key_value_heads", 8}, {"first_k_dense_replace", 1}}},
      {.model_type = "glm4_moe_lite", .latent_attention = true, .experts = &kDeepSeek},
      {.model_type = "gpt_oss",
       .windows = by_pattern,
       .experts = &kMixtral,
       .defaults = {{"num_key_value_heads", 8},
                    {"head_dim", 64},
                    {"sliding_window", 128},
                    {"sliding_window_pattern", 2}}},
      {.model_type = "gemma",
       .tied_embeddings = true,
       .defaults = {{"num_key_value_heads", 16}, {"head_dim", 256}, {"vocab_size", 256000}}},
      {.model_type = "gemma2",
       .tied_embeddings = true,
       .windows = by_pattern,
       .defaults = {{"num_key_value_heads", 4},
                    {"head_dim", 256},
                    {"vocab_size", 256000},
                    {"sliding_window", 4096},
                    {"sliding_window_pattern", 2}}},
      {.model_type = "gemma3_text",
       .tied_embeddings = true,
       .windows = by_pattern,
       .defaults = gemma3_defaults},
      {.model_type = "phi", .gated_mlp = false},
      {.model_type = "phi3", .windows = all},
      {.model_type = "phimoe", .windows = all, .experts = &kMixtral, .defaults = {{"num_key_value_heads", 8}}},
      {.model_type = "olmo"},
      {.model_type = "olmo2"},
      {.model_type = "olmo3",
       .windows = by_pattern,
       .defaults = {{"sliding_window", 4096}, {"sliding_window_pattern", 4}}},
      {.model_type = "olmoe", .experts = &kOlmoe},
      {.model_type = "nemotron", .gated_mlp = false},
      {.model_type = "nemotron_h",
       .gated_mlp = false,
       .hybrid = true,
       .defaults = {{"num_key_value_heads", 8}}},
      {.model_type = "minimax_m2", .experts = &kMiniMax},
      {.model_type = "granite"},
      {.model_type = "granitemoe", .experts = &kMixtral},
      {.model_type = "mimo"},
      {.model_type = "seed_oss"},
      {.model_type = "smollm3", .tied_embeddings = true, .defaults = {{"num_key_value_heads", 4}}},
      {.model_type = "arcee", .gated_mlp = false},
  };
  return table;
}

struct Refusal {
  std::string_view reason;
  std::vector<std::string_view> model_types;
};

const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> table = {
      {"has layers of linear attention",
       {"kimi_linear", "minimax", "minimax_text_01", "minimax_m1", "bailing_moe_linear"}},
      {"has Mamba layers",
       {"mamba", "mamba2", "falcon_mamba", "falcon_h1", "jamba", "bamba", "zamba", "zamba2",
        "granitemoehybrid"}},
      {"has recurrent layers", {"recurrent_gemma", "rwkv", "xlstm"}},
      {"has layers of convolution", {"lfm2", "lfm2_moe"}},
      {"has sparse attention, to tokens that an indexer picks",
       {"deepseek_v32", "deepseek_v4", "glm_moe_dsa", "minimax_m3", "minimax_m3_vl"}},
      {"has layers of unlike shape (block_configs)", {"nemotron-nas"}},
      {"has heads of another shape in layers with a window",
       {"gemma4", "gemma4_text", "mimo_v2_flash", "step3p5", "step3p7"}},
      {"has embeddings for each layer", {"gemma3n", "gemma3n_text"}},
      {"has layers of cross-attention", {"mllama", "mllama_text_model"}},
      {"has positions by ALiBi", {"bloom", "mpt", "baichuan"}},
      {"is an encoder and a decoder", {"t5", "mt5", "umt5", "bart", "mbart", "t5gemma", "whisper"}},
      {"is an encoder", {"bert", "roberta", "xlm-roberta", "deberta-v2", "distilbert", "modernbert"}},
  };
  return table;
}

}  // namespace

const Architecture* find_architecture(const std::string& model_type) {
  const auto& table = architectures();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Architecture& architecture) {
    return architecture.model_type == model_type;
  });
  return found == table.end() ? nullptr : &*found;
}

std::string_view why_no_architecture(const std::string& model_type) {
  for (const Refusal& refusal : refusals()) {
    const auto& types = refusal.model_types;
    if (std::find(types.begin(), types.end(), model_type) != types.end()) return refusal.reason;
  }
  return {};
}

}  // namespace sextant::inline documents
