#include "costmodel/terms/data_parallel.h"

#include <algorithm>

namespace sextant::terms {
namespace {

// Sums of a + b over the projections from a to b of one layer.
double attention_ends(const Model& model) {
  const double h = model.hidden, query = static_cast<double>(model.heads) * model.head_dim;
  const double key = static_cast<double>(model.kv_heads) * model.head_dim;
  if (!model.latent_attention) {
    const double queries = model.attention_gate ? 2 * query : query;
    const double full = (h + queries) + 2 * (h + key) + (query + h);
    if (!model.linear_attention) return model.full_attention_share() * full;
    const LinearAttention& of = *model.linear_attention;
    const double linear = (h + of.mixed_width()) + 2 * (h + of.value_width()) +
                          of.numbers_per_head * (h + static_cast<double>(of.value_heads));
    return model.full_attention_share() * full + model.linear_attention_share() * linear;
  }
  const LatentAttention& latent = *model.latent_attention;
  const double rope = latent.rope_dim, query_out = query + model.heads * rope;
  const double query_in =
      latent.query_rank > 0 ? (h + latent.query_rank) + (latent.query_rank + query_out) : h + query_out;
  const double values = static_cast<double>(model.heads) * model.value_head_dim();
  return query_in + (h + latent.kv_rank + rope) + (latent.kv_rank + query + values) + (values + h);
}

double mlp_ends(const Model& model, double width) {
  return width > 0 ? (model.gated_mlp ? 3.0 : 2.0) * (model.hidden + width) : 0.0;
}

double routed_ends(const Model& model) {
  if (!model.experts) return 0;
  return model.expert_share() * model.experts->count * mlp_ends(model, model.experts->intermediate);
}

// Mean over layers, without routed experts.
double shared_ends(const Model& model) {
  const double with = model.expert_share();
  const double beside = model.experts ? mlp_ends(model, model.experts->shared_intermediate) : 0.0;
  return attention_ends(model) + with * beside +
         (model.mlp_share() - with) * mlp_ends(model, model.intermediate);
}

}  // namespace

double trainable_parameters(const TaskWork& task, int layers, bool is_first, bool is_last) {
  const Model& model = *task.model;
  const double rank = task.execution().lora_rank;
  if (rank == 0) return slice_parameters(model, layers, is_first, is_last);
  return layers * rank * (shared_ends(model) + routed_ends(model));
}

double trainable_expert_parameters(const TaskWork& task, int layers) {
  const double rank = task.execution().lora_rank;
  return layers * (rank == 0 ? task.model->layer_expert_parameters() : rank * routed_ends(*task.model));
}

double reduced_share(const TaskWork& task, const GradientGroup& group, double n, double shards) {
  const double all = trainable_parameters(task, group.layers, group.holds_embedding, group.holds_head);
  const double dense_share = 2.0 * (n - 1.0) / (n * group.tensor_parallel * shards);
  const double width = expert_width(task.execution(), group.tensor_parallel);
  if (width == group.tensor_parallel) return all * dense_share;
  const double experts = trainable_expert_parameters(task, group.layers);
  const double expert_shards = std::max(1.0, shards * group.tensor_parallel / width);
  const double copies = std::max(1.0, n * shards * group.tensor_parallel / width / expert_shards);
  return (all - experts) * dense_share + experts * 2.0 * (copies - 1.0) / (copies * width * expert_shards);
}

}  // namespace sextant::terms
