#include "calibrate/import/published/published_record.h"

#include <initializer_list>
#include <string_view>

#include "core/json_value.h"

namespace sextant {
namespace {

std::string text_or_empty(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? value->text() : "";
}

std::optional<std::string> optional_text(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->text()) : std::nullopt;
}

std::optional<int> optional_count(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->count(1)) : std::nullopt;
}

std::optional<double> optional_positive(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->positive()) : std::nullopt;
}

std::optional<double> optional_non_negative(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->non_negative()) : std::nullopt;
}

std::optional<bool> optional_flag(const JsonView& view, std::string_view member) {
  const std::optional<JsonView> value = view.optional(member);
  return value ? std::optional(value->flag()) : std::nullopt;
}

template <typename T>
std::optional<T> first_of(std::initializer_list<std::optional<T>> candidates) {
  for (const std::optional<T>& candidate : candidates) {
    if (candidate) return candidate;
  }
  return std::nullopt;
}

std::string parse_source(const JsonView& view) {
  view.allow_only({"title", "location", "table_or_section", "recipes", "scripts"});
  std::string out = view.required("title").text() + ", " + view.required("location").text() + ", " +
                    view.required("table_or_section").text();
  for (const std::string_view member : {"recipes", "scripts"}) {
    if (const auto more = view.optional(member)) out += "; " + std::string(member) + " " + more->text();
  }
  return out;
}

void parse_hardware(const JsonView& view, PublishedRecord& record) {
  view.allow_only({"gpu", "gpus", "nodes", "gpus_per_node", "system", "gpu_memory_gb",
                   "peak_tflops_inferred_from_logged_mfu", "intra_node_link", "inter_node_link",
                   "intra_cluster", "cross_cluster", "cross_type_gb_per_s", "types", "usd_per_h", "train_gpu",
                   "train_gpus", "rollout_gpu", "rollout_gpus"});
  record.gpu = optional_text(view, "gpu");
  record.peak_tflops = optional_positive(view, "peak_tflops_inferred_from_logged_mfu");
  record.gpus = optional_count(view, "gpus");
  record.nodes = optional_count(view, "nodes");
  record.gpus_per_node = optional_count(view, "gpus_per_node");
}

void parse_models(const JsonView& view, PublishedRecord& record) {
  for (const std::string_view role : {"actor", "critic", "reference", "reward"}) {
    if (const auto model = view.optional(std::string(role) + "_model")) {
      record.models[std::string(role)] = model->text();
    }
  }
}

void parse_batch(const JsonView& view, PublishedRecord& record) {
  record.prompts = optional_count(view, "prompts");
  record.responses_per_prompt = optional_count(view, "responses_per_prompt");
  record.sequences = optional_count(view, "global_batch_sequences");
  record.minibatches = optional_count(view, "minibatches");
  record.minibatch_prompts = optional_count(view, "minibatch_prompts");
  if (const auto candidates = view.optional("global_batch_sequences_candidates")) {
    for (const JsonView& candidate : candidates->items()) {
      record.sequence_candidates.push_back(candidate.count(1));
    }
  }
}

void parse_lengths(const JsonView& view, PublishedRecord& record) {
  record.prompt_tokens = optional_positive(view, "prompt_tokens");
  record.response_tokens = optional_positive(view, "response_tokens");
  record.prompt_tokens_mean = first_of(
      {optional_positive(view, "prompt_tokens_mean"), optional_positive(view, "mean_prompt_tokens_derived")});
  record.response_tokens_mean = optional_positive(view, "response_tokens_mean");
  record.total_tokens_mean = optional_positive(view, "mean_total_tokens");
  record.max_prompt_tokens = optional_positive(view, "max_prompt_tokens");
  record.max_response_tokens = optional_positive(view, "max_response_tokens");
  record.max_total_tokens =
      first_of({optional_positive(view, "max_total_tokens"), optional_positive(view, "total_context_tokens"),
                optional_positive(view, "max_input_tokens")});
}

// true, false or the name of how it is done.
std::optional<bool> parse_packing(const JsonView& workload) {
  const std::optional<JsonView> packing = workload.optional("sequence_packing");
  if (!packing) return std::nullopt;
  return packing->json().is_string() ? packing->text() == "remove_padding" : packing->flag();
}

void parse_options(const JsonView& view, PublishedRecord& record) {
  record.staleness_steps = optional_non_negative(view, "staleness_steps");
  record.staleness_threshold = optional_non_negative(view, "staleness_threshold");
  record.parts_of_step = optional_count(view, "trigger_parameter_sync_step");
  record.required_mini_batches = optional_count(view, "require_batches");
  if (const auto precision = view.optional("precision")) {
    precision->allow_only({"train", "generation"});
    record.train_precision = precision->required("train").text();
    record.generation_precision = precision->required("generation").text();
  }
  record.packing = parse_packing(view);
  record.recompute = optional_flag(view, "activation_recompute");
  record.partial_recompute = text_or_empty(view, "recompute");
  record.cuda_graph = optional_flag(view, "cuda_graph");
  record.lora_rank = optional_count(view, "lora_rank").value_or(0);
  record.param_offload = optional_flag(view, "param_offload").value_or(false);
  record.optimizer_offload = optional_flag(view, "optimizer_offload").value_or(false);
  record.is_padded = view.optional("padding").has_value();
}

