#include "calibrate/import/published/published_execution.h"

#include <algorithm>
#include <map>

#include "calibrate/import/published/published_framework.h"
#include "calibrate/import/published/published_layout.h"
#include "calibrate/import/records/measured_generation.h"
#include "core/json_value.h"

namespace sextant {
namespace {

// The fraction of GPU memory for a serving engine that alternates with training on the GPU; the recipes and
// examples of NeMo RL and verl that state it have 0.6.
constexpr double kSharedMemoryFraction = 0.6;

void set_micro_batch(const PublishedRecord& record, const PublishedTask& layout, MeasuredIteration& iteration,
                     MeasuredTask& task) {
  const bool is_binned = is_nemo_rl(record) && record.packing.value_or(false) && layout.micro_batch_size &&
                         record.max_total_tokens;
  if (is_real(record) && layout.micro_batches) {
    task.execution.micro_batches = *layout.micro_batches;
  } else if (is_binned) {
    // NeMo RL packs sequences into bins of the longest sequence times the micro-batch size.
    const double bin = *record.max_total_tokens * *layout.micro_batch_size;
    task.execution.micro_batch_tokens = std::max(1, static_cast<int>(bin));
  } else if (layout.max_tokens_per_micro_batch) {
    task.execution.micro_batch_tokens = *layout.max_tokens_per_micro_batch;
  } else if (layout.micro_batch_size) {
    task.micro_batch_sequences = *layout.micro_batch_size;
  } else if (layout.micro_batch_size_global) {
    task.micro_batch_sequences = std::max(1, *layout.micro_batch_size_global / task.degrees.data_parallel);
  } else {
    add_note(iteration.notes, "left unsaid", "Sequences of a micro-batch of " + task.name + ": one.");
  }
}

bool is_packed(const PublishedRecord& record) {
  return record.packing.value_or(!record.is_padded && !is_deepspeed(record));
}

std::string semantics_of(const PublishedRecord& record) {
  if (is_real(record)) return "real";
  if (is_nemo_rl(record)) return "nemo-rl";
  return is_verl(record) ? "verl" : kPlainSemantics;
}

void set_generation(const PublishedRecord& record, const PublishedTask& layout, MeasuredIteration& iteration,
                    MeasuredTask& task) {
  Execution& execution = task.execution;
  execution.cuda_graphs =
      record.cuda_graph.value_or(is_serving(record) && !has_text(record.rollout_backend, "eager"));
  // ReaL generates every micro-batch to its end before the next, cut into as many parts as stages
  // (semantics.h).
  if (is_real(record)) return;
  if (generates_without_engine(record)) {
    task.decode_batch_sequences = layout.micro_batch_size.value_or(0);
    return;
  }
  execution.packed = true;
  execution.continuous_batching = true;
  execution.shared_prompts = iteration.responses_per_prompt > 1;  // prefix caches are on in these frameworks
  execution.prefill_chunk_tokens = layout.max_batched_tokens.value_or(kUsualPrefillTokens);
  task.decode_batch_sequences = layout.max_num_seqs.value_or(0);
  const bool takes_turns = record.synchrony == "sync";
  task.memory_fraction =
      layout.gpu_memory_utilization.value_or(takes_turns ? kSharedMemoryFraction : kUsualMemoryFraction);
  if (!layout.gpu_memory_utilization) {
    add_note(iteration.notes, "left unsaid",
             "The engine's part of the GPU memory: " + Json(task.memory_fraction).dump() + ".");
  }
  if (record.generation_precision == "fp8") {
    execution.precision = Precision::fp8;
    execution.weight_precision = Precision::fp8;
  }
}

// Megatron keeps its optimizer's state sharded over replicas in all of these frameworks.
int zero_stage_of(const PublishedRecord& record) {
  if (is_deepspeed(record)) return 0;  // by memory, below
  return shards_whole_model(record) ? 3 : 1;
}

// NeMo RL on Megatron keeps the reference's weights on the host, and there too the trainer's states while the
// same GPUs generate (use_reference_model, offload_before_refit and offload_after_refit of its policy worker).
bool waits_on_host(const PublishedRecord& record, const MeasuredTask& task) {
  if (!is_nemo_rl(record) || !has_text(record.train_backend, "Megatron")) return false;
  return task.name == task_names::kReferenceInference ||
         (is_training_task(task.name) && record.synchrony == "sync");
}

void set_passes(const PublishedRecord& record, const PublishedTask& layout, MeasuredTask& task) {
  Execution& execution = task.execution;
  const bool trains = is_training_task(task.name);
  execution.packed = is_packed(record);
  if (trains || shards_whole_model(record)) execution.zero_stage = zero_stage_of(record);
  execution.sequence_parallel = task.degrees.tensor_parallel > 1 && !is_real(record);
  if (record.train_precision == "fp8") {
    execution.precision = Precision::fp8;
    if (trains) execution.weight_precision = Precision::bf16;
  }
  if (trains) {
    const bool is_full = record.recompute.value_or(false) || !record.partial_recompute.empty();
    task.recompute = is_full ? Recompute::full : Recompute::none;
    execution.offload_optimizer = layout.optimizer_offload_fraction.value_or(0) > 0;
  }
  const bool is_own_model = role_of_task(task.name) == "actor";
  execution.offload_weights = layout.param_offload || layout.optimizer_offload ||
                              (is_own_model && (record.param_offload || record.optimizer_offload)) ||
                              waits_on_host(record, task);
}

void set_experts(const PublishedRecord& record, const PublishedTask& layout, MeasuredIteration& iteration,
                 MeasuredTask& task) {
  if (task.name == task_names::kActorGeneration) return;
  const int ranks = task.degrees.data_parallel * task.degrees.context_parallel * task.degrees.tensor_parallel;
  const int stated = layout.ep.value_or(1);
  task.execution.expert_parallel = std::min(stated, ranks);
  if (stated > ranks) {
    add_note(iteration.notes, "remarks",
             "Expert parallelism " + std::to_string(stated) + " of " + task.name + " cannot be on " +
                 std::to_string(ranks) + " GPUs of a stage: taken as " + std::to_string(ranks) + ".");
  }
  if (stated > 1 && (layout.etp || is_nemo_rl(record))) {
    task.execution.expert_tensor_parallel = layout.etp.value_or(1);  // NeMo RL's recipes do not split experts
  }
}

// Bytes that a GPU holds of a model in mixed precision with Adam.
double held_bytes(const MeasuredTask& task, double parameters, int zero_stage, bool offloads) {
  constexpr double kWeights = 2, kWeightsAndGradients = 4, kAdam = 12;
  const double n = task.degrees.data_parallel;
  const double adam = offloads ? 0 : kAdam / n;
  if (!is_training_task(task.name)) return kWeights * parameters / (zero_stage == 3 ? n : 1.0);
  return parameters * (adam + (zero_stage == 3 ? kWeightsAndGradients / n : kWeightsAndGradients));
}

// The bytes of all models on the GPUs where a task begins; each model counts once.
double held_beside(const MeasuredIteration& iteration, const MeasuredTask& task, int zero_stage,
                   bool offloads) {
  std::map<std::string, double> by_role;
  for (const MeasuredTask& other : iteration.tasks) {
    if (other.degrees.first != task.degrees.first) continue;
    const std::string role = role_of_task(other.name);
    const double parameters = iteration.models.at(role).parameters();
    by_role[role] = std::max(by_role[role], held_bytes(other, parameters, zero_stage, offloads));
  }
  double bytes = 0;
  for (const auto& [role, held] : by_role) bytes += held;
  return bytes;
}

}  // namespace

bool is_training_task(const std::string& task) {
  return task == task_names::kActorTraining || task == task_names::kCriticTraining;
}

void set_execution(const PublishedRecord& record, const PublishedTask& layout, MeasuredIteration& iteration,
                   MeasuredTask& task) {
  task.execution.fused_attention = is_serving(record) || is_real(record);
  task.execution.semantics = semantics_of(record);
  if (task.name == task_names::kActorGeneration) {
    set_generation(record, layout, iteration, task);
    if (is_serving(record)) return;
  } else {
    set_passes(record, layout, task);
  }
  set_micro_batch(record, layout, iteration, task);
  set_experts(record, layout, iteration, task);
}

// The tables do not print the ZeRO stage: the least sharding that the memory allows, on the host what is over.
void set_deepspeed_stages(MeasuredIteration& iteration) {
  const double memory_bytes = iteration.gpu.type.memory_bytes.value;
  for (MeasuredTask& task : iteration.tasks) {
    const bool fits_whole = held_beside(iteration, task, 2, false) <= memory_bytes;
    const bool fits_sharded = held_beside(iteration, task, 3, false) <= memory_bytes;
    if (is_training_task(task.name)) {
      task.execution.zero_stage = fits_whole ? 2 : 3;
      task.execution.offload_optimizer = !fits_whole && !fits_sharded;
    } else if (task.name != task_names::kActorGeneration) {
      task.execution.zero_stage = fits_whole ? 0 : 3;
    }
  }
  add_note(iteration.notes, "left unsaid",
           "The ZeRO stage: 2 where the states fit the GPUs then, else 3, with Adam on the host where these do "
           "not.");
}

}  // namespace sextant
