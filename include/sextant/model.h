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
  int rope_dim = 0;  // per head, in addition to head_dim

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
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
  static constexpr SchemaVersion kVersion{1, 1};  // 1.1: context_tokens

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
  std::optional<std::string> source;  // publication of the shape

  // Parameters of one layer. If layers differ (dense ones and ones with experts), the mean over all layers.
  [[nodiscard]] double attention_parameters() const;
  [[nodiscard]] double layer_parameters() const;         // all experts
  [[nodiscard]] double layer_active_parameters() const;  // parameters that one token uses
  [[nodiscard]] double layer_expert_parameters() const;  // part of layer_parameters in routed experts
  // Expected number of experts of a layer that receive at least one of `tokens` tokens under uniform routing:
  // count (1 - (1 - k / count)^tokens). Zero without experts.
  [[nodiscard]] double touched_experts(double tokens) const;
  // Parameters of a layer that `tokens` tokens use: touched experts and all that is not a routed expert.
  [[nodiscard]] double layer_touched_parameters(double tokens) const;
  // Width of the MLP that one token passes: with experts the sum of the widths of its experts.
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
  [[nodiscard]] double kv_cache_elements_per_token() const;  // one layer, keys and values
  // Number of tokens that a query with `context` tokens before it attends to, as the mean over layers.
  [[nodiscard]] double attended_tokens(double context) const;

  friend bool operator==(const Model&, const Model&) = default;
  static Model parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