void parse_workload(const JsonView& view, PublishedRecord& record) {
  view.allow_only({"algorithm",
                   "synchrony",
                   "framework",
                   "train_backend",
                   "rollout_backend",
                   "dataset",
                   "actor_model",
                   "critic_model",
                   "reference_model",
                   "reward_model",
                   "prompts",
                   "responses_per_prompt",
                   "global_batch_sequences",
                   "global_batch_sequences_candidates",
                   "minibatches",
                   "minibatch_prompts",
                   "train_global_batch_sequences",
                   "batch_per_dp_sequences",
                   "max_global_batch_sequences",
                   "sequences_per_epoch",
                   "tokens_per_epoch",
                   "prompt_tokens",
                   "response_tokens",
                   "total_context_tokens",
                   "response_length_is",
                   "prompt_tokens_mean",
                   "mean_prompt_tokens_derived",
                   "response_tokens_mean",
                   "mean_total_tokens",
                   "max_prompt_tokens",
                   "max_response_tokens",
                   "max_total_tokens",
                   "max_input_tokens",
                   "context",
                   "staleness_steps",
                   "staleness_threshold",
                   "trigger_parameter_sync_step",
                   "require_batches",
                   "partial_rollout",
                   "precision",
                   "sequence_packing",
                   "activation_recompute",
                   "recompute",
                   "cuda_graph",
                   "lora_rank",
                   "param_offload",
                   "optimizer_offload",
                   "padding",
                   "generation_and_training_gpus",
                   "jobs",
                   "kl",
                   "max_turns",
                   "ppo_epochs",
                   "prefix_grouper",
                   "reward",
                   "rollout_micro_batch_size",
                   "speculative",
                   "task"});
  record.algorithm = view.required("algorithm").text();
  record.synchrony = view.required("synchrony").text();
  record.framework = view.required("framework").text();
  record.train_backend = text_or_empty(view, "train_backend");
  record.rollout_backend = text_or_empty(view, "rollout_backend");
  record.dataset = text_or_empty(view, "dataset");
  parse_models(view, record);
  parse_batch(view, record);
  parse_lengths(view, record);
  parse_options(view, record);
  Json workload = view.json();
  workload.erase("cuda_graph");
  record.workload_text = workload.dump();
}

PublishedTask parse_task(const JsonView& view) {
  view.allow_only({"gpus",
                   "tp",
                   "pp",
                   "dp",
                   "cp",
                   "ep",
                   "etp",
                   "ulysses_sp",
                   "fsdp_size",
                   "strategy",
                   "layers_first_stage",
                   "layers_last_stage",
                   "micro_batch_size",
                   "micro_batch_size_global",
                   "micro_batches",
                   "max_tokens_per_micro_batch",
                   "max_tokens_per_micro_batch_per_gpu",
                   "max_num_seqs",
                   "max_batched_tokens",
                   "gpu_memory_utilization",
                   "device_mesh",
                   "param_offload",
                   "optimizer_offload",
                   "optimizer_offload_fraction",
                   "distributed_optimizer",
                   "sequence_parallel"});
  PublishedTask task;
  task.gpus = optional_count(view, "gpus");
  task.tp = optional_count(view, "tp");
  task.pp = optional_count(view, "pp");
  task.dp = optional_count(view, "dp");
  task.cp = optional_count(view, "cp");
  task.ep = optional_count(view, "ep");
  task.etp = optional_count(view, "etp");
  task.ulysses_sp = optional_count(view, "ulysses_sp");
  task.layers_first_stage = optional_count(view, "layers_first_stage");
  task.layers_last_stage = optional_count(view, "layers_last_stage");
  task.micro_batch_size = optional_count(view, "micro_batch_size");
  task.micro_batch_size_global = optional_count(view, "micro_batch_size_global");
  task.micro_batches = optional_count(view, "micro_batches");
  task.max_tokens_per_micro_batch = first_of({optional_count(view, "max_tokens_per_micro_batch_per_gpu"),
                                              optional_count(view, "max_tokens_per_micro_batch")});
  task.max_num_seqs = optional_count(view, "max_num_seqs");
  task.max_batched_tokens = optional_count(view, "max_batched_tokens");
  task.gpu_memory_utilization = optional_positive(view, "gpu_memory_utilization");
  task.optimizer_offload_fraction = optional_positive(view, "optimizer_offload_fraction");
  task.param_offload = optional_flag(view, "param_offload").value_or(false);
  task.optimizer_offload = optional_flag(view, "optimizer_offload").value_or(false);
  task.strategy = text_or_empty(view, "strategy");
  task.device_mesh = text_or_empty(view, "device_mesh");
  task.text = view.json().dump();
  return task;
}

