#include "documents/hugging_face.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/json_value.h"
#include "core/text.h"
#include "documents/hugging_face_architectures.h"

namespace sextant::inline documents {
namespace {

// Hugging Face writes null for a member that has no value.
std::optional<JsonView> stated(const JsonView& view, std::string_view member) {
  auto found = member.empty() ? std::nullopt : view.optional(member);
  if (found && found->json().is_null()) return std::nullopt;
  return found;
}

bool is_true(const JsonView& view, std::string_view member) {
  const auto found = stated(view, member);
  return found && found->flag();
}

// The members of a config, with the defaults of its architecture for those that it does not state.
class Config {
 public:
  Config(const JsonView& view, const Architecture& architecture) : view_(view), architecture_(architecture) {}

  [[nodiscard]] const JsonView& view() const { return view_; }
  [[nodiscard]] const Architecture& architecture() const { return architecture_; }

  // The smallest allowed value is `minimum`. nullopt: neither stated nor a default of the architecture.
  [[nodiscard]] std::optional<int> optional(std::string_view member, int minimum = 0) const {
    if (const auto found = stated(view_, member)) return found->count(minimum);
    // A member that is null has no value, whatever the default is: Mistral writes "sliding_window": null.
    if (view_.optional(member)) return std::nullopt;
    return default_of(member);
  }

  // Throws Error(bad_input) if there is no value.
  [[nodiscard]] int required(std::string_view member, int minimum = 1) const {
    if (const auto found = stated(view_, member)) return found->count(minimum);
    if (const auto value = default_of(member)) return *value;
    view_.fail("missing member \"" + std::string(member) + "\"");
  }

 private:
  [[nodiscard]] std::optional<int> default_of(std::string_view member) const {
    for (const ClassDefault& known : architecture_.defaults) {
      if (known.member == member) return known.value;
    }
    return std::nullopt;
  }

