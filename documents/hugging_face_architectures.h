// The architectures of Hugging Face models that a Model can describe, by the `model_type` of their config.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline documents {

// Layers that attend to a sliding window, if the config does not list them in `layer_types`.
enum class WindowLayers {
  none,
  all,
  by_pattern,        // all but every `sliding_window_pattern`-th
  after_max_window,  // from layer `max_window_layers` on, and only with `use_sliding_window`
  chunked,           // those with rotary embeddings (`no_rope_layers`), in chunks of `attention_chunk_size`
};

// Layers that have experts.
enum class ExpertLayers {
  all,
  after_first_dense,     // all after the first `first_k_dense_replace`
  every_sparse_step,     // every `decoder_sparse_step`-th, without `mlp_only_layers`
  every_interleave_step  // every `interleave_moe_layer_step`-th
};

// Names of the members that describe experts; empty: the architecture has no such member.
struct ExpertMembers {
  std::string_view count;
  std::string_view width;
  std::string_view shared_count = {};  // shared experts of width `width`
  std::string_view shared_width = {};  // of all shared experts together
  ExpertLayers layers = ExpertLayers::all;
};

// Value that the class of the architecture takes for a member which the config does not state.
struct ClassDefault {
  std::string_view member;
  int value = 0;
};

// The defaults here are those of most architectures.
struct Architecture {
  std::string_view model_type;
  bool tied_embeddings = false;  // if the config does not state `tie_word_embeddings`
  bool gated_mlp = true;
  bool latent_attention = false;
  bool linear_attention = false;  // layers of Gated DeltaNet, and a gate of the other layers' attention
  bool hybrid = false;  // each layer is Mamba-2, attention, an MLP or experts alone, as a list or pattern says
  WindowLayers windows = WindowLayers::none;
  const ExpertMembers* experts = nullptr;
  std::string_view dense_width = "intermediate_size";
  std::vector<ClassDefault> defaults = {};
};

// nullptr: not in the table.
[[nodiscard]] const Architecture* find_architecture(const std::string& model_type);

// Returns why a Model cannot describe the architecture: "has layers of linear attention". Empty: no reason
// known.
[[nodiscard]] std::string_view why_no_architecture(const std::string& model_type);

}  // namespace sextant::inline documents
