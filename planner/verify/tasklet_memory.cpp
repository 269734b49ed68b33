#include "planner/verify/tasklet_memory.h"

#include <algorithm>
#include <cmath>

#include "planner/verify/batch.h"
#include "planner/verify/weights.h"

namespace sextant::inline planner {
namespace {

struct States {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double exchanged = 0;  // with an optimizer on the host
};

// Weights that do not train.
void add_frozen(States& states, double parameters, double format_bytes, double shards) {
  states.weights += format_bytes * parameters / shards;
}

// Two moments, and a master copy in fp32 where weights are stored in less and the plan does not do without.
double adam_bytes(const Execution& execution, double format_bytes) {
  double bytes = 4 + 4;
  if (execution.moment_precision) bytes = 2 * bytes_per_element(*execution.moment_precision);
  if (format_bytes < 4 && execution.master_weights) bytes += 4;
  return bytes;
}

void add_trained(States& states, double parameters, double format_bytes, const Execution& execution,
                 double copies) {
  const int zero_stage = execution.zero_stage;
  double gradient_bytes = format_bytes;
  if (execution.main_gradient_precision) gradient_bytes = bytes_per_element(*execution.main_gradient_precision);
  states.weights += format_bytes * parameters / (zero_stage >= 3 ? copies : 1);
  states.gradients += gradient_bytes * parameters / (zero_stage >= 2 ? copies : 1);
  states.optimizer += adam_bytes(execution, format_bytes) * parameters / (zero_stage >= 1 ? copies : 1);
  states.exchanged += (4 + format_bytes) * parameters / (zero_stage >= 1 ? copies : 1);
}

struct Formats {
  double shared_bytes = 2;
  double expert_bytes = 2;
};

// The formats of stored weights: as stated, otherwise those of the computation.
Formats weight_formats(const PlannedTask& task) {
  const Execution& execution = task.execution();
  const Precision computed = execution.precision ? *execution.precision : task.workflow.precision;
  const Precision shared = execution.weight_precision ? *execution.weight_precision : computed;
  Precision experts = shared;
  if (execution.expert_precision) experts = *execution.expert_precision;
  if (execution.expert_weight_precision) experts = *execution.expert_weight_precision;
  return {bytes_per_element(shared), bytes_per_element(experts)};
}

States states_of(const PlannedTask& task, const Replica& replica, std::size_t stage) {
  const Stage& layout = replica.stages[stage];
  const Weights held = held_weights(task, replica, stage);
  const Copies copies = copies_of(task, layout);
  const Formats formats = weight_formats(task);
  const int zero = task.execution().zero_stage;
  States states;
  if (task.is_training() && task.execution().lora_rank == 0) {
    add_trained(states, held.shared, formats.shared_bytes, task.execution(), copies.shared);
    add_trained(states, held.experts, formats.expert_bytes, task.execution(), copies.experts);
    return states;
  }
  const bool sharded = zero == 3 && !task.is_generation();
  add_frozen(states, held.shared, formats.shared_bytes, sharded ? copies.shared : 1);
  add_frozen(states, held.experts, formats.expert_bytes, sharded ? copies.experts : 1);
  if (!task.is_training()) return states;
  const Weights adapters = adapter_weights(task, layout);
  add_trained(states, adapters.shared, formats.shared_bytes, task.execution(), copies.shared);
  add_trained(states, adapters.experts, formats.shared_bytes, task.execution(), copies.experts);
  return states;
}

void place_states(const States& states, const Execution& execution, TaskletMemory& memory) {
  const double used = states.weights + states.gradients;
  if (execution.offload_weights) {
    const double kept = execution.offload_gradients ? used : states.weights;
    memory.host_bytes = kept + states.optimizer + (execution.offload_optimizer ? states.exchanged : 0);
    memory.loaded_bytes = execution.offload_optimizer ? used : used + states.optimizer;
    return;
  }
  memory.host_bytes = execution.offload_optimizer ? states.optimizer + states.exchanged : 0;
  memory.resident_bytes = execution.offload_optimizer ? used : used + states.optimizer;
}

// Activations travel in the format of arithmetic or of the workflow, whichever is wider, and never in less than
// 16 bits.
double activation_format_bytes(const PlannedTask& task) {
  double bytes = bytes_per_element(Precision::bf16);
  bytes = std::max(bytes, bytes_per_element(task.workflow.precision));
  if (task.execution().precision) bytes = std::max(bytes, bytes_per_element(*task.execution().precision));
  return bytes;
}

// Share of the layers that have an MLP.
double layers_with_mlp(const Model& model) {
  return model.mlp_layers == 0 ? 1 : 1.0 * model.mlp_layers / model.layers;
}

double mlp_width(const Model& model) {
  if (!model.experts) return model.intermediate;
  return static_cast<double>(model.experts->active_per_token) * model.experts->intermediate +
         model.experts->shared_intermediate;
}

// Mean over layers of the tokens that one attends to: all of the sequence, or a window in those that slide.
double attended(const Model& model, double tokens) {
  if (model.sliding_window == 0 || tokens <= model.sliding_window) return tokens;
  const int sliding = model.sliding_window_layers == 0 ? model.layers : model.sliding_window_layers;
  return (sliding * 1.0 * model.sliding_window + (model.layers - sliding) * tokens) / model.layers;
}

double attending_layers(const Model& model) {
  return model.layers - model.mlp_layers - (model.linear_attention ? model.linear_attention->layers : 0);
}

// A token in a layer of linear attention: queries, keys and values before and after the convolution, the gate and
// the output.
double linear_values(const Model& model) {
  if (!model.linear_attention) return 0;
  const LinearAttention& linear = *model.linear_attention;
  const double keys = static_cast<double>(linear.key_heads) * linear.key_dim,
               values = static_cast<double>(linear.value_heads) * linear.value_dim;
  return 4 * keys + 4 * values;
}

// Elements that one layer keeps of one token, on one device.
class KeptElements {
 public:
  KeptElements(const PlannedTask& task, const Replica& replica, std::size_t stage)
      : task_(task),
        tokens_(own_tokens(task, replica)),
        split_(static_cast<double>(replica.stages[stage].width()) / task.execution().context_parallel) {}

