// The shape of a decoder-only transformer, and the parameters, FLOP and bytes that follow from it.
//
// Counts are those of HetRL B.2, generalised to grouped-query attention and mixture of experts. With kv_heads =
// heads, head_dim = hidden / heads and no experts, a layer has exactly the appendix's 4 h1^2 + 3 h1 h2
// parameters. Normalisation weights are not counted, as in the appendix.
#pragma once

#include <optional>
#include <string>

#include "sextant/document.h"
#include "sextant/json.h"

namespace sextant {

struct Experts {
  int count = 0;                // experts per layer
  int active_per_token = 0;     // top-k
  int intermediate = 0;         // width of one expert
  int shared_intermediate = 0;  // total width of the experts that every token passes
  int dense_layers = 0;         // layers with the model's dense MLP instead of experts

  friend bool operator==(const Experts&, const Experts&) = default;
};

// Multi-head latent attention (DeepSeek-V2): keys and values are stored as one compressed vector per token.
struct LatentAttention {
  int query_rank = 0;  // 0: queries are not compressed
  int kv_rank = 0;
  int rope_dim = 0;   // per head, in addition to head_dim
  int value_dim = 0;  // per head; 0: head_dim, as keys have

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

// Layers of linear attention in place of attention: Gated DeltaNet (Yang, Kautz, Hatamizadeh 2024, arXiv 2412.06464;
// Qwen3-Next, Qwen3.5) or Mamba-2 (Dao, Gu 2024, arXiv 2405.21060; Nemotron-H), which has the same form: C, B and x of
// the paper's section 7 are its queries, keys and values, and its groups are the key heads. Each value head keeps a matrix
// of key_dim x value_dim for a sequence, however long it is, in 32 bits, and a convolution over the last tokens goes
// before it. Matrices: queries, keys and values; the output gate; two numbers per value head (Mamba-2: one, the step
// size); the output.
struct LinearAttention {
  int layers = 0;  // of the model's; the others attend
  int key_heads = 0;
  int value_heads = 0;
  int key_dim = 0;  // of a head
  int value_dim = 0;
  int convolution = 4;       // tokens
  int numbers_per_head = 2;  // projected for each value head

  [[nodiscard]] double mixed_width() const;              // queries, keys and values of a token
  [[nodiscard]] double value_width() const;              // values of a token
  [[nodiscard]] double state_elements() const;           // of the matrices of one sequence
  [[nodiscard]] double parameters(double hidden) const;  // of one layer
  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

// Floating point operations of one layer in a forward pass of one sequence.
struct LayerFlop {
  double projections = 0;  // query, key, value and output
  double attention = 0;    // scores and weighted values, all pairs (not halved for causality)
  double mlp = 0;
  [[nodiscard]] double total() const { return projections + attention + mlp; }
};

struct Model {
  static constexpr std::string_view kKind = "model";
  static constexpr SchemaVersion kVersion{1, 4};  // 1.1: context_tokens; 1.2: linear_attention, attention_gate;
                                                  // 1.3: mlp_layers, numbers_per_head; 1.4: value_dim

  std::string name;
  int layers = 1;         // nl
  int hidden = 1;         // h1
  int intermediate = 1;   // h2
  bool gated_mlp = true;  // SwiGLU: three matrices; without the gate two, as in GPT
  int heads = 1;
  int kv_heads = 1;
  int head_dim = 1;
  int vocabulary = 0;  // 0: neither embedding nor head, as in the appendix's text
  bool tied_embeddings = false;
  bool value_head = false;        // critic and reward models: one output per token instead of a vocabulary
  int sliding_window = 0;         // maximum number of tokens that a query attends to; 0: all before it
  int sliding_window_layers = 0;  // number of layers with a window; 0: all, if there is a window
  int context_tokens = 0;         // of the longest sequence that it takes; 0: not known
  std::optional<Experts> experts;
  std::optional<LatentAttention> latent_attention;
  std::optional<LinearAttention> linear_attention;
  int mlp_layers =
      0;  // layers that are an MLP and nothing else, while the others have none (Nemotron-H); 0: all have both
  bool attention_gate = false;        // queries are projected with a gate of the output, as wide as they are
  std::optional<std::string> source;  // publication of the shape

  // Parameters of one layer. If layers differ (dense ones and ones with experts), the mean over all layers.
  [[nodiscard]] double attention_parameters() const;
  [[nodiscard]] int value_head_dim() const;       // of a head's values; head_dim but for latent attention
  [[nodiscard]] double layer_parameters() const;  // all experts
  [[nodiscard]] double layer_active_parameters() const;  // parameters that one token uses
  [[nodiscard]] double layer_expert_parameters() const;  // part of layer_parameters in routed experts
  // Expected number of experts of a layer that receive at least one of `tokens` tokens under uniform routing:
  // count (1 - (1 - k / count)^tokens). Zero without experts.
  [[nodiscard]] double touched_experts(double tokens) const;
  // Parameters of a layer that `tokens` tokens use: touched experts and all that is not a routed expert.
  [[nodiscard]] double layer_touched_parameters(double tokens) const;
  // Width of the MLP that one token passes: with experts the sum of the widths of its experts. Mean over layers with and
  // without an MLP.
  [[nodiscard]] double active_width() const;
  [[nodiscard]] double embedding_parameters() const;  // input table
  [[nodiscard]] double head_parameters() const;       // output matrix (also if tied, because it is read)
  [[nodiscard]] double parameters() const;            // stored once; a tied head is not counted twice

  // FLOP of one layer for one sequence of `tokens`, each of which attends to all tokens, or to those in the
  // sliding window (HetRL B.2 "Computation").
  [[nodiscard]] LayerFlop layer_flop(double tokens) const;
  // FLOP of one layer for one new token that attends to `context` tokens.
  [[nodiscard]] LayerFlop decode_layer_flop(double context) const;
  [[nodiscard]] double head_flop(double tokens) const;
  [[nodiscard]] double kv_cache_elements_per_token() const;  // one layer, keys and values; mean over layers
  // Shares of the layers: with attention, with linear attention, with an MLP or experts, and with experts.
  [[nodiscard]] double full_attention_share() const;
  [[nodiscard]] double linear_attention_share() const;
  [[nodiscard]] double mlp_share() const;
  [[nodiscard]] double expert_share() const;
  // Attention and MLP are two parts; layers that are one of them alone have one.
  [[nodiscard]] double parts_per_layer() const;
  // Bytes of the state of linear attention that a sequence has besides its KV cache; mean over layers.
  [[nodiscard]] double sequence_state_bytes() const;
  // Elements of a token that attention keeps for its backward pass: queries, keys, values and outputs, and with
  // linear attention these before and after the convolution; mean over layers.
  [[nodiscard]] double attention_elements() const;
  // Number of tokens that a query with `context` tokens before it attends to, as the mean over layers.
  [[nodiscard]] double attended_tokens(double context) const;

  friend bool operator==(const Model&, const Model&) = default;
  static Model parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
