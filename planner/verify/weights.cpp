#include "planner/verify/weights.h"

#include <algorithm>
#include <vector>

namespace sextant::inline planner {
namespace {

struct Matrix {
  double in = 0;
  double out = 0;
  double count = 1;  // of such matrices
};

double tensor_parallel_of(const PlannedTask& task, const Stage& stage) {
  return static_cast<double>(stage.width()) / task.execution().context_parallel;
}

std::vector<Matrix> attention_matrices(const Model& model) {
  const double hidden = model.hidden, heads = model.heads, dim = model.head_dim;
  if (!model.latent_attention) {
    const double keys = static_cast<double>(model.kv_heads) * dim;
    const double queries = model.attention_gate ? 2 * heads * dim : heads * dim;
    return {{hidden, queries}, {hidden, keys}, {hidden, keys}, {heads * dim, hidden}};
  }
  // DeepSeek-V2, section 2.1: queries through a compressed vector or not; keys and values through one, beside
  // which the rotary part of the key is kept.
  const LatentAttention& latent = *model.latent_attention;
  const double query = heads * (dim + latent.rope_dim);
  std::vector<Matrix> all;
  if (latent.query_rank > 0) {
    all = {{hidden, 1.0 * latent.query_rank}, {1.0 * latent.query_rank, query}};
  } else {
    all = {{hidden, query}};
  }
  all.push_back({hidden, 1.0 * latent.kv_rank + latent.rope_dim});
  const double value_dim = latent.value_dim > 0 ? latent.value_dim : dim;
  all.push_back({1.0 * latent.kv_rank, heads * (dim + value_dim)});  // keys and values
  all.push_back({heads * value_dim, hidden});
  return all;
}

// Queries, keys and values of all heads; the gate; numbers for each value head; the output. Mamba-2 names them C, B, x; z; dt.
std::vector<Matrix> linear_matrices(const Model& model) {
  const LinearAttention& linear = *model.linear_attention;
  const double hidden = model.hidden, keys = static_cast<double>(linear.key_heads) * linear.key_dim,
               values = static_cast<double>(linear.value_heads) * linear.value_dim;
  return {{hidden, 2 * keys + values},
          {hidden, values},
          {hidden, 1.0 * linear.value_heads, 1.0 * linear.numbers_per_head},
          {values, hidden}};
}

double convolution_weights(const Model& model) {
  const LinearAttention& linear = *model.linear_attention;
  const double channels = 2.0 * linear.key_heads * linear.key_dim + 1.0 * linear.value_heads * linear.value_dim;
  return channels * linear.convolution;
}

void add_mlps(const Model& model, double width, double count, std::vector<Matrix>& all) {
  if (width == 0) return;
  all.push_back({1.0 * model.hidden, width, model.gated_mlp ? 2 * count : count});
  all.push_back({width, 1.0 * model.hidden, count});
}

struct Layer {
  std::vector<Matrix> shared;
  std::vector<Matrix> experts;
  double router = 0;  // weights
  double convolution = 0;
};

enum class Mixer { none, linear, attention };
enum class Mlp { none, dense, experts };

Layer layer_of(const Model& model, Mixer mixer, Mlp mlp) {
  Layer layer;
  if (mixer == Mixer::attention) layer.shared = attention_matrices(model);
  if (mixer == Mixer::linear) {
    layer.shared = linear_matrices(model);
    layer.convolution = convolution_weights(model);
  }
  if (mlp == Mlp::none) return layer;
  if (mlp == Mlp::dense) {
    add_mlps(model, model.intermediate, 1, layer.shared);
    return layer;
  }
  add_mlps(model, model.experts->intermediate, model.experts->count, layer.experts);
  add_mlps(model, model.experts->shared_intermediate, 1, layer.shared);
  layer.router = static_cast<double>(model.hidden) * model.experts->count;
  return layer;
}

// Mean over the model's layers of what `count` makes of one.
template <typename F>
Weights mean_layer(const Model& model, F count) {
  Weights sum;
  const int linear = model.linear_attention ? model.linear_attention->layers : 0;
  const auto add = [&](Mixer mixer, Mlp mlp) {
    const Weights one = count(layer_of(model, mixer, mlp));
    sum.shared += one.shared;
    sum.experts += one.experts;
  };
  // Mixers and MLPs of their own, or both in every layer.
  const int mixers = model.layers - model.mlp_layers;
  for (int l = 0; l < model.layers; ++l) {
    const Mixer mixer = l < linear ? Mixer::linear : Mixer::attention;
    const int number = model.mlp_layers > 0 ? l - mixers : l;  // of the MLP
    const Mlp mlp = model.experts && number >= model.experts->dense_layers ? Mlp::experts : Mlp::dense;
    if (model.mlp_layers == 0) {
      add(mixer, mlp);
    } else {
      add(l < mixers ? mixer : Mixer::none, l < mixers ? Mlp::none : mlp);
    }
  }
  return {sum.shared / model.layers, sum.experts / model.layers};
}

Weights count_weights(const Layer& layer) {
  Weights weights;
  weights.shared = layer.router + layer.convolution;
  for (const Matrix& matrix : layer.shared) weights.shared += matrix.count * matrix.in * matrix.out;
  for (const Matrix& matrix : layer.experts) weights.experts += matrix.count * matrix.in * matrix.out;
  return weights;
}

// The router is no projection.
Weights count_adapters(const Layer& layer, double rank) {
  Weights weights;
  for (const Matrix& matrix : layer.shared) weights.shared += matrix.count * rank * (matrix.in + matrix.out);
  for (const Matrix& matrix : layer.experts) weights.experts += matrix.count * rank * (matrix.in + matrix.out);
  return weights;
}

// Embedding on the first stage, head on the last; a tied head is the embedding where both are on one stage.
double end_weights(const Model& model, bool is_first, bool is_last) {
  const double table = static_cast<double>(model.vocabulary) * model.hidden;
  double weights = is_first ? table : 0;
  if (!is_last) return weights;
  if (model.value_head) return weights + model.hidden;
  return is_first && model.tied_embeddings ? weights : weights + table;
}

}  // namespace

std::int64_t expert_devices(const PlannedTask& task, const Stage& stage) {
  const Execution& execution = task.execution();
  const int group = stage.width() / execution.context_parallel;
  const int inside = execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel : group;
  return std::int64_t{execution.expert_parallel} * inside;
}

Weights held_weights(const PlannedTask& task, const Replica& replica, std::size_t stage) {
  const Stage& layout = replica.stages[stage];
  const Weights layer = mean_layer(task.model(), count_weights);
  const double ends = end_weights(task.model(), stage == 0, stage + 1 == replica.stages.size());
  return {(layout.layers * layer.shared + ends) / tensor_parallel_of(task, layout),
          layout.layers * layer.experts / static_cast<double>(expert_devices(task, layout))};
}

Weights layer_weights(const PlannedTask& task, const Stage& stage) {
  const Weights layer = mean_layer(task.model(), count_weights);
  return {layer.shared / tensor_parallel_of(task, stage),
          layer.experts / static_cast<double>(expert_devices(task, stage))};
}

Weights adapter_weights(const PlannedTask& task, const Stage& stage) {
  const double rank = task.execution().lora_rank;
  const Weights layer =
      mean_layer(task.model(), [rank](const Layer& one) { return count_adapters(one, rank); });
  return {stage.layers * layer.shared / tensor_parallel_of(task, stage),
          stage.layers * layer.experts / static_cast<double>(expert_devices(task, stage))};
}

Copies copies_of(const PlannedTask& task, const Stage& stage) {
  double parts = static_cast<double>(task.plan.replicas.size()) * task.execution().context_parallel;
  if (task.execution().sharded_over > 0) parts = task.execution().sharded_over;
  const double holders = parts * tensor_parallel_of(task, stage);  // devices with these layers
  return {parts, std::max(1.0, holders / static_cast<double>(expert_devices(task, stage)))};
}

}  // namespace sextant::inline planner
