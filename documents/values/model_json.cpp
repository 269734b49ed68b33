// Reading and writing of sextant/model.h.
#include "core/json_value.h"
#include "sextant/model.h"

namespace sextant {
namespace {

Experts parse_experts(const JsonView& view) {
  view.allow_only({"count", "active_per_token", "intermediate", "shared_intermediate", "dense_layers"});
  Experts out;
  out.count = view.required("count").count(1);
  const JsonView active = view.required("active_per_token");
  out.active_per_token = active.count(1);
  if (out.active_per_token > out.count) {
    active.fail("expected at most the layer's " + std::to_string(out.count) + " experts, got " +
                std::to_string(out.active_per_token));
  }
  out.intermediate = view.required("intermediate").count(1);
  if (const auto shared = view.optional("shared_intermediate")) {
    out.shared_intermediate = shared->count(0);
  }
  if (const auto dense = view.optional("dense_layers")) {
    out.dense_layers = dense->count(0);
  }
  return out;
}

Json to_json(const Experts& experts) {
  Json out = {{"count", experts.count},
              {"active_per_token", experts.active_per_token},
              {"intermediate", experts.intermediate}};
  if (experts.shared_intermediate > 0) {
    out["shared_intermediate"] = experts.shared_intermediate;
  }
  if (experts.dense_layers > 0) {
    out["dense_layers"] = experts.dense_layers;
  }
  return out;
}

LatentAttention parse_latent_attention(const JsonView& view) {
  view.allow_only({"query_rank", "kv_rank", "rope_dim"});
  LatentAttention out;
  if (const auto rank = view.optional("query_rank")) {
    out.query_rank = rank->count(0);
  }
  out.kv_rank = view.required("kv_rank").count(1);
  out.rope_dim = view.required("rope_dim").count(0);
  return out;
}

void parse_sliding_window(const JsonView& view, Model& out) {
  if (const auto window = view.optional("sliding_window")) {
    out.sliding_window = window->count(0);
  }
  if (const auto layers = view.optional("sliding_window_layers")) {
    out.sliding_window_layers = layers->count(0);
    if (out.sliding_window_layers > out.layers) {
      layers->fail("expected at most the model's " + std::to_string(out.layers) + " layers, got " +
                   std::to_string(out.sliding_window_layers));
    }
  }
}

// Defaults: multi-head attention whose heads share the hidden dimension.
void parse_heads(const JsonView& view, Model& out) {
  out.heads = view.required("heads").count(1);
  out.kv_heads = out.heads;
  if (const auto kv_heads = view.optional("kv_heads")) {
    out.kv_heads = kv_heads->count(1);
    if (out.heads % out.kv_heads != 0) {
      kv_heads->fail("expected a divisor of the " + std::to_string(out.heads) + " heads, got " +
                     std::to_string(out.kv_heads));
    }
  }
  if (const auto head_dim = view.optional("head_dim")) {
    out.head_dim = head_dim->count(1);
  } else if (out.hidden % out.heads == 0) {
    out.head_dim = out.hidden / out.heads;
  } else {
    view.fail("missing member \"head_dim\": hidden " + std::to_string(out.hidden) + " is not divisible by " +
              std::to_string(out.heads) + " heads");
  }
}

}  // namespace

Model Model::parse(const JsonView& view) {
  view.allow_only({"name", "layers", "hidden", "intermediate", "heads", "kv_heads", "head_dim", "vocabulary",
                   "tied_embeddings", "value_head", "gated_mlp", "sliding_window", "sliding_window_layers",
                   "experts", "latent_attention", "source"});
  Model out;
  out.name = view.required("name").text();
  out.layers = view.required("layers").count(1);
  out.hidden = view.required("hidden").count(1);
  out.intermediate = view.required("intermediate").count(1);
  parse_heads(view, out);
  out.vocabulary = view.required("vocabulary").count(0);
  if (const auto tied = view.optional("tied_embeddings")) {
    out.tied_embeddings = tied->flag();
  }
  if (const auto value_head = view.optional("value_head")) {
    out.value_head = value_head->flag();
  }
  if (const auto gated = view.optional("gated_mlp")) {
    out.gated_mlp = gated->flag();
  }
  parse_sliding_window(view, out);
  if (const auto experts = view.optional("experts")) {
    out.experts = parse_experts(*experts);
    if (out.experts->dense_layers >= out.layers) {
      experts->required("dense_layers")
          .fail("expected fewer than the model's " + std::to_string(out.layers) + " layers, got " +
                std::to_string(out.experts->dense_layers));
    }
  }
  if (const auto latent = view.optional("latent_attention")) {
    out.latent_attention = parse_latent_attention(*latent);
  }
  if (const auto source = view.optional("source")) {
    out.source = source->text();
  }
  return out;
}

Json Model::to_json() const {
  Json out = {{"name", name},
              {"layers", layers},
              {"hidden", hidden},
              {"intermediate", intermediate},
              {"heads", heads},
              {"kv_heads", kv_heads},
              {"head_dim", head_dim},
              {"vocabulary", vocabulary},
              {"tied_embeddings", tied_embeddings},
              {"value_head", value_head}};
  if (!gated_mlp) {
    out["gated_mlp"] = gated_mlp;
  }
  if (sliding_window > 0) {
    out["sliding_window"] = sliding_window;
  }
  if (sliding_window_layers > 0) {
    out["sliding_window_layers"] = sliding_window_layers;
  }
  if (experts) {
    out["experts"] = sextant::to_json(*experts);
  }
  if (latent_attention) {
    out["latent_attention"] = {{"query_rank", latent_attention->query_rank},
                               {"kv_rank", latent_attention->kv_rank},
                               {"rope_dim", latent_attention->rope_dim}};
  }
  if (source) {
    out["source"] = *source;
  }
  return out;
}

}  // namespace sextant