  const JsonView& view_;
  const Architecture& architecture_;
};

JsonView model_type_of(const JsonView& config) {
  if (const auto type = stated(config, "model_type")) return *type;
  config.fail(
      "missing member \"model_type\"; expected the config.json of a Hugging Face model, or a model document "
      "(\"schema\": \"sextant.model/...\") with its shape");
}

// "Qwen3ForCausalLM", or the model type if the config names no class.
std::string class_name(const JsonView& config) {
  if (const auto classes = stated(config, "architectures")) {
    const std::vector<JsonView> names = classes->items();
    if (!names.empty()) return names.front().text();
  }
  return model_type_of(config).text();
}

// The part of a config that describes the language model: the config itself, or a member of a vision-language
// model.
JsonView language_part(const JsonView& config) {
  for (const std::string_view member : {"text_config", "llm_config", "language_config"}) {
    if (const auto part = stated(config, member)) return *part;
  }
  return config;
}

// The type of the language model, which old vision-language configs state only for the whole.
const Architecture& architecture_of(const JsonView& config, const JsonView& part, const std::string& name) {
  const auto own = stated(part, "model_type");
  const JsonView type = own ? *own : model_type_of(config);
  const std::string model_type = type.text();
  const std::string who = in_quotes(name) + " (model_type " + in_quotes(model_type) + ")";
  const std::string_view reason = why_no_architecture(model_type);
  if (!reason.empty()) {
    type.fail("the architecture " + who + " " + std::string(reason) +
              ", which a model document cannot describe");
  }
  const Architecture* known = find_architecture(model_type);
  if (known == nullptr) {
    type.fail("unknown architecture " + who + "; a model document can state its shape instead");
  }
  return *known;
}

void read_heads(const Config& config, Model& model) {
  model.heads = config.required("num_attention_heads");
  model.kv_heads = config.optional("num_key_value_heads", 1).value_or(model.heads);
  if (model.heads % model.kv_heads != 0) {
    config.view().fail("the " + std::to_string(model.heads) +
                       " attention heads are not divisible by num_key_value_heads, " +
                       std::to_string(model.kv_heads));
  }
  if (const auto width = config.optional("head_dim", 1)) {
    model.head_dim = *width;
  } else if (model.hidden % model.heads == 0) {
    model.head_dim = model.hidden / model.heads;
  } else {
    config.view().fail("missing member \"head_dim\": hidden_size " + std::to_string(model.hidden) +
                       " is not divisible by " + std::to_string(model.heads) + " heads");
  }
}

void read_latent_attention(const Config& config, Model& model) {
  model.heads = model.kv_heads = config.required("num_attention_heads");
  model.head_dim = config.required("qk_nope_head_dim");
  const int values = config.required("v_head_dim");
  model.latent_attention = LatentAttention{.query_rank = config.optional("q_lora_rank").value_or(0),
                                           .kv_rank = config.required("kv_lora_rank"),
                                           .rope_dim = config.required("qk_rope_head_dim", 0),
                                           .value_dim = values == model.head_dim ? 0 : values};
}

// Number of layers of a list with one name per layer that have one of the counted names; refuses all other
// names but `other`.
int count_layers(const JsonView& list, int layers, const std::vector<std::string_view>& counted,
                 std::string_view other) {
  const std::vector<JsonView> names = list.items();
  if (static_cast<int>(names.size()) != layers) {
    list.fail("expected " + std::to_string(layers) + " layers, got " + std::to_string(names.size()));
  }
  int count = 0;
  for (const JsonView& name : names) {
    const std::string text = name.text();
    const bool is_counted = std::find(counted.begin(), counted.end(), text) != counted.end();
    if (!is_counted && text != other) {
      name.fail("layers of the kind " + in_quotes(text) + ", which a model document cannot describe");
    }
    if (is_counted) ++count;
  }
  return count;
}

// Number of the first `layers` layers, counted from 1, that are not a multiple of `step`.
int layers_between(int layers, int step) { return layers - layers / step; }

int chunked_layers(const Config& config, int layers) {
  if (const auto list = stated(config.view(), "no_rope_layers")) {
    const std::vector<JsonView> has_rope = list->items();
    if (!has_rope.empty()) {
      return static_cast<int>(std::count_if(has_rope.begin(), has_rope.end(),
                                            [](const JsonView& item) { return item.count() == 1; }));
    }
  }
  return layers_between(layers, config.required("no_rope_layer_interval"));
}

// Every `full_attention_interval`-th layer attends, if the config does not list the layers.
void read_linear_attention(const Config& config, Model& model) {
  LinearAttention linear;
  if (const auto list = stated(config.view(), "layer_types")) {
    linear.layers = count_layers(*list, model.layers, {"linear_attention"}, "full_attention");
  } else {
    linear.layers = layers_between(model.layers, config.required("full_attention_interval"));
  }
  linear.key_heads = config.required("linear_num_key_heads");
  linear.value_heads = config.required("linear_num_value_heads");
  linear.key_dim = config.required("linear_key_head_dim");
  linear.value_dim = config.required("linear_value_head_dim");
  linear.convolution = config.required("linear_conv_kernel_dim");
  model.attention_gate = true;
  if (linear.layers >= model.layers) config.view().fail("a model whose layers all are linear attention");
  if (linear.layers > 0) model.linear_attention = linear;
}

// Kinds of the layers of a hybrid: "M*-E" or a list of names.
std::string hybrid_layers(const Config& config) {
  if (const auto pattern = stated(config.view(), "hybrid_override_pattern")) {
    std::string kinds = pattern->text();
    std::erase(kinds, '|');  // between stages
    return kinds;
  }
  std::string kinds;
  for (const JsonView& item : config.view().required("layers_block_type").items()) {
    constexpr std::array<std::pair<std::string_view, char>, 4> kNames{
        {{"mamba", 'M'}, {"attention", '*'}, {"mlp", '-'}, {"moe", 'E'}}};
    const std::string name = item.text();
    const auto* found =
        std::find_if(kNames.begin(), kNames.end(), [&](const auto& of) { return of.first == name; });
    kinds += found != kNames.end() ? found->second : '?';
  }
  return kinds;
}

// Nemotron-H (arXiv 2504.03624): C, B and x of Mamba-2 are queries, keys and values, its groups are key heads.
void read_hybrid(const Config& config, Model& model) {
  const std::string kinds = hybrid_layers(config);
  const auto count = [&](char kind) { return static_cast<int>(std::count(kinds.begin(), kinds.end(), kind)); };
  const int mamba = count('M'), attention = count('*'), dense = count('-'), experts = count('E');
  if (static_cast<int>(kinds.size()) != model.layers)
    config.view().fail("expected " + std::to_string(model.layers) + " layers, as num_hidden_layers says, got " +
                       std::to_string(kinds.size()));
  if (mamba + attention + dense + experts != model.layers)
    config.view().fail(
        "layers of another kind than Mamba, attention, MLP and experts, which a model document "
        "cannot describe");
  if (attention == 0 || dense + experts == 0)
    config.view().fail(
        "a model without layers of attention or without MLPs, which a model document cannot describe");
  model.mlp_layers = dense + experts;
  if (mamba > 0) {
    LinearAttention linear;
    linear.layers = mamba;
    linear.key_heads = config.required("n_groups");
    linear.value_heads = config.required("mamba_num_heads");
    linear.key_dim = config.required("ssm_state_size");
    linear.value_dim = config.required("mamba_head_dim");
    linear.convolution = config.required("conv_kernel");
    linear.numbers_per_head = 1;
    if (linear.value_heads % linear.key_heads != 0)
      config.view().fail("mamba_num_heads " + std::to_string(linear.value_heads) +
                         " is not divisible by n_groups");
    model.linear_attention = linear;
  }
  if (const auto width = config.optional("attention_head_dim", 1)) model.head_dim = *width;
  if (experts == 0) return;
  if (const auto latent = stated(config.view(), "moe_latent_size"))
    latent->fail("experts that compute in a space of fewer dimensions, which a model document cannot describe");
  model.experts =
      Experts{.count = config.required("n_routed_experts"),
              .active_per_token = config.required("num_experts_per_tok"),
              .intermediate = config.required("moe_intermediate_size"),
              .shared_intermediate = config.optional("moe_shared_expert_intermediate_size").value_or(0),
              .dense_layers = dense};
  if (model.experts->active_per_token > model.experts->count)
    config.view().fail("num_experts_per_tok is larger than n_routed_experts");
}

int window_layers(const Config& config, int layers) {
  if (config.architecture().linear_attention) return 0;
  if (const auto list = stated(config.view(), "layer_types")) {
    return count_layers(*list, layers, {"sliding_attention", "chunked_attention"}, "full_attention");
  }
  switch (config.architecture().windows) {
    case WindowLayers::none:
      return 0;
    case WindowLayers::all:
      return layers;
    case WindowLayers::by_pattern:
      return layers_between(layers, config.required("sliding_window_pattern"));
    case WindowLayers::after_max_window:
      if (!is_true(config.view(), "use_sliding_window")) return 0;
      return std::max(0, layers - config.required("max_window_layers", 0));
    case WindowLayers::chunked:
      return chunked_layers(config, layers);
  }
  return 0;
}

void read_windows(const Config& config, Model& model, std::vector<std::string>& notes) {
  const int layers = window_layers(config, model.layers);
  const bool is_chunked = config.architecture().windows == WindowLayers::chunked;
  const bool is_off =
      stated(config.view(), "use_sliding_window") && !is_true(config.view(), "use_sliding_window");
  const auto width = config.optional(is_chunked ? "attention_chunk_size" : "sliding_window");
  if (layers == 0 || is_off || width.value_or(0) == 0) return;
  model.sliding_window = *width;
  model.sliding_window_layers = layers == model.layers ? 0 : layers;
  if (is_chunked) {
    notes.push_back("Chunks of " + std::to_string(*width) + " tokens are read as a window of that length.");
  }
}

// Tokens of the longest sequence that a model takes, as engines read it from its configuration: the stated positions,
// which rope scaling multiplies. Llama 3 and the long forms of Phi state the positions after scaling; others state those
// before it, or name them as the original ones (transformers, modeling_rope_utils.py; vLLM, config/model.py).
int context_tokens(const Config& config) {
  const int positions = config.optional("max_position_embeddings").value_or(0);
  std::optional<JsonView> scaling = stated(config.view(), "rope_scaling");
  if (!scaling) scaling = stated(config.view(), "rope_parameters");
  const auto factor = scaling ? stated(*scaling, "factor") : std::nullopt;
  if (!factor) return positions;
  auto type = stated(*scaling, "rope_type");
  if (!type) type = stated(*scaling, "type");
  const std::string kind = type ? type->text() : "linear";
  if (kind != "linear" && kind != "dynamic" && kind != "yarn") return positions;
  const auto original = kind == "yarn" ? stated(*scaling, "original_max_position_embeddings") : std::nullopt;
  const double scaled = factor->positive() * (original ? original->count() : positions);
  return std::max(positions, static_cast<int>(std::min<double>(scaled, std::numeric_limits<int>::max())));
}

int sparse_step_dense_layers(const Config& config, int layers) {
  const int step = config.required("decoder_sparse_step");
  std::vector<int> dense;
  if (const auto list = stated(config.view(), "mlp_only_layers")) {
    for (const JsonView& layer : list->items()) dense.push_back(layer.count());
  }
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const bool is_listed = std::find(dense.begin(), dense.end(), layer) != dense.end();
    if (is_listed || (layer + 1) % step != 0) ++count;
  }
  return count;
}

// Number of layers with a dense MLP instead of experts.
int dense_layers(const Config& config, int layers) {
  if (const auto list = stated(config.view(), "mlp_layer_types")) {
    return count_layers(*list, layers, {"dense"}, "sparse");
  }
  switch (config.architecture().experts->layers) {
    case ExpertLayers::all:
      return 0;
    case ExpertLayers::after_first_dense: {
      const auto frequency = stated(config.view(), "moe_layer_freq");
      if (frequency && frequency->count(1) != 1)
        frequency->fail("expected 1: experts in every layer after the first");
      return config.optional("first_k_dense_replace").value_or(0);
    }
    case ExpertLayers::every_sparse_step:
      return sparse_step_dense_layers(config, layers);
    case ExpertLayers::every_interleave_step:
      return layers_between(layers, config.required("interleave_moe_layer_step"));
  }
  return 0;
}

// Newer versions of the classes write num_local_experts where older ones wrote another name.
int expert_count(const Config& config, const ExpertMembers& members) {
  const bool is_renamed = !stated(config.view(), members.count) && stated(config.view(), "num_local_experts");
  return config.required(is_renamed ? "num_local_experts" : members.count);
}

void read_experts(const Config& config, const ExpertMembers& members, Model& model) {
  Experts experts;
  experts.dense_layers = dense_layers(config, model.layers);
  if (experts.dense_layers >= model.layers) return;
  experts.count = expert_count(config, members);
  experts.active_per_token = config.required("num_experts_per_tok");
  if (experts.active_per_token > experts.count) {
    config.view()
        .required("num_experts_per_tok")
        .fail("expected at most the layer's " + std::to_string(experts.count) + " experts");
  }
  experts.intermediate = config.required(members.width);
  experts.shared_intermediate = config.optional(members.shared_width).value_or(0);
  if (const auto shared = stated(config.view(), members.shared_count)) {
    const int maximum = std::numeric_limits<int>::max() / experts.intermediate;
    experts.shared_intermediate = static_cast<int>(shared->integer(0, maximum)) * experts.intermediate;
  }
  model.experts = experts;
}

// The outer config decides, because a vision-language model may state the member in either place.
bool has_tied_embeddings(const JsonView& config, const Config& language) {
  for (const JsonView& view : {config, language.view()}) {
    if (const auto tied = stated(view, "tie_word_embeddings")) return tied->flag();
  }
  return language.architecture().tied_embeddings;
}

// Notes about parts that no Model has.
void note_parts(const JsonView& config, const std::string& name, std::vector<std::string>& notes) {
  for (const auto& [member, what] :
       {std::pair("vision_config", "images"), std::pair("audio_config", "sound")}) {
    if (stated(config, member)) {
      notes.push_back(name + " is read as its language model, without its encoder of " + what +
                      ": the encoder's weights and time are not counted, and tokens of " + what +
                      " only where the lengths of prompts have them.");
    }
  }
  for (const std::string_view member :
       {"num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"}) {
    const auto layers = stated(language_part(config), member);
    if (layers && layers->count() > 0) {
      notes.push_back("Layers for multi-token prediction are left out: " + std::to_string(layers->count()) +
                      ".");
    }
  }
}

bool is_critic(const std::string& name) {
  return name.ends_with("ForSequenceClassification") || name.ends_with("ForTokenClassification");
}

// Length of the literal that begins at this place and that only Python's JSON has; 0: none.
std::size_t python_number(std::string_view text) {
  for (const std::string_view literal : {"-Infinity", "Infinity", "NaN"}) {
    if (text.starts_with(literal)) return literal.size();
  }
  return 0;
}

}  // namespace