  [[nodiscard]] double input() const {
    const double hidden = task_.model().hidden;
    return task_.execution().sequence_parallel ? hidden / split_ : hidden;
  }

  [[nodiscard]] double whole_layer(bool with_scores) const {
    const Model& model = task_.model();
    const bool unlike_values = model.latent_attention && model.latent_attention->value_dim > 0;
    const double values = unlike_values ? model.latent_attention->value_dim : model.head_dim;
    double full = (model.heads + model.kv_heads) * (model.head_dim + values);
    if (model.attention_gate) full += static_cast<double>(model.heads) * model.head_dim;
    const double attends = attending_layers(model) / model.layers;
    const double is_mlp = 1.0 * model.mlp_layers / model.layers;
    const double attention = attends * full + (1 - attends - is_mlp) * linear_values(model);
    const double gate_copies = task_.execution().eager_layers && model.gated_mlp ? 1 : 0;
    const double mlp = ((model.gated_mlp ? 3 : 2) + gate_copies) * layers_with_mlp(model) * mlp_width(model);
    double scores = 0;
    if (with_scores && !task_.execution().fused_attention) {
      scores = model.heads * attended(model, tokens_) * attends;
    }
    const int norms = model.mlp_layers == 0 ? 2 : 1;
    return (norms * norm_copies() + layers_with_mlp(model) * routed_copies()) * input() +
           (attention + mlp + scores) / split_;
  }

  // The working memory of the layer that runs, without what was kept for the backward pass.
  [[nodiscard]] double at_work() const {
    const double values = whole_layer(true);
    return task_.is_training() ? values + values - layer(task_.plan.recompute) : values;
  }

  [[nodiscard]] double layer(Recompute recompute) const {
    if (recompute == Recompute::full) return input();
    return whole_layer(recompute == Recompute::none);
  }

