// Reading and writing of sextant/model.h.
#include "documents/values/value_tables.h"

namespace sextant {
namespace {

constexpr int kMaxLayers = 100'000;
constexpr int kMaxWidth = 1'000'000;  // of dimensions, heads, ranks and experts
constexpr int kMaxVocabulary = 100'000'000;

const Fields<Experts>& experts_fields() {
  static const Fields<Experts> fields{
      required("count", &Experts::count, whole(1, kMaxWidth), "Experts of a layer."),
      required("active_per_token", &Experts::active_per_token, count(),
               "Experts per token (top-k), at most count.")
          .then([](const JsonView& view, Experts& experts) {
            if (experts.active_per_token <= experts.count) return;
            view.required("active_per_token")
                .fail("expected at most the layer's " + std::to_string(experts.count) + " experts, got " +
                      std::to_string(experts.active_per_token));
          }),
      required("intermediate", &Experts::intermediate, whole(1, kMaxWidth),
               "Intermediate dimension of one expert."),
      optional("shared_intermediate", &Experts::shared_intermediate, whole(0, kMaxWidth),
               "Intermediate dimension of all shared experts together."),
      optional("dense_layers", &Experts::dense_layers, number_of(),
               "Layers with the model's dense MLP in place of experts; fewer than all."),
  };
  return fields;
}

const Fields<LatentAttention>& latent_attention_fields() {
  static const Fields<LatentAttention> fields{
      defaulted("query_rank", &LatentAttention::query_rank, whole(0, kMaxWidth),
                "0: queries are not compressed."),
      required("kv_rank", &LatentAttention::kv_rank, whole(1, kMaxWidth),
               "Rank of the compressed keys and values."),
      required("rope_dim", &LatentAttention::rope_dim, whole(0, kMaxWidth),
               "Rotary dimensions of a head, in addition to head_dim."),
      defaulted("value_dim", &LatentAttention::value_dim, whole(0, kMaxWidth),
                "Dimensions of a head's values; 0: head_dim, as its keys have (since 1.4)."),
  };
  return fields;
}

const Fields<LinearAttention>& linear_attention_fields() {
  static const Fields<LinearAttention> fields{
      required("layers", &LinearAttention::layers, count(), "Layers that have it; fewer than all."),
      required("key_heads", &LinearAttention::key_heads, whole(1, kMaxWidth),
               "A multiple of the tensor parallelism."),
      required("value_heads", &LinearAttention::value_heads, whole(1, kMaxWidth), "A multiple of key_heads."),
      required("key_dim", &LinearAttention::key_dim, whole(1, kMaxWidth), "Of a key head."),
      required("value_dim", &LinearAttention::value_dim, whole(1, kMaxWidth), "Of a value head."),
      defaulted("convolution", &LinearAttention::convolution, count(), "Tokens of the convolution."),
      optional("numbers_per_head", &LinearAttention::numbers_per_head, number_of(),
               "Projected for each value head: 2 (Gated DeltaNet) or 1 (Mamba-2); default 2 (since 1.3)."),
  };
  return fields;
}

void check_linear_layers(const JsonView& view, Model& model) {
  if (!model.linear_attention) return;
  const JsonView member = view.required("linear_attention");
  if (model.latent_attention) member.fail("a model has either latent_attention or linear_attention");
  if (model.linear_attention->value_heads % model.linear_attention->key_heads != 0) {
    member.required("value_heads")
        .fail("expected a multiple of the " + std::to_string(model.linear_attention->key_heads) +
              " key heads, got " + std::to_string(model.linear_attention->value_heads));
  }
  const int others = model.layers - model.mlp_layers;
  if (model.linear_attention->layers < others) return;
  member.required("layers").fail("expected fewer than the model's " + std::to_string(others) + " layers" +
                                 (model.mlp_layers > 0 ? " that are no MLP" : "") + ", got " +
                                 std::to_string(model.linear_attention->layers));
}

void check_mlp_layers(const JsonView& view, Model& model) {
  if (model.mlp_layers < model.layers) return;
  view.required("mlp_layers")
      .fail("expected fewer than the model's " + std::to_string(model.layers) + " layers, got " +
            std::to_string(model.mlp_layers));
}

// Every head has its own keys and values by default.
void complete_kv_heads(const JsonView& view, Model& model) {
  const auto kv_heads = view.optional("kv_heads");
  if (!kv_heads) model.kv_heads = model.heads;
  if (model.heads % model.kv_heads != 0) {
    kv_heads->fail("expected a divisor of the " + std::to_string(model.heads) + " heads, got " +
                   std::to_string(model.kv_heads));
  }
}

// The heads share the hidden dimension by default.
void complete_head_dim(const JsonView& view, Model& model) {
  if (view.optional("head_dim")) return;
  model.head_dim = model.hidden / model.heads;
  if (model.hidden % model.heads != 0) {
    view.fail("missing member \"head_dim\": hidden " + std::to_string(model.hidden) + " is not divisible by " +
              std::to_string(model.heads) + " heads");
  }
}

void check_window_layers(const JsonView& view, Model& model) {
  if (model.sliding_window_layers <= model.layers) return;
  view.required("sliding_window_layers")
      .fail("expected at most the model's " + std::to_string(model.layers) + " layers, got " +
            std::to_string(model.sliding_window_layers));
}

void check_dense_layers(const JsonView& view, Model& model) {
  const int layers = model.mlp_layers > 0 ? model.mlp_layers : model.layers;
  if (!model.experts || model.experts->dense_layers < layers) return;
  view.required("experts")
      .required("dense_layers")
      .fail("expected fewer than the model's " + std::to_string(layers) +
            (model.mlp_layers > 0 ? " MLPs" : " layers") + ", got " +
            std::to_string(model.experts->dense_layers));
}

}  // namespace

const Fields<Model>& documents::model_fields() {
  static const Fields<Model> fields{
      required("name", &Model::name, text()),
      required("layers", &Model::layers, whole(1, kMaxLayers)),
      required("hidden", &Model::hidden, whole(1, kMaxWidth), "Hidden dimension, h1."),
      required("intermediate", &Model::intermediate, whole(1, kMaxWidth),
               "Intermediate dimension of the dense MLP, h2."),
      required("heads", &Model::heads, whole(1, kMaxWidth)),
      defaulted("kv_heads", &Model::kv_heads, whole(1, kMaxWidth), "Divides heads; default heads.")
          .completed_by(complete_kv_heads),
      defaulted("head_dim", &Model::head_dim, whole(1, kMaxWidth), "Default hidden / heads.")
          .completed_by(complete_head_dim),
      required("vocabulary", &Model::vocabulary, whole(0, kMaxVocabulary), "0: neither embedding nor head."),
      defaulted("tied_embeddings", &Model::tied_embeddings, flag()),
      defaulted("value_head", &Model::value_head, flag(),
                "Critic and reward models: one output a token instead of a vocabulary."),
      optional("gated_mlp", &Model::gated_mlp, flag(), "True: three matrices (SwiGLU); false: two, as in GPT."),
      optional("sliding_window", &Model::sliding_window, number_of(),
               "Maximum number of tokens that a query attends to; 0: all earlier tokens."),
      optional("sliding_window_layers", &Model::sliding_window_layers, number_of(),
               "Number of layers with the window; 0: all of them if there is a window.")
          .then(check_window_layers),
      optional(
          "context_tokens", &Model::context_tokens, number_of(),
          "Tokens of the longest sequence that the model takes, with rope scaling; 0: not known (since 1.1)."),
      optional(
          "mlp_layers", &Model::mlp_layers, number_of(),
          "Layers that are an MLP or experts alone, while the others have none (Nemotron-H); 0: every layer "
          "has both parts (since 1.3).")
          .then(check_mlp_layers),
      optional("experts", &Model::experts, object(experts_fields()),
               "Mixture of experts; absent: all layers are dense.")
          .then(check_dense_layers),
      optional("latent_attention", &Model::latent_attention, object(latent_attention_fields()),
               "Multi-head latent attention (DeepSeek-V2): one compressed vector of keys and values a token."),
      optional("linear_attention", &Model::linear_attention, object(linear_attention_fields()),
               "Layers of linear attention (Gated DeltaNet, Mamba-2) among layers of attention (since 1.2).")
          .then(check_linear_layers),
      optional("attention_gate", &Model::attention_gate, flag(),
               "Attention has a gate of its output, projected with the queries (since 1.2)."),
      optional("source", &Model::source, text(), "Publication of the shape."),
  };
  return fields;
}

Model Model::parse(const JsonView& view) { return parse_fields(view, model_fields()); }

Json Model::to_json() const { return fields_to_json(*this, model_fields()); }

}  // namespace sextant