Json parse_config(std::string_view text) {
  std::string strict;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t length = in_string ? 0 : python_number(text.substr(i));
    if (length > 0) {
      strict += "null";
      i += length - 1;
      continue;
    }
    strict += text[i];
    if (in_string && text[i] == '\\' && i + 1 < text.size()) {
      strict += text[++i];
    } else if (text[i] == '"') {
      in_string = !in_string;
    }
  }
  return parse_json(strict);
}

ConfigModel model_from_config(const JsonView& config, const std::string& name) {
  const std::string architecture_name = class_name(config);
  if (is_true(config, "is_encoder_decoder")) {
    config.fail("the architecture " + in_quotes(architecture_name) +
                " is an encoder and a decoder, which a model document cannot describe");
  }
  const JsonView part = language_part(config);
  const Config language(part, architecture_of(config, part, architecture_name));
  ConfigModel out;
  Model& model = out.model;
  model.name = name;
  model.layers = language.required("num_hidden_layers");
  constexpr int kMaxLayers = 100'000;  // of a model document; some kinds of layers are counted one by one
  if (model.layers > kMaxLayers)
    part.required("num_hidden_layers").fail("expected at most " + std::to_string(kMaxLayers) + " layers");
  model.hidden = language.required("hidden_size");
  model.intermediate = language.required(language.architecture().dense_width);
  model.gated_mlp = language.architecture().gated_mlp;
  model.vocabulary = language.required("vocab_size");
  model.tied_embeddings = has_tied_embeddings(config, language);
  model.value_head = is_critic(architecture_name);
  if (language.architecture().latent_attention) {
    read_latent_attention(language, model);
  } else {
    read_heads(language, model);
  }
  if (language.architecture().linear_attention) read_linear_attention(language, model);
  if (language.architecture().hybrid) read_hybrid(language, model);
  read_windows(language, model, out.notes);
  model.context_tokens = context_tokens(language);
  if (language.architecture().experts != nullptr)
    read_experts(language, *language.architecture().experts, model);
  note_parts(config, architecture_name, out.notes);
  return out;
}

}  // namespace sextant::inline documents
