#include "tests/documents/checkpoint_parameters.h"

#include <cmath>
#include <functional>
#include <map>

namespace sextant {
namespace {

const Json& language_model(const Json& config) {
  return config.contains("text_config") ? config["text_config"] : config;
}

bool flag(const Json& config, const std::string& member) { return config.value(member, false); }

// One vector of the hidden size before attention, one before the MLP, one after the last layer (RMSNorm).
double two_norms(const Model& m) { return (2.0 * m.layers + 1) * m.hidden; }
// Gemma also has one after attention and one after the MLP.
double four_norms(const Model& m) { return (4.0 * m.layers + 1) * m.hidden; }
double qkv_biases(const Model& m) { return m.layers * (m.heads + 2.0 * m.kv_heads) * m.head_dim; }
// Normalisation of queries and keys: one vector for all heads of a layer, or one for each head.
double qk_norms_per_head(const Model& m) { return m.layers * 2.0 * m.head_dim; }
double qk_norms_per_layer(const Model& m) { return m.layers * (m.heads + 1.0 * m.kv_heads) * m.head_dim; }
double expert_layers(const Model& m) { return m.layers - m.experts->dense_layers; }
// One number per expert and layer that balances the routing (e_score_correction_bias).
double routing_biases(const Model& m) { return expert_layers(m) * m.experts->count; }
// Normalisations of the compressed queries, keys and values.
double latent_norms(const Model& m) {
  return m.layers * (m.latent_attention->query_rank + 1.0 * m.latent_attention->kv_rank);
}

// Linear attention: two numbers for each value head (its decay), and a norm of a head's values. The other layers:
// norms of queries and keys.
double mixer_norms(const Model& m) {
  const LinearAttention& linear = *m.linear_attention;
  return linear.layers * (2.0 * linear.value_heads + linear.value_dim) +
         (m.layers - linear.layers) * 2.0 * m.head_dim;
}

// Norms of Nemotron-H: one in each layer and one after the last. Mamba-2: the biases of the convolution, three numbers for
// each head, and a norm of the values.
double nemotron_h(const Model& m) {
  const LinearAttention& mamba = *m.linear_attention;
  const double of_mamba = mamba.mixed_width() + 3.0 * mamba.value_heads + mamba.value_width();
  const double biases = m.experts ? (m.mlp_layers - m.experts->dense_layers) * 1.0 * m.experts->count : 0;
  return (m.layers + 1.0) * m.hidden + mamba.layers * of_mamba + biases;
}

double glm_moe(const Model& m, const Json& part) {
  return two_norms(m) + qkv_biases(m) + routing_biases(m) +
         (flag(part, "use_qk_norm") ? qk_norms_per_head(m) : 0);
}

// Biases of queries, keys, values and outputs, one sink per head, biases of router and experts.
double gpt_oss(const Model& m) {
  const double biases_of_expert = 2.0 * m.experts->intermediate + m.hidden;
  const double experts = m.experts->count * (1 + biases_of_expert);
  return two_norms(m) + qkv_biases(m) + m.layers * (m.hidden + m.heads + experts);
}

// LayerNorm with biases, one per layer and one after the last; a bias for each matrix, that of the head
// included.
double phi(const Model& m) {
  const double norms = (m.layers + 1.0) * 2 * m.hidden;
  return norms + qkv_biases(m) + m.layers * (2.0 * m.hidden + m.intermediate) + m.vocabulary;
}

using Rule = std::function<double(const Model&, const Json&)>;

const std::map<std::string, Rule>& rules() {
  const Rule llama = [](const Model& m, const Json&) { return two_norms(m); };
  const Rule qwen2 = [](const Model& m, const Json&) { return two_norms(m) + qkv_biases(m); };
  const Rule qwen3 = [](const Model& m, const Json&) { return two_norms(m) + qk_norms_per_head(m); };
  const Rule olmo = [](const Model& m, const Json&) { return two_norms(m) + qk_norms_per_layer(m); };
  const Rule deepseek = [](const Model& m, const Json&) {
    return two_norms(m) + latent_norms(m) + routing_biases(m);
  };
  static const std::map<std::string, Rule> table = {
      {"llama", llama},
      {"llama4_text", llama},
      {"mistral", llama},
      {"mixtral", llama},
      {"phi3", llama},
      {"smollm3", llama},
      {"deepseek", llama},
      {"qwen2", qwen2},
      {"qwen2_vl", qwen2},
      {"qwen2_5_vl", qwen2},
      {"mimo", qwen2},
      {"seed_oss", qwen2},
      // A gate of the shared expert: one weight per hidden dimension and layer.
      {"qwen2_moe",
       [](const Model& m, const Json&) { return two_norms(m) + qkv_biases(m) + 1.0 * m.layers * m.hidden; }},
      {"qwen3", qwen3},
      {"qwen3_moe", qwen3},
      {"qwen3_vl_text", qwen3},
      {"gemma2", [](const Model& m, const Json&) { return four_norms(m); }},
      {"gemma3_text", [](const Model& m, const Json&) { return four_norms(m) + qk_norms_per_head(m); }},
      {"phi", [](const Model& m, const Json&) { return phi(m); }},
      {"qwen3_5_text", [](const Model& m, const Json&) { return two_norms(m) + mixer_norms(m); }},
      // A gate of the shared expert, as qwen2_moe has.
      {"qwen3_5_moe_text",
       [](const Model& m, const Json&) { return two_norms(m) + mixer_norms(m) + 1.0 * m.layers * m.hidden; }},
      {"qwen3_next",
       [](const Model& m, const Json&) { return two_norms(m) + mixer_norms(m) + 1.0 * m.layers * m.hidden; }},
      {"olmo2", olmo},
      {"olmoe", olmo},
      {"minimax_m2",
       [](const Model& m, const Json&) { return two_norms(m) + qk_norms_per_layer(m) + routing_biases(m); }},
      {"nemotron_h", [](const Model& m, const Json&) { return nemotron_h(m); }},
      {"gpt_oss", [](const Model& m, const Json&) { return gpt_oss(m); }},
      {"nemotron", [](const Model& m, const Json&) { return 2 * two_norms(m); }},  // LayerNorm with biases
      {"deepseek_v2", [](const Model& m, const Json&) { return two_norms(m) + latent_norms(m); }},
      {"deepseek_v3", deepseek},
      {"glm4_moe_lite", deepseek},
      {"kimi_k2", deepseek},
      {"glm4_moe", glm_moe},
  };
  return table;
}

double linear(double in, double out, bool has_bias = true) { return in * out + (has_bias ? out : 0); }

// A layer of a vision transformer as in SigLIP and Llama 4: two LayerNorms, attention and MLP, all with biases.
double vision_layer(double hidden, double intermediate) {
  return 4 * hidden + 4 * linear(hidden, hidden) + linear(hidden, intermediate) + linear(intermediate, hidden);
}

// 27 layers, patches of 14 of 896 x 896 pixels, and one projection with its RMSNorm
// (Gemma3MultiModalProjector).
double gemma3_vision(const Model& m, const Json&) {
  const double h = 1152, positions = 64 * 64;
  return 27 * vision_layer(h, 4304) + linear(3 * 14 * 14, h) + positions * h + 2 * h + h * m.hidden + h;
}

// 34 layers, 24 x 24 patches and a class token, an adapter of two matrices and a projection, without biases.
double llama4_vision(const Model& m, const Json&) {
  const double h = 1408;
  const double adapter = 5632.0 * 4096 + 4096.0 * 4096;
  return 34 * vision_layer(h, 5632) + 588 * h + h + 577 * h + 4 * h + adapter + 4096.0 * m.hidden;
}

// Pixtral: 24 Llama layers of hidden size 1024; four patches are merged into one, then two projections.
double pixtral_vision(const Model& m, const Json&) {
  const double h = 1024;
  const double layer = 4 * h * h + 3 * h * 4096 + 2 * h;
  return 3 * 14 * 14 * h + h + 24 * layer + h + 4 * h * h + h * m.hidden + 1.0 * m.hidden * m.hidden;
}

// Merges four patches of hidden size h: LayerNorm of `width`, two matrices with biases.
double patch_merger(double h, double width, double out) {
  return 2 * width + linear(4 * h, 4 * h) + linear(4 * h, out);
}

double qwen2_vision(const Model& m, const Json&) {
  const double h = 1280;
  return 3 * 2 * 14 * 14 * h + 32 * vision_layer(h, 4 * h) + patch_merger(h, h, m.hidden);
}

// RMSNorm in place of LayerNorm, and a gated MLP.
double qwen2_5_vision(const Model& m, const Json& config) {
  const double h = 1280, inner = config["vision_config"]["intermediate_size"];
  const double layer = 2 * h + linear(h, 3 * h) + linear(h, h) + 2 * linear(h, inner) + linear(inner, h);
  return 3 * 2 * 14 * 14 * h + 32 * layer + h + linear(4 * h, 4 * h) + linear(4 * h, m.hidden);
}

// Three further mergers feed layers of the language model (deepstack).
double qwen3_vision(const Model& m, const Json&) {
  const double h = 1152;
  return linear(3 * 2 * 16 * 16, h) + 2304 * h + 27 * vision_layer(h, 4304) + patch_merger(h, h, m.hidden) +
         3 * patch_merger(h, 4 * h, m.hidden);
}

double qwen3_5_vision(const Model& m, double h, double intermediate, double depth) {
  return linear(3 * 2 * 16 * 16, h) + 2304 * h + depth * vision_layer(h, intermediate) +
         patch_merger(h, h, m.hidden);
}

// A layer of attention with its gate, norms included, and the projection of two hidden states with three norms; it
// shares embedding and head.
double gated_prediction(const Model& m, const Json&) {
  const double h = m.hidden, query = 1.0 * m.heads * m.head_dim, key = 1.0 * m.kv_heads * m.head_dim;
  double mlp = 3 * h * m.intermediate;
  if (m.experts) {
    mlp = 3 * h * (1.0 * m.experts->count * m.experts->intermediate + m.experts->shared_intermediate) +
          h * m.experts->count + h;
  }
  return 3 * h * query + 2 * h * key + mlp + 2.0 * m.head_dim + 2 * h + 2 * h * h + 3 * h;
}

double qwen3_5(const Model& m, const Json& part) {
  return qwen3_5_vision(m, 1152, 4304, 27) + gated_prediction(m, part);
}

// Models of 4B and below have a smaller encoder.
double small_qwen3_5(const Model& m, const Json& part) {
  return qwen3_5_vision(m, 1024, 4096, 24) + gated_prediction(m, part);
}

double expert_layer(const Model& m) {
  const Experts& e = *m.experts;
  const double matrices = 3.0 * m.hidden * (1.0 * e.count * e.intermediate + e.shared_intermediate);
  return m.attention_parameters() + matrices + 1.0 * m.hidden * e.count;
}

// A further layer for the next token but one: a projection of two hidden states, three norms, and its own
// copies of embedding and head (DeepSeek-V3, arXiv 2412.19437, Section 2.2).
double prediction_layer(const Model& m, double norms_and_biases_of_layer) {
  const double h = m.hidden;
  return expert_layer(m) + norms_and_biases_of_layer + 2 * h * h + 3 * h + 2 * m.embedding_parameters();
}

double glm_prediction(const Model& m, const Json& part) {
  const double biases = (m.heads + 2.0 * m.kv_heads) * m.head_dim;
  const double qk_norms = flag(part, "use_qk_norm") ? 2 * m.head_dim : 0;
  return prediction_layer(m, 2.0 * m.hidden + biases + m.experts->count + qk_norms);
}

// MiMo-7B's has a dense MLP and shares embedding and head.
double mimo_prediction(const Model& m, const Json&) {
  const double h = m.hidden, biases = (m.heads + 2.0 * m.kv_heads) * m.head_dim;
  return m.layer_parameters() + 2 * h + biases + 2 * h * h + 3 * h;
}

// One scale for each block of 128 x 128 weights.
double scales(double rows, double columns) { return std::ceil(rows / 128) * std::ceil(columns / 128); }

// Scales of the 8-bit matrices of DeepSeek-V3, the prediction layer included: embedding, head, router and the
// projection of two hidden states are not 8-bit.
double deepseek_scales(const Model& m) {
  const LatentAttention& a = *m.latent_attention;
  const double h = m.hidden, q = a.query_rank, heads = m.heads, width = m.head_dim;
  const double attention = scales(q, h) + scales(heads * (width + a.rope_dim), q) +
                           scales(a.kv_rank + a.rope_dim, h) + scales(heads * 2 * width, a.kv_rank) +
                           scales(h, heads * width);
  const double dense = 2 * scales(m.intermediate, h) + scales(h, m.intermediate);
  const double expert = 2 * scales(m.experts->intermediate, h) + scales(h, m.experts->intermediate);
  return (m.layers + 1) * attention + m.experts->dense_layers * dense +
         (expert_layers(m) + 1) * (m.experts->count + 1) * expert;
}

double deepseek_v3(const Model& m, const Json&) {
  const LatentAttention& a = *m.latent_attention;
  const double norms = 2.0 * m.hidden + a.query_rank + a.kv_rank + m.experts->count;
  return prediction_layer(m, norms) + deepseek_scales(m);
}

// Frequencies of the rotary embeddings, half the width of a head per layer, which old checkpoints store. That
// the checkpoints of Kimi-K2 and Moonlight do so too is inferred: it explains their totals exactly.
double rotary_buffers(const Model& m, const Json&) { return 1.0 * m.layers * m.hidden / m.heads / 2; }

// Stored twice although it is tied.
double second_head(const Model& m, const Json&) { return m.embedding_parameters(); }

}  // namespace

double uncounted_parameters(const Model& model, const Json& config) {
  const Json& part = language_model(config);
  return rules().at(part["model_type"].get<std::string>())(model, part);
}

double stored_besides(const std::string& file, const Model& model, const Json& config) {
  static const std::map<std::string, Rule> table = {
      {"Llama-2-7b.json", rotary_buffers},
      {"Llama-2-13b.json", rotary_buffers},
      {"Kimi-K2.json", rotary_buffers},
      {"Moonlight-16B-A3B.json", rotary_buffers},
      {"Qwen3-0.6B.json", second_head},
      {"Qwen3-1.7B.json", second_head},
      {"DeepSeek-V3.json", deepseek_v3},
      {"GLM-4.5.json", glm_prediction},
      {"GLM-4.7.json", glm_prediction},
      {"GLM-4.5-Air.json", glm_prediction},
      {"MiMo-7B.json", mimo_prediction},
      {"Llama-4-Scout-17B-16E.json", llama4_vision},
      {"Llama-4-Maverick-17B-128E.json", llama4_vision},
      {"Mistral-Small-3.2-24B.json", pixtral_vision},
      {"Qwen2-VL-7B.json", qwen2_vision},
      {"Qwen2.5-VL-3B.json", qwen2_5_vision},
      {"Qwen2.5-VL-7B.json", qwen2_5_vision},
      {"Qwen2.5-VL-32B.json", qwen2_5_vision},
      {"Qwen2.5-VL-72B.json", qwen2_5_vision},
      {"Qwen3-VL-8B.json", qwen3_vision},
      {"Qwen3-Next-80B-A3B.json", gated_prediction},
      {"Qwen3.5-2B.json", small_qwen3_5},
      {"Qwen3.5-4B.json", small_qwen3_5},
      {"Qwen3.5-9B.json", qwen3_5},
      {"Qwen3.5-27B.json", qwen3_5},
      {"Qwen3.6-27B.json", qwen3_5},
      {"Qwen3.8-27B.json", qwen3_5},
      {"Qwen3.5-35B-A3B.json", qwen3_5},
      {"Qwen3.6-35B-A3B.json", qwen3_5},
      {"Qwen3.5-397B-A17B.json", qwen3_5},
      {"gemma-3-4b.json", gemma3_vision},
      {"gemma-3-12b.json", gemma3_vision},
      {"gemma-3-27b.json", gemma3_vision},
  };
  const auto found = table.find(file);
  return found == table.end() ? 0 : found->second(model, language_model(config));
}

}  // namespace sextant
