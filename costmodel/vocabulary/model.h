// The shape of a decoder-only transformer, and what follows from it: parameters, FLOP and bytes.
//
// Counts are those of HetRL B.2 generalised to grouped-query attention and mixture of experts;
// with kv_heads = heads, head_dim = hidden / heads and no experts a layer has exactly the appendix's
// 4 h1^2 + 3 h1 h2 parameters. Normalisation weights are left out, as in the appendix.
#pragma once

#include <optional>
#include <string>

#include "core/document.h"
#include "core/json.h"

namespace sextant {

struct Experts {
  int count = 0;             // experts a layer
  int active_per_token = 0;  // top-k
  int intermediate = 0;      // of one expert

  friend bool operator==(const Experts&, const Experts&) = default;
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
  static constexpr SchemaVersion kVersion{1, 0};

  std::string name;
  int layers = 1;        // nl
  int hidden = 1;        // h1
  int intermediate = 1;  // h2, gated (SwiGLU): three matrices
  int heads = 1;
  int kv_heads = 1;
  int head_dim = 1;
  int vocabulary = 0;  // 0: no embedding and no head, as in the appendix's text
  bool tied_embeddings = false;
  bool value_head = false;  // critic and reward models: one output a token instead of a vocabulary
  std::optional<Experts> experts;
  std::optional<std::string> source;  // where the shape was published

  [[nodiscard]] double layer_parameters() const;         // all experts
  [[nodiscard]] double layer_active_parameters() const;  // what one token multiplies with
  [[nodiscard]] double embedding_parameters() const;     // input table
  [[nodiscard]] double head_parameters() const;          // output matrix (also when tied: it is read)
  [[nodiscard]] double parameters() const;               // stored once; a tied head is not counted twice

  // One layer, one sequence of `tokens`; query_tokens attend to tokens each (HetRL B.2 "Computation").
  [[nodiscard]] LayerFlop layer_flop(double tokens) const;
  // One layer, one new token that attends to `context` tokens.
  [[nodiscard]] LayerFlop decode_layer_flop(double context) const;
  [[nodiscard]] double head_flop(double tokens) const;
  [[nodiscard]] double kv_cache_elements_per_token() const;  // one layer, keys and values

  friend bool operator==(const Model&, const Model&) = default;
  static Model parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
