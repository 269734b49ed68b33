#include "sextant/model.h"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

double dense_mlp_parameters(const Model& model) {
  return (model.gated_mlp ? 3.0 : 2.0) * model.hidden * model.intermediate;
}

// Routed experts (so many of them), shared experts and the router.
double expert_mlp_parameters(const Model& model, double experts) {
  const double matrices = model.gated_mlp ? 3.0 : 2.0;
  const double hidden = model.hidden;
  return matrices * hidden * (experts * model.experts->intermediate + model.experts->shared_intermediate) +
         hidden * model.experts->count;
}

// Mean over layers with so many routed experts in those that have any.
double mlp_parameters(const Model& model, double experts) {
  if (!model.experts) return model.mlp_share() * dense_mlp_parameters(model);
  const double share = model.expert_share();
  return share * expert_mlp_parameters(model, experts) +
         (model.mlp_share() - share) * dense_mlp_parameters(model);
}

// Width of scores and of weighted values of all heads, summed: what one pair of tokens costs, by 2.
double attention_width(const Model& model) {
  const double rope = model.latent_attention ? model.latent_attention->rope_dim : 0;
  return model.heads * (model.head_dim + model.value_head_dim() + rope);
}

}  // namespace

double LinearAttention::mixed_width() const { return 2.0 * key_heads * key_dim + value_width(); }

double LinearAttention::value_width() const { return static_cast<double>(value_heads) * value_dim; }

double LinearAttention::state_elements() const { return value_width() * key_dim; }

double LinearAttention::parameters(double hidden) const {
  const double numbers = static_cast<double>(numbers_per_head) * value_heads;
  const double matrices = hidden * (mixed_width() + value_width() + numbers) + value_width() * hidden;
  return matrices + mixed_width() * convolution;
}

int Model::value_head_dim() const {
  return latent_attention && latent_attention->value_dim > 0 ? latent_attention->value_dim : head_dim;
}

// Query, key, value and output matrices.
double Model::attention_parameters() const {
  const double h = hidden;
  const double query = static_cast<double>(heads) * head_dim;
  if (!latent_attention) {
    const double gate = attention_gate ? h * query : 0;
    const double full = h * query + gate + 2 * h * (static_cast<double>(kv_heads) * head_dim) + query * h;
    if (!linear_attention) return full_attention_share() * full;
    return full_attention_share() * full + linear_attention_share() * linear_attention->parameters(h);
  }
  const LatentAttention& latent = *latent_attention;
  const double query_out = heads * static_cast<double>(head_dim + latent.rope_dim);
  const double query_in = latent.query_rank > 0 ? latent.query_rank * (h + query_out) : h * query_out;
  const double values = static_cast<double>(heads) * value_head_dim();
  return query_in + h * (latent.kv_rank + latent.rope_dim) + latent.kv_rank * (query + values) + values * h;
}

double Model::layer_parameters() const {
  return attention_parameters() + mlp_parameters(*this, experts ? experts->count : 1);
}

double Model::layer_active_parameters() const {
  return attention_parameters() + mlp_parameters(*this, experts ? experts->active_per_token : 1);
}

double Model::layer_expert_parameters() const {
  if (!experts) return 0;
  return expert_share() * (gated_mlp ? 3.0 : 2.0) * hidden * experts->count * experts->intermediate;
}

double Model::touched_experts(double tokens) const {
  if (!experts) return 0;
  const double missed = 1.0 - static_cast<double>(experts->active_per_token) / experts->count;
  return experts->count * (1.0 - std::pow(missed, std::max(1.0, tokens)));
}

double Model::layer_touched_parameters(double tokens) const {
  if (!experts) return layer_active_parameters();
  return attention_parameters() + mlp_parameters(*this, touched_experts(tokens));
}

double Model::active_width() const {
  if (!experts) return mlp_share() * intermediate;
  return mlp_share() * (static_cast<double>(experts->active_per_token) * experts->intermediate +
                        experts->shared_intermediate);
}

double Model::embedding_parameters() const { return static_cast<double>(vocabulary) * hidden; }

double Model::head_parameters() const {
  return value_head ? static_cast<double>(hidden) : static_cast<double>(vocabulary) * hidden;
}

double Model::parameters() const {
  const bool head_is_embedding = tied_embeddings && !value_head;
  return layers * layer_parameters() + embedding_parameters() + (head_is_embedding ? 0 : head_parameters());
}

double Model::attended_tokens(double context) const {
  if (sliding_window == 0) return context;
  const double share = sliding_window_layers == 0 ? 1.0 : static_cast<double>(sliding_window_layers) / layers;
  return share * std::min<double>(context, sliding_window) + (1.0 - share) * context;
}

LayerFlop Model::layer_flop(double tokens) const {
  LayerFlop flop;
  flop.projections = 2 * tokens * attention_parameters();
  // A token reads, updates and reads again each element of the state.
  constexpr double kFlopOfState = 6;
  if (linear_attention)
    flop.projections += linear_attention_share() * tokens * kFlopOfState * linear_attention->state_elements();
  flop.attention = 2 * tokens * attended_tokens(tokens) * attention_width(*this) * full_attention_share();
  flop.mlp = 2 * tokens * mlp_parameters(*this, experts ? experts->active_per_token : 1);
  return flop;
}

LayerFlop Model::decode_layer_flop(double context) const {
  LayerFlop flop = layer_flop(1);
  // Latent attention decodes on the compressed vector itself (the up-projections absorbed).
  const double width = latent_attention ? heads * (2.0 * latent_attention->kv_rank + latent_attention->rope_dim)
                                        : attention_width(*this);
  flop.attention = 2 * attended_tokens(context) * width * full_attention_share();
  return flop;
}

double Model::head_flop(double tokens) const { return 2 * tokens * head_parameters(); }

double Model::kv_cache_elements_per_token() const {
  if (latent_attention) return latent_attention->kv_rank + latent_attention->rope_dim;
  return 2.0 * kv_heads * head_dim * full_attention_share();
}

double Model::full_attention_share() const {
  const int others = mlp_layers + (linear_attention ? linear_attention->layers : 0);
  return 1.0 - static_cast<double>(others) / layers;
}

double Model::linear_attention_share() const {
  if (!linear_attention) return 0;
  return 1.0 - full_attention_share() - static_cast<double>(mlp_layers) / layers;
}

double Model::mlp_share() const { return mlp_layers > 0 ? static_cast<double>(mlp_layers) / layers : 1.0; }

double Model::expert_share() const {
  return experts ? mlp_share() - static_cast<double>(experts->dense_layers) / layers : 0.0;
}

double Model::parts_per_layer() const { return mlp_layers > 0 ? 1 : 2; }

double Model::sequence_state_bytes() const {
  if (!linear_attention) return 0;
  constexpr double kState = 4, kConvolved = 2;  // bytes of an element
  const double bytes = kState * linear_attention->state_elements() +
                       kConvolved * linear_attention->mixed_width() * (linear_attention->convolution - 1);
  return linear_attention_share() * bytes;
}

double Model::attention_elements() const {
  const double wider_values = (heads + kv_heads) * static_cast<double>(value_head_dim() - head_dim);
  const double full = (2.0 * heads + 2.0 * kv_heads + (attention_gate ? heads : 0)) * head_dim + wider_values;
  if (!linear_attention) return full_attention_share() * full;
  const double linear = 2 * linear_attention->mixed_width() + 2 * linear_attention->value_width();
  return full_attention_share() * full + linear_attention_share() * linear;
}

}  // namespace sextant