 private:
  // Values of one RMSNorm and what it feeds, in elements of the activations' format: its input (in fp32 if every
  // operation is a kernel of its own, which then also keeps the normalised values) and its output.
  [[nodiscard]] double norm_copies() const {
    if (!task_.execution().eager_layers) return 2;
    return 4 / activation_format_bytes(task_) + 2;
  }

  [[nodiscard]] double routed_copies() const {
    if (!task_.model().experts) return 0;
    const int routed = task_.model().experts->active_per_token;
    return task_.execution().fused_experts ? 2 * routed : 4 * routed;
  }

  const PlannedTask& task_;
  double tokens_, split_;
};

// Sequences whose activations a stage keeps at once. 1F1B: one micro-batch for the stage and for each that
// follows. Interleaved (Narayanan et al. 2021, section 2.2, as Megatron-LM schedules it): stage j of P runs
// 2 (P - 1 - j) + (v - 1) P chunks ahead of its first backward pass and keeps one more, each a v-th of a stage;
// on the first stage that is P (1 + (P - 1) / (P v)) micro-batches (Korthikanti et al., section 4.2.3).
double sequences_in_flight(const PlannedTask& task, const Replica& replica, std::size_t stage,
                           const MicroBatches& batches) {
  const double stages = static_cast<double>(replica.stages.size()),
               later = stages - 1 - static_cast<double>(stage);
  const double chunks = task.execution().virtual_stages;
  const double in_flight = chunks > 1 ? (2 * later + (chunks - 1) * stages + 1) / chunks : later + 1;
  return std::min(in_flight * batches.largest_sequences, std::ceil(batches.sequences));
}

// Layers whose activations go to the host.
double layers_away(const Execution& execution, double layers) {
  if (!execution.offload_activations) return 0;
  const int stated = execution.offload_activation_layers;
  return stated > 0 ? std::min<double>(stated, layers) : layers;
}

double training_elements(const PlannedTask& task, const Replica& replica, std::size_t stage,
                         const MicroBatches& batches) {
  const Stage& layout = replica.stages[stage];
  const KeptElements elements(task, replica, stage);
  const double layer = elements.layer(task.plan.recompute),
               in_flight = sequences_in_flight(task, replica, stage, batches);
  const double away = layers_away(task.execution(), layout.layers);
  double kept = in_flight * (layout.layers - away) * layer;
  if (away > 0) kept += batches.largest_sequences * layer;  // on its way to the host or back, one at a time
  if (stage == 0) kept += in_flight * elements.input();     // the embedding's output
  return kept;
}

double logits_of_token(const PlannedTask& task, const Replica& replica, std::size_t stage) {
  if (stage + 1 != replica.stages.size()) return 0;
  if (task.model().value_head) return 1;
  const Stage& layout = replica.stages[stage];
  return static_cast<double>(task.model().vocabulary) * task.execution().context_parallel / layout.width();
}

// One logit from the head to the end of its use.
double logit_bytes(const PlannedTask& task) {
  const double format = activation_format_bytes(task);
  if (task.execution().fused_loss) return task.is_training() ? format + format : format;
  double bytes = format + 4;   // as computed, log-softmax
  if (format < 4) bytes += 4;  // copy in fp32
  if (!task.is_training()) return bytes;
  bytes += 4;                       // gradient
  if (format < 4) bytes += format;  // the gradient as the head's backward pass takes it
  return bytes;
}

// Logits of `tokens` tokens, or of a chunk of them.
double held_logits_bytes(const PlannedTask& task, const Replica& replica, std::size_t stage, double tokens) {
  const double chunk = task.execution().logit_chunk_tokens;
  const double together = chunk > 0 && chunk < tokens ? chunk : tokens;
  return logit_bytes(task) * together * logits_of_token(task, replica, stage);
}

// Sharded weights are gathered in the format of activations where they are stored in more.
double gathered_bytes(const PlannedTask& task, double format_bytes) {
  return std::min(format_bytes, activation_format_bytes(task));
}

// Bytes of the gradient of one weight before replicas have reduced it: as computed, and as it is sent.
double whole_gradient_bytes(const PlannedTask& task) {
  if (!task.is_training() || task.execution().lora_rank > 0) return 0;
  const double computed = activation_format_bytes(task);
  const auto& sent = task.execution().gradient_precision;
  return computed + (sent ? bytes_per_element(*sent) : computed);
}

void set_whole_units(const PlannedTask& task, const Replica& replica, std::size_t stage,
                     TaskletMemory& memory) {
  const Stage& layout = replica.stages[stage];
  const Formats formats = weight_formats(task);
  const Copies copies = copies_of(task, layout);
  const double dense = gathered_bytes(task, formats.shared_bytes),
               routed = gathered_bytes(task, formats.expert_bytes), gradient = whole_gradient_bytes(task);
  const bool is_cast = dense < formats.shared_bytes;
  if (task.execution().zero_stage != 3 || (copies.shared <= 1 && !is_cast)) return;
  const Weights layer = layer_weights(task, layout);
  double layer_bytes = layer.shared * (dense + dense + gradient);
  if (is_cast || copies.experts > 1) layer_bytes += layer.experts * (routed + routed + gradient);
  const double tensor_parallel = static_cast<double>(layout.width()) / task.execution().context_parallel;
  const double table = 1.0 * task.model().vocabulary * task.model().hidden / tensor_parallel;
  const bool is_last = stage + 1 == replica.stages.size();
  const double head = task.model().value_head ? task.model().hidden / tensor_parallel : table;
  const double end = std::max(stage == 0 ? table : 0, is_last ? head : 0);
  memory.whole_head_bytes = is_last ? dense * head : 0;
  memory.whole_unit_bytes = std::max(layer_bytes, end * (dense + gradient));
}

void set_decoding(const PlannedTask& task, const Replica& replica, std::size_t stage, int sequences,
                  TaskletMemory& memory) {
  const DecodeBatch batch = decode_batch(task, replica, sequences);
  // A cache of stated size is allocated before the first request, and stays unless the engine sleeps.
  const double stated = task.execution().kv_cache_bytes;
  if (stated > 0) {
    (task.execution().offload_weights ? memory.woken_cache_bytes : memory.lasting_cache_bytes) = stated;
  } else {
    memory.activation_bytes =
        cache_bytes(task, replica.stages[stage], batch.cached_tokens, batch.cached_sequences);
  }
  memory.logit_bytes = held_logits_bytes(task, replica, stage, batch.step_sequences);
}

void set_pass(const PlannedTask& task, const Replica& replica, std::size_t stage, int sequences,
              TaskletMemory& memory) {
  const int steps = task.is_training() ? task.workflow.mini_batches : 1;
  const MicroBatches batches = micro_batches(task, replica, static_cast<double>(sequences) / steps);
  const double tokens = own_tokens(task, replica) / task.execution().context_parallel;  // of a sequence here
  const double bytes = activation_format_bytes(task);
  const double together = tokens * batches.largest_sequences;
  if (task.is_training()) {
    memory.activation_bytes = bytes * tokens * training_elements(task, replica, stage, batches);
  }
  memory.layer_bytes = bytes * together * KeptElements(task, replica, stage).at_work();
  memory.logit_bytes = held_logits_bytes(task, replica, stage, together);
  set_whole_units(task, replica, stage, memory);
}

}  // namespace

TaskletMemory tasklet_memory(const PlannedTask& task, std::size_t replica, std::size_t stage, int sequences) {
  const Replica& layout = task.plan.replicas[replica];
  TaskletMemory memory;
  place_states(states_of(task, layout, stage), task.execution(), memory);
  if (task.is_generation()) {
    set_decoding(task, layout, stage, sequences, memory);
  } else {
    set_pass(task, layout, stage, sequences, memory);
  }
  return memory;
}

}  // namespace sextant::inline planner
