#include "calibrate/import/published/published_layout.h"

#include <algorithm>
#include <array>

#include "calibrate/import/published/published_execution.h"
#include "calibrate/import/published/published_framework.h"

namespace sextant {
namespace {

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
  const PublishedTask* like = find_entry(record, is_training_task(name) ? "actor_train" : "actor_gen");
  if (like == nullptr || name == task_names::kActorGeneration) return;
  if (!is_training_task(name)) task.micro_batch_size.reset();  // not its trainer's
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

// ---- all ----

MeasuredTask task_of(const PublishedRecord& record, const NamedEntry& named, MeasuredIteration& iteration) {
  const PublishedTask layout = layout_of(record, named);
  MeasuredTask task;
  task.name = named.task;
  task.degrees = degrees_of(record, task.name, layout);
  task.degrees.first = first_device(record, task.name, layout);
  task.layers_first_stage = layout.layers_first_stage;
  task.layers_last_stage = layout.layers_last_stage;
  set_execution(record, layout, iteration, task);
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
