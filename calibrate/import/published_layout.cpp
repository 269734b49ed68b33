#include "calibrate/import/published_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/import/measured_generation.h"

namespace sextant {
namespace {

// Of a GPU's memory, what a serving engine gets that takes turns with training on it; the recipes and examples
// of NeMo RL and verl that state it have 0.6.
constexpr double kSharedMemoryFraction = 0.6;

struct NamedEntry {
  const char* task;   // as in the workflow
  const char* entry;  // of the record's plan
};

constexpr std::array<NamedEntry, 7> kEntries{{
    {task_names::kActorGeneration, "actor_gen"},
    {task_names::kRewardInference, "reward_inf"},
    {kOldLogProb, "old_logp_inf"},
    {task_names::kReferenceInference, "ref_inf"},
    {task_names::kCriticInference, "critic_inf"},
    {task_names::kActorTraining, "actor_train"},
    {task_names::kCriticTraining, "critic_train"},
}};

bool has_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool is_deepspeed(const PublishedRecord& record) { return record.train_backend.starts_with("DeepSpeed"); }
bool is_real(const PublishedRecord& record) { return record.framework == "ReaL"; }
bool is_nemo_rl(const PublishedRecord& record) { return record.framework.starts_with("NeMo RL"); }
bool is_verl(const PublishedRecord& record) { return record.framework.starts_with("verl"); }
bool generates_without_engine(const PublishedRecord& record) { return record.rollout_backend == "HF generate"; }
bool is_serving(const PublishedRecord& record) { return !is_real(record) && !generates_without_engine(record); }

const PublishedTask* find_entry(const PublishedRecord& record, const std::string& entry) {
  const auto found = record.plan.find(entry);
  return found == record.plan.end() ? nullptr : &found->second;
}

// The log-probabilities of actor and reference may share one entry.
const PublishedTask* entry_of(const PublishedRecord& record, const NamedEntry& named) {
  if (const PublishedTask* own = find_entry(record, named.entry)) return own;
  const bool is_shared = std::string_view(named.task) == kOldLogProb ||
                         std::string_view(named.task) == task_names::kReferenceInference;
  return is_shared ? find_entry(record, "policy_and_ref_forward") : nullptr;
}

bool is_timed(const PublishedRecord& record, const std::string& entry) {
  return record.tasks_s.contains(entry);
}

// DeepSpeed-Chat and OpenRLHF compute them while they make experience; verl too, unless the rollout engine's
// are taken, as its asynchronous trainers do. ReaL has them from generation.
bool computes_old_log_prob(const PublishedRecord& record) {
  if (find_entry(record, "old_logp_inf") || is_timed(record, "old_logp_inf")) return true;
  if (is_timed(record, "policy_and_ref_forward") || is_timed(record, "logprob_inf")) return true;
  return is_deepspeed(record) || (is_verl(record) && record.synchrony != "async");
}

bool has_generation_layout(const PublishedRecord& record) {
  const PublishedTask* entry = find_entry(record, "actor_gen");
  return entry != nullptr && !record.has_totals_only() && (entry->tp || generates_without_engine(record));
}

bool is_present(const PublishedRecord& record, const std::string& task) {
  if (task == task_names::kActorGeneration) return has_generation_layout(record);
  if (task == kOldLogProb) return computes_old_log_prob(record);
  return record.models.contains(role_of_task(task));
}

bool is_training(const std::string& task) {
  return task == task_names::kActorTraining || task == task_names::kCriticTraining;
}

// ---- degrees ----

template <typename T>
void inherit(std::optional<T>& own, const std::optional<T>& from) {
  if (!own) own = from;
}

// Inference runs on the model as its trainer holds it, where both have the same GPUs.
PublishedTask with_trainer(PublishedTask task, const PublishedTask& trainer) {
  inherit(task.gpus, trainer.gpus);
  if (task.gpus != trainer.gpus) return task;
  inherit(task.tp, trainer.tp);
  inherit(task.pp, trainer.pp);
  inherit(task.cp, trainer.cp);
  inherit(task.ep, trainer.ep);
  inherit(task.etp, trainer.etp);
  inherit(task.ulysses_sp, trainer.ulysses_sp);
  inherit(task.micro_batch_size, trainer.micro_batch_size);
  inherit(task.micro_batch_size_global, trainer.micro_batch_size_global);
  inherit(task.max_tokens_per_micro_batch, trainer.max_tokens_per_micro_batch);
  if (task.pp == trainer.pp) {
    inherit(task.layers_first_stage, trainer.layers_first_stage);
    inherit(task.layers_last_stage, trainer.layers_last_stage);
  }
  return task;
}

// DeepSpeed-Chat and OpenRLHF have one size for all passes of experience and one for all training.
void inherit_deepspeed_sizes(const PublishedRecord& record, const std::string& name, PublishedTask& task) {
  const PublishedTask* like = find_entry(record, is_training(name) ? "actor_train" : "actor_gen");
  if (like == nullptr || name == task_names::kActorGeneration) return;
  if (!is_training(name)) task.micro_batch_size.reset();  // not its trainer's
  inherit(task.micro_batch_size, like->micro_batch_size);
}

PublishedTask layout_of(const PublishedRecord& record, const NamedEntry& named) {
  const PublishedTask* own = entry_of(record, named);
  PublishedTask task = own != nullptr ? *own : PublishedTask{};
  if (std::string_view(named.task) != task_names::kActorGeneration && !is_real(record)) {
    const PublishedTask* trainer =
        find_entry(record, role_of_task(named.task) == "critic" ? "critic_train" : "actor_train");
    if (trainer != nullptr) task = with_trainer(task, *trainer);
  }
  if (is_deepspeed(record)) inherit_deepspeed_sizes(record, named.task, task);
  inherit(task.gpus, record.gpus);
  return task;
}

Degrees degrees_of(const PublishedRecord& record, const std::string& task, const PublishedTask& layout) {
  Degrees degrees;
  const bool is_generation = task == task_names::kActorGeneration;
  degrees.context_parallel = layout.cp.value_or(is_generation ? 1 : layout.ulysses_sp.value_or(1));
  const bool is_sharded = shards_whole_model(record) && !(is_generation && is_serving(record));
  if (!is_sharded) {
    degrees.tensor_parallel = layout.tp.value_or(1);
    degrees.pipeline_parallel = layout.pp.value_or(1);
  }
  const int of_replica = degrees.tensor_parallel * degrees.pipeline_parallel * degrees.context_parallel;
  degrees.data_parallel = layout.dp.value_or(std::max(1, *layout.gpus / of_replica));
  return degrees;
}

// ---- places ----

// ReaL: "trainer02" or "trainer[01-16]", nodes counted from one.
int first_of_mesh(const std::string& mesh, int per_node) {
  const std::size_t digit = mesh.find_first_of("0123456789");
  int node = 1;
  if (digit != std::string::npos) {
    node = 0;
    for (std::size_t i = digit; i < mesh.size() && i < digit + 4 && mesh[i] >= '0' && mesh[i] <= '9'; ++i) {
      node = 10 * node + (mesh[i] - '0');
    }
  }
  return per_node * std::max(0, node - 1);
}

// GPUs of each role where roles have their own: the most that one of its tasks has.
int gpus_of_role(const PublishedRecord& record, const std::string& role) {
  int gpus = 0;
  for (const NamedEntry& named : kEntries) {
    const PublishedTask* entry = find_entry(record, named.entry);
    const bool is_role = entry != nullptr && role_of_task(named.task) == role;
    if (is_role) gpus = std::max(gpus, entry->gpus.value_or(0));
  }
  return gpus;
}

// Trainers come first; generation, where it has its own GPUs, after them.
int first_device(const PublishedRecord& record, const std::string& task, const PublishedTask& layout) {
  if (!layout.device_mesh.empty()) return first_of_mesh(layout.device_mesh, record.gpus_per_node.value_or(8));
  if (*layout.gpus >= *record.gpus) return 0;
  if (record.synchrony != "sync") {
    const bool is_generation = task == task_names::kActorGeneration;
    return is_generation ? record.plan.at("actor_train").gpus.value_or(0) : 0;
  }
  int first = 0;
  for (const char* role : {"actor", "critic", "reference", "reward"}) {
    if (role_of_task(task) == role) break;
    first += gpus_of_role(record, role);
  }
  return first;
}

// ---- micro-batches ----

void set_micro_batch(const PublishedRecord& record, const PublishedTask& layout, MeasuredIteration& iteration,
                     MeasuredTask& task) {
  const bool is_binned = is_nemo_rl(record) && record.packing.value_or(false) && layout.micro_batch_size &&
                         record.max_total_tokens;
  if (is_real(record) && layout.micro_batches) {
    task.execution.micro_batches = *layout.micro_batches;
  } else if (is_binned) {
    // NeMo RL packs sequences into bins of the longest sequence times the micro-batch size.
    const double bin = *record.max_total_tokens * *layout.micro_batch_size / task.degrees.context_parallel;
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

// ---- execution ----

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
  // ReaL generates every micro-batch to its end before the next, cut into as many parts as stages (semantics.h).
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

void set_passes(const PublishedRecord& record, const PublishedTask& layout, MeasuredTask& task) {
  Execution& execution = task.execution;
  const bool trains = is_training(task.name);
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
                              (is_own_model && (record.param_offload || record.optimizer_offload));
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

// ---- DeepSpeed's stage ----

// Bytes that a GPU holds of a model in mixed precision with Adam.
double held_bytes(const MeasuredTask& task, double parameters, int zero_stage, bool offloads) {
  constexpr double kWeights = 2, kWeightsAndGradients = 4, kAdam = 12;
  const double n = task.degrees.data_parallel;
  const double adam = offloads ? 0 : kAdam / n;
  if (!is_training(task.name)) return kWeights * parameters / (zero_stage == 3 ? n : 1.0);
  return parameters * (adam + (zero_stage == 3 ? kWeightsAndGradients / n : kWeightsAndGradients));
}

// Of all models on the GPUs where a task begins; each once.
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

// The tables do not print the ZeRO stage: the least sharding that the memory allows, on the host what is over.
void set_deepspeed_stages(MeasuredIteration& iteration) {
  const double memory_bytes = iteration.gpu.type.memory_bytes.value;
  for (MeasuredTask& task : iteration.tasks) {
    const bool fits_whole = held_beside(iteration, task, 2, false) <= memory_bytes;
    const bool fits_sharded = held_beside(iteration, task, 3, false) <= memory_bytes;
    if (is_training(task.name)) {
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

// ---- all ----

MeasuredTask task_of(const PublishedRecord& record, const NamedEntry& named, MeasuredIteration& iteration) {
  const PublishedTask layout = layout_of(record, named);
  MeasuredTask task;
  task.name = named.task;
  task.degrees = degrees_of(record, task.name, layout);
  task.degrees.first = first_device(record, task.name, layout);
  task.layers_first_stage = layout.layers_first_stage;
  task.layers_last_stage = layout.layers_last_stage;
  task.execution.fused_attention = is_serving(record) || is_real(record);
  task.execution.semantics = semantics_of(record);
  if (task.name == task_names::kActorGeneration) {
    set_generation(record, layout, iteration, task);
    if (is_serving(record)) return task;
  } else {
    set_passes(record, layout, task);
  }
  set_micro_batch(record, layout, iteration, task);
  set_experts(record, layout, iteration, task);
  return task;
}

std::string contradiction(const PublishedRecord& record, const NamedEntry& named, const MeasuredTask& task) {
  const Degrees& degrees = task.degrees;
  const int product =
      degrees.data_parallel * degrees.pipeline_parallel * degrees.tensor_parallel * degrees.context_parallel;
  const int gpus = *layout_of(record, named).gpus;
  if (product != gpus) {
    return "the degrees of " + task.name + " make up " + std::to_string(product) + " GPUs, not " +
           std::to_string(gpus);
  }
  if (degrees.first + gpus > *record.gpus) {
    return "its tasks have more GPUs than the " + std::to_string(*record.gpus) + " there are";
  }
  return "";
}

}  // namespace

bool shards_whole_model(const PublishedRecord& record) {
  if (is_deepspeed(record) || has_text(record.train_backend, "DTensor")) return true;
  const PublishedTask* trainer = find_entry(record, "actor_train");
  return record.train_backend.starts_with("FSDP") ||
         (trainer != nullptr && trainer->strategy.starts_with("FSDP"));
}

bool has_training_layout(const PublishedRecord& record) {
  const PublishedTask* trainer = find_entry(record, "actor_train");
  return trainer != nullptr && record.gpus && (trainer->tp || shards_whole_model(record));
}

std::string set_layouts(const PublishedRecord& record, MeasuredIteration& iteration) {
  for (const NamedEntry& named : kEntries) {
    if (!is_present(record, named.task)) continue;
    MeasuredTask task = task_of(record, named, iteration);
    if (std::string reason = contradiction(record, named, task); !reason.empty()) return reason;
    if (role_of_task(task.name) == "actor") task.execution.lora_rank = record.lora_rank;
    iteration.tasks.push_back(std::move(task));
  }
  if (is_deepspeed(record)) set_deepspeed_stages(iteration);
  if (!has_generation_layout(record)) {
    add_note(iteration.notes, "left unsaid", "The layout of generation: it is not among the tasks here.");
  }
  return "";
}

}  // namespace sextant
