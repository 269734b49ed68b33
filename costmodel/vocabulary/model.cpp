#include "costmodel/vocabulary/model.h"

namespace sextant {
namespace {

// Query, key, value and output matrices.
double attention_parameters(const Model& model) {
  const double query = static_cast<double>(model.heads) * model.head_dim;
  const double key = static_cast<double>(model.kv_heads) * model.head_dim;
  return model.hidden * query + 2 * model.hidden * key + query * model.hidden;
}

// Gate, up and down matrices; with experts, `experts` of them and the router.
double mlp_parameters(const Model& model, double experts) {
  const double hidden = model.hidden;
  if (!model.experts) {
    return 3 * hidden * model.intermediate;
  }
  return experts * 3 * hidden * model.experts->intermediate + hidden * model.experts->count;
}

}  // namespace

double Model::layer_parameters() const {
  return attention_parameters(*this) + mlp_parameters(*this, experts ? experts->count : 1);
}

double Model::layer_active_parameters() const {
  return attention_parameters(*this) + mlp_parameters(*this, experts ? experts->active_per_token : 1);
}

double Model::embedding_parameters() const { return static_cast<double>(vocabulary) * hidden; }

double Model::head_parameters() const {
  return value_head ? static_cast<double>(hidden) : static_cast<double>(vocabulary) * hidden;
}

double Model::parameters() const {
  const bool head_is_embedding = tied_embeddings && !value_head;
  return layers * layer_parameters() + embedding_parameters() + (head_is_embedding ? 0 : head_parameters());
}

LayerFlop Model::layer_flop(double tokens) const {
  const double query = static_cast<double>(heads) * head_dim;
  LayerFlop flop;
  flop.projections = 2 * tokens * attention_parameters(*this);
  flop.attention = 2 * 2 * tokens * tokens * query;
  flop.mlp = 2 * tokens * mlp_parameters(*this, experts ? experts->active_per_token : 1);
  return flop;
}

LayerFlop Model::decode_layer_flop(double context) const {
  const double query = static_cast<double>(heads) * head_dim;
  LayerFlop flop = layer_flop(1);
  flop.attention = 2 * 2 * context * query;
  return flop;
}

double Model::head_flop(double tokens) const { return 2 * tokens * head_parameters(); }

double Model::kv_cache_elements_per_token() const { return 2.0 * kv_heads * head_dim; }

}  // namespace sextant