void parse_plan(const JsonView& view, PublishedRecord& record) {
  view.allow_only({"actor_gen", "actor_train", "critic_train", "critic_inf", "reward_inf", "ref_inf",
                   "old_logp_inf", "policy_and_ref_forward"});
  for (const auto& [name, task] : view.members()) record.plan.emplace(name, parse_task(task));
}

std::map<std::string, double> parse_times(const JsonView& view) {
  view.allow_only({"actor_gen", "generate_sequences", "reward_inf", "ref_inf", "critic_inf", "old_logp_inf",
                   "logprob_inf", "policy_and_ref_forward", "actor_gen_and_inference", "training",
                   "actor_train", "critic_train", "weight_sync", "wait_for_samples", "train_phase_total"});
  std::map<std::string, double> out;
  for (const auto& [name, time] : view.members()) out.emplace(name, time.positive());
  return out;
}

PublishedSample parse_sample(const JsonView& view) {
  view.allow_only({"step", "iteration_s", "tasks_s", "mean_total_tokens", "mfu_actor", "prompt_tokens_mean",
                   "response_tokens_mean", "tokens", "total_tokens"});
  PublishedSample sample;
  sample.iteration_s = optional_positive(view, "iteration_s");
  if (const auto tasks = view.optional("tasks_s")) sample.tasks_s = parse_times(*tasks);
  return sample;
}

void parse_measured(const JsonView& view, PublishedRecord& record) {
  view.allow_only({"iteration_s",
                   "tasks_s",
                   "samples",
                   "cumulative_s",
                   "cpu_memory_gb",
                   "gpu_memory_gb",
                   "e2e_tflops_per_gpu",
                   "gen_tflops_per_gpu",
                   "train_tflops_per_gpu",
                   "epoch_h",
                   "printed",
                   "gen_tokens_per_s_per_gpu",
                   "logp_tokens_per_s_per_gpu",
                   "tokens_per_s",
                   "tokens_per_s_per_gpu",
                   "iteration_s_ideal_all_h800",
                   "iteration_s_solo_disaggregated",
                   "iteration_s_weave",
                   "no_eos_ratio",
                   "prompt_tokens_mean",
                   "response_tokens_mean",
                   "samples_per_s",
                   "steps",
                   "total_h",
                   "total_tokens",
                   "train_mfu",
                   "train_mfu_logged",
                   "usd",
                   "validate_s",
                   "weight_sync_s"});
  record.iteration_s = optional_positive(view, "iteration_s");
  if (const auto tasks = view.optional("tasks_s")) record.tasks_s = parse_times(*tasks);
  if (const auto samples = view.optional("samples")) {
    for (const JsonView& sample : samples->items()) record.samples.push_back(parse_sample(sample));
  }
  if (const auto cumulative = view.optional("cumulative_s")) {
    for (const auto& [steps, time] : cumulative->members()) record.cumulative_s.push_back(time.positive());
  }
}

PublishedRecord parse_record(const JsonView& view) {
  view.allow_only(
      {"id", "source", "hardware", "workload", "plan", "measured", "notes", "grade", "missing", "repeated_in"});
  PublishedRecord record;
  record.id = view.required("id").text();
  record.source = parse_source(view.required("source"));
  record.grade = view.required("grade").text();
  record.remarks = view.required("notes").any_text();
  record.repeated_in = text_or_empty(view, "repeated_in");
  for (const JsonView& what : view.required("missing").items()) record.missing.push_back(what.text());
  parse_hardware(view.required("hardware"), record);
  parse_workload(view.required("workload"), record);
  if (const auto plan = view.optional("plan")) parse_plan(*plan, record);
  parse_measured(view.required("measured"), record);
  return record;
}

}  // namespace

std::vector<PublishedRecord> parse_published_records(const JsonView& view) {
  view.allow_only({"schema", "about", "count", "records"});
  constexpr std::string_view kSchema = "sextant.published.runs/1";
  if (view.required("schema").text() != kSchema) {
    view.required("schema").fail("expected " + std::string(kSchema));
  }
  const std::vector<JsonView> items = view.required("records").items();
  if (const auto count = view.optional("count"); count && count->json() != items.size()) {
    count->fail("there are " + std::to_string(items.size()) + " records");
  }
  std::vector<PublishedRecord> records;
  for (const JsonView& item : items) records.push_back(parse_record(item));
  return records;
}

}  // namespace sextant
