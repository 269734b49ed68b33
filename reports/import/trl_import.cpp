// Configurations of TRL: flags of "trl grpo" or of a script behind "accelerate launch", YAML files of either, and the
// flags of "trl vllm-serve". Defaults are those of trl/trainer/grpo_config.py at v1.9.0 (35def3ee000a),
// github.com/huggingface/trl, and of TrainingArguments (github.com/huggingface/transformers).
#include <algorithm>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/import/importers.h"

namespace sextant::inline reports {
namespace {

// Keys of a YAML file for accelerate ("deepspeed_config.zero_stage") have the names of its flags.
void take_accelerate(TrainerSettings& settings, RunFacts& facts) {
  constexpr std::string_view kDeepSpeed = "deepspeed_config.";
  const std::vector<TrainerSetting> all = settings.all();
  for (const TrainerSetting& one : all) {
    std::string key = one.key;
    std::replace(key.begin(), key.end(), '-', '_');
    if (key.starts_with(kDeepSpeed)) key.erase(0, kDeepSpeed.size());
    if (key.starts_with("no_") && one.value == Json(true) && key != "no_python") {
      settings.rename(one.key, key.substr(3));
      settings.put(key.substr(3), false, one.where);
    } else if (key != one.key) {
      settings.rename(one.key, key);
    }
  }
  if (settings.has("zero_stage")) return;
  const std::string kind = settings.text("distributed_type", "");
  const bool is_fsdp = kind == "FSDP" || settings.flag("use_fsdp", false);
  if (is_fsdp) {
    settings.assume("zero_stage", 3);
    facts.notes.emplace_back("FSDP shards weights, gradients and optimizer states: it is read as ZeRO 3");
  } else if (!settings.flag("use_deepspeed", kind == "DEEPSPEED")) {
    settings.assume("use_deepspeed", false);
  }
}

void read_trl_batches(const TrainerSettings& settings, RunFacts& facts) {
  constexpr int kMaxGpus = 100'000;
  const long long processes = settings.count("num_processes", 8 * facts.nodes, kMaxGpus);
  const int accumulation = settings.count("gradient_accumulation_steps", 1);
  const long long pass = processes * settings.count("per_device_train_batch_size", 8);
  facts.responses_per_prompt = settings.count("num_generations", 8);
  const int rounds = settings.count("steps_per_generation", accumulation);
  const long long all = std::min<long long>(pass * rounds, TrainerSettings::kMaxCount);
  const int sequences = settings.count("generation_batch_size", static_cast<int>(all));
  facts.prompts = std::max(1, sequences / facts.responses_per_prompt);
  if (sequences % facts.responses_per_prompt != 0)
    facts.notes.push_back("num_generations does not divide the batch of " + std::to_string(sequences) +
                          " sequences: TRL refuses it");
  take_steps(pass * accumulation, "gradient_accumulation_steps", facts);
}

// bf16 unless fp16 is on or bf16 is off; the launcher says it to a script that does not.
void read_trl_precision(const TrainerSettings& settings, RunFacts& facts) {
  if (settings.has("mixed_precision")) {
    const std::string name = settings.text("mixed_precision", "");
    facts.precision = name == "no" ? Precision::fp32 : precision_of_name(name);
  }
  if (settings.has("fp16") && settings.flag("fp16", false)) facts.precision = Precision::fp16;
  if (settings.has("bf16"))
    facts.precision = settings.flag("bf16", true)          ? Precision::bf16
                      : facts.precision == Precision::fp16 ? Precision::fp16
                                                           : Precision::fp32;
}

RunFacts read_trl_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  RunFacts facts;
  facts.profile = "trl";
  take_accelerate(settings, facts);
  if (!settings.flag("use_vllm", false))
    facts.notes.emplace_back("use_vllm is off: generation by Transformers is far slower than the plan's");
  facts.nodes = settings.count("num_machines", 1, TrainerSettings::kMaxNodes);
  read_trl_batches(settings, facts);
  constexpr int kAssumedTokens = 1024;
  facts.max_response_tokens = settings.count("max_completion_length", 256);
  const int rest = settings.count("vllm_max_model_length", facts.max_response_tokens + kAssumedTokens) -
                   facts.max_response_tokens;
  facts.max_prompt_tokens = settings.count("max_prompt_length", std::max(1, rest));
  facts.has_reference = settings.number("beta", 0.0) != 0;
  facts.has_old_log_prob = settings.flag("vllm_importance_sampling_correction", true) || facts.mini_batches > 1;
  facts.actor = settings.text("model_name_or_path", "");
  read_trl_precision(settings, facts);
  const int processes = settings.count("num_processes", 8 * facts.nodes);
  GpuShape shape{facts.nodes, std::max(1, (processes + facts.nodes - 1) / facts.nodes)};
  if (settings.text("vllm_mode", "colocate") == "server")
    shape = shape_of_pools(
        shape, {1, std::min(TrainerSettings::kMaxGpusPerNode,
                            settings.count("tensor_parallel_size", 1, TrainerSettings::kMaxGpusPerNode) *
                                settings.count("data_parallel_size", 1, TrainerSettings::kMaxGpusPerNode))});
  facts.nodes = shape.nodes;
  facts.gpus_per_node = shape.gpus_per_node;
  if (settings.integer("num_iterations", 1) > 1)
    facts.notes.emplace_back("num_iterations: the plan trains once on a batch");
  return facts;
}

UnneededSettings trl_unneeded() {
  UnneededSettings out;
  out.without_effect = {"dataset_*",
                        "datasets*",
                        "reward_*",
                        "output_dir",
                        "learning_rate",
                        "lr_*",
                        "warmup_*",
                        "weight_decay",
                        "max_grad_norm",
                        "adam_*",
                        "optim*",
                        "num_train_epochs",
                        "max_steps",
                        "save_*",
                        "logging_*",
                        "log_*",
                        "eval_*",
                        "do_eval",
                        "per_device_eval_batch_size",
                        "report_to",
                        "run_name",
                        "project",
                        "trackio*",
                        "push_to_hub*",
                        "hub_*",
                        "seed",
                        "data_seed",
                        "temperature",
                        "top_*",
                        "min_p",
                        "repetition_penalty",
                        "epsilon*",
                        "delta",
                        "scale_rewards",
                        "loss_type",
                        "mask_truncated_completions",
                        "importance_sampling_level",
                        "num_completions_to_print",
                        "remove_unused_columns",
                        "shuffle_dataset",
                        "chat_template*",
                        "system_prompt",
                        "model_revision",
                        "attn_implementation",
                        "trust_remote_code",
                        "vllm_server_*",
                        "vllm_group_port",
                        "vllm_importance_sampling_*",
                        "lora_r",  // read if use_peft is on
                        "lora_alpha",
                        "lora_dropout",
                        "lora_target*",
                        "lora_task_type",
                        "machine_rank",
                        "main_process_*",
                        "same_network",
                        "rdzv_*",
                        "main_training_function",
                        "compute_environment",
                        "distributed_type",
                        "debug",
                        "tpu_*",
                        "downcast_bf16",
                        "zero3_*",
                        "deepspeed_multinode_launcher",
                        "use_cpu",
                        "config",
                        "config_file",
                        "accelerate_config",
                        "model",
                        "max_model_len",
                        "host",
                        "port",
                        "enable_prefix_caching",
                        "num_machines",
                        "gradient_checkpointing_kwargs*",
                        "dataloader_*",
                        "sync_ref_model",
                        "disable_dropout",
                        "use_deepspeed"};
  out.neutral = {{"dtype", "bfloat16"},
                 {"dtype", "float16"},
                 {"dtype", "float32"},
                 {"torch_dtype", "bfloat16"},
                 {"offload_param_device", "none"},
                 {"num_iterations", "1"}};
  return out;
}

}  // namespace

Importer trl_importer() {
  return {"trl",
          {SettingForm::flags, {"grpo"}, {"vllm-serve"}, true},
          trl_unneeded(),
          read_trl_run,
          {"beta", "0.04"}};
}

}  // namespace sextant::inline reports
