// Reading and writing of costmodel/vocabulary/model.h.
#include "costmodel/vocabulary/model.h"

namespace sextant {
namespace {

Experts parse_experts(const JsonView& view) {
  view.allow_only({"count", "active_per_token", "intermediate"});
  Experts out;
  out.count = view.required("count").count(1);
  const JsonView active = view.required("active_per_token");
  out.active_per_token = active.count(1);
  if (out.active_per_token > out.count) {
    active.fail("expected at most the layer's " + std::to_string(out.count) + " experts, got " +
                std::to_string(out.active_per_token));
  }
  out.intermediate = view.required("intermediate").count(1);
  return out;
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
                   "tied_embeddings", "value_head", "experts", "source"});
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
  if (const auto experts = view.optional("experts")) {
    out.experts = parse_experts(*experts);
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
  if (experts) {
    out["experts"] = {{"count", experts->count},
                      {"active_per_token", experts->active_per_token},
                      {"intermediate", experts->intermediate}};
  }
  if (source) {
    out["source"] = *source;
  }
  return out;
}

}  // namespace sextant
