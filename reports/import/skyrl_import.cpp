// Configurations of SkyRL: Hydra overrides behind a program of skyrl_train or skyrl.train, and YAML files, for its FSDP
// trainers. Keys and defaults are those of skyrl/train/config/config.py (a9564572eb8e, 2026-08-21). Names of
// skyrl/train/config/ppo_base_config.yaml (1331ec7d373c, 2026-03-02) are read too, with its defaults: the dataclasses
// renamed them (skyrl/train/config/legacy.py, f78dc753dc1f), github.com/NovaSky-AI/SkyRL.
#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant {
namespace {

const std::string kSkyEngine = "generator.inference_engine.";
const std::string kSkyPlacement = "trainer.placement.";
const std::string kSkyPacking = "trainer.remove_microbatch_padding";

// Options of the engine that stood in "generator." with other names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSkyRenamed{
    {{"num_inference_engines", "num_engines"},
     {"inference_engine_tensor_parallel_size", "tensor_parallel_size"},
     {"inference_engine_pipeline_parallel_size", "pipeline_parallel_size"},
     {"inference_engine_expert_parallel_size", "expert_parallel_size"},
     {"inference_engine_data_parallel_size", "data_parallel_size"}}};
// And with the same.
constexpr std::array<std::string_view, 11> kSkyMoved{"model_dtype",
                                                     "run_engines_locally",
                                                     "backend",
                                                     "weight_sync_backend",
                                                     "async_engine",
                                                     "enforce_eager",
                                                     "enable_prefix_caching",
                                                     "max_num_seqs",
                                                     "max_num_batched_tokens",
                                                     "gpu_memory_utilization",
                                                     "enable_chunked_prefill"};

void rename_old_options(TrainerSettings& settings) {
  bool is_old = false;
  const auto rename = [&](const std::string& key, const std::string& new_key) {
    if (!settings.has(key)) return;
    settings.rename(key, new_key);
    is_old = true;
  };
  for (const auto& [old_name, name] : kSkyRenamed)
    rename("generator." + std::string(old_name), kSkyEngine + std::string(name));
  for (const std::string_view name : kSkyMoved)
    rename("generator." + std::string(name), kSkyEngine + std::string(name));
  if (is_old) settings.assume(kSkyEngine + "enforce_eager", true);  // the default until 059e6d9f7 (2026-06-22)
  rename("trainer.use_sample_packing", kSkyPacking);  // until 8cd5f165d (2026-06-01), still accepted
}

bool is_colocated(const TrainerSettings& settings) {
  return settings.flag(kSkyPlacement + "colocate_all", true);
}

int engine_gpus(const TrainerSettings& settings) {
  double gpus = 1;
  for (const char* name :
       {"num_engines", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"})
    gpus *= settings.count(kSkyEngine + name, 1, TrainerSettings::kMaxNodes);
  return static_cast<int>(std::min<double>(gpus, TrainerSettings::kMaxNodes));
}

GpuShape policy_shape(const TrainerSettings& settings) {
  return {settings.count(kSkyPlacement + "policy_num_nodes", 1, TrainerSettings::kMaxNodes),
          settings.count(kSkyPlacement + "policy_num_gpus_per_node", 1, TrainerSettings::kMaxGpusPerNode)};
}

void read_sky_gpus(const TrainerSettings& settings, RunFacts& facts) {
  GpuShape shape = policy_shape(settings);
  const int engines = engine_gpus(settings);
  if (!is_colocated(settings)) {
    constexpr int kUsualNode = 8;
    const int nodes = (engines + kUsualNode - 1) / kUsualNode;
    shape = shape_of_pools(shape, {nodes, std::min(engines, kUsualNode)});
  } else if (engines != shape.nodes * shape.gpus_per_node) {
    facts.notes.push_back("the engines have " + std::to_string(engines) + " GPUs and the policy " +
                          std::to_string(shape.nodes * shape.gpus_per_node) +
                          ": with colocate_all SkyRL asks for the same, which the plan has");
  }
  facts.nodes = shape.nodes;
  facts.gpus_per_node = shape.gpus_per_node;
}

// The program says the mode: main_base, an example's main_async, or one of fully asynchronous training.
void read_sky_mode(const RunSettings& run, RunFacts& facts) {
  if (run.program.find("async") == std::string::npos) return;
  const bool is_full = run.program.find("fully_async") != std::string::npos;
  facts.mode = is_full ? Mode::asynchronous : Mode::one_step_off;
  facts.staleness = is_full ? run.settings.count("trainer.fully_async.max_staleness_steps", 4) : 1;
}

void read_sky_batches(const TrainerSettings& settings, RunFacts& facts) {
  facts.prompts = settings.count("trainer.train_batch_size", 1024);
  facts.responses_per_prompt = settings.count("generator.n_samples_per_prompt", 5);
  const int mini_batch = settings.count("trainer.policy_mini_batch_size", 256);
  const int epochs = settings.count("trainer.update_epochs_per_batch", 1, 1000);
  take_steps(1LL * mini_batch * facts.responses_per_prompt, "trainer.policy_mini_batch_size", facts);
  facts.mini_batches *= epochs;
  facts.max_prompt_tokens = settings.count("trainer.max_prompt_length", 512);
  facts.max_response_tokens = settings.count("generator.sampling_params.max_generate_length", 1024);
  const int turns = settings.count("generator.max_turns", 1);
  if (turns > 1)
    facts.notes.push_back(
        "generator.max_turns=" + std::to_string(turns) +
        ": responses have the length of one turn here; give the whole with --response-tokens");
}

RunFacts read_skyrl_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  rename_old_options(settings);
  const std::string strategy = settings.text("trainer.strategy", "fsdp2");
  if (strategy != "fsdp" && strategy != "fsdp2")
    throw_bad_input(settings.place_of("trainer.strategy") + ": expected fsdp or fsdp2, got " + strategy +
                    ": SkyRL's other trainers are not read");
  RunFacts facts;
  facts.profile = "skyrl";
  read_sky_mode(run, facts);
  read_sky_gpus(settings, facts);
  read_sky_batches(settings, facts);
  const std::string estimator = settings.text("trainer.algorithm.advantage_estimator", "grpo");
  facts.has_critic = estimator == "gae";
  if (!facts.has_critic && estimator != "grpo")
    note_estimator("trainer.algorithm.advantage_estimator", estimator, facts);
  facts.has_reference = settings.flag("trainer.algorithm.use_kl_loss", true) ||
                        settings.flag("trainer.algorithm.use_kl_in_reward", false);
  facts.has_old_log_prob = true;
  facts.actor = settings.text("trainer.policy.model.path", "Qwen/Qwen2.5-1.5B-Instruct");
  if (facts.has_critic) facts.critic = settings.text("trainer.critic.model.path", "");
  return facts;
}

// ---- the plan ----

std::string sky_root(const std::string& task) {
  if (task == task_names::kReferenceInference) return "trainer.ref.";
  const bool is_critic = task == task_names::kCriticTraining || task == task_names::kCriticInference;
  return is_critic ? "trainer.critic." : "trainer.policy.";
}

void read_sky_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const std::string name = task_names::kActorGeneration;
  TrainerTask& task = config.tasks.at(name);
  Execution& execution = task.options.execution;
  task.tensor_parallel = settings.count(kSkyEngine + "tensor_parallel_size", 1);
  task.options.decode_batch_sequences = settings.count(kSkyEngine + "max_num_seqs", 1024);
  execution.prefill_chunk_tokens = settings.count(kSkyEngine + "max_num_batched_tokens", 8192);
  execution.shared_prompts = settings.flag(kSkyEngine + "enable_prefix_caching", true);
  execution.cuda_graphs = !settings.flag(kSkyEngine + "enforce_eager", false);
  execution.offload_weights = is_colocated(settings);
  complete_layout(name, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.8;
  take_engine_fraction(settings.number(kSkyEngine + "gpu_memory_utilization", kDefaultFraction), name, problem,
                       config);
}

void read_sky_trainer(const Task& named, const TrainerSettings& settings, const TrainerProblem& problem,
                      TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(named.name);
  Execution& execution = task.options.execution;
  const std::string root = sky_root(named.name);
  const bool trains = named.kind == TaskKind::training;
  execution.context_parallel = settings.count(root + "sequence_parallel_size", 1);
  execution.sharded_over = std::max(0, settings.integer(root + "fsdp_config.fsdp_size", -1));
  execution.packed = settings.flag(kSkyPacking, true);
  execution.micro_batch_tokens = 0;
  task.options.micro_batch_sequences = settings.count(
      trains ? "trainer.micro_train_batch_size_per_gpu" : "trainer.micro_forward_batch_size_per_gpu", 1);
  const bool is_on_host = settings.flag(root + "fsdp_config.cpu_offload", false);
  execution.offload_weights = is_colocated(settings) || (!trains && is_on_host);
  if (trains) {
    execution.offload_optimizer = is_on_host;
    execution.offload_weights = execution.offload_weights && !is_on_host;
    execution.lora_rank = settings.integer(root + "model.lora.rank", 0);
    task.options.recompute =
        settings.flag("trainer.gradient_checkpointing", true) ? Recompute::full : Recompute::none;
  }
  complete_layout(named.name, problem, 0, 0, config);
  if (execution.sharded_over >= task.data_parallel * execution.context_parallel) execution.sharded_over = 0;
}

void read_skyrl(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const GpuShape shape = policy_shape(settings);
  const int trainer = take_pool("trainer", shape.nodes, shape.gpus_per_node, problem.cluster, config);
  for (auto& [name, task] : config.tasks) task.pool = trainer;
  if (!is_colocated(settings))
    config.tasks.at(task_names::kActorGeneration).pool =
        take_pool("rollout", 1, engine_gpus(settings), problem.cluster, config);
  read_sky_engine(settings, problem, config);
  for (const Task& task : problem.workflow.tasks) {
    if (task.kind != TaskKind::generation) read_sky_trainer(task, settings, problem, config);
  }
}

UnneededSettings skyrl_unneeded() {
  UnneededSettings out;
  out.without_effect = {"--*",
                        "data.*",
                        "environment.*",
                        "trainer.epochs",
                        "trainer.eval_*",
                        "trainer.logger",
                        "trainer.*_name",
                        "trainer.*_path",
                        "trainer.*_interval",
                        "trainer.max_ckpts_to_keep",
                        "trainer.resume_mode",
                        "trainer.seed",
                        "trainer.dump_*",
                        "trainer.bf16",
                        "trainer.flash_attn",
                        "trainer.critic_mini_batch_size",
                        "trainer.gradient_checkpointing_use_reentrant",
                        "trainer.algorithm.*",
                        "trainer.placement.colocate_policy_ref",
                        "trainer.placement.ref_num_*",
                        "trainer.placement.critic_num_*",
                        "trainer.*.optimizer_config.*",
                        "trainer.*.model.lora.*",
                        "trainer.*.fsdp_config.reshard_after_forward",
                        "trainer.ref.model.path",
                        "trainer.fully_async.num_parallel_generation_workers",
                        "generator.sampling_params.*",
                        "generator.eval_*",
                        "generator.batched",
                        "generator.max_input_length",
                        "generator.chat_template*",
                        "generator.inference_engine.backend",
                        "generator.inference_engine.run_engines_locally",
                        "generator.inference_engine.weight_sync_backend",
                        "generator.inference_engine.async_engine",
                        "generator.inference_engine.model_dtype",
                        "generator.inference_engine.num_engines",
                        "generator.inference_engine.expert_parallel_size",
                        "generator.inference_engine.enable_http_endpoint",
                        "generator.inference_engine.http_endpoint_*",
                        "generator.inference_engine.enable_chunked_prefill"};
  out.neutral = {{"trainer.sequence_parallel_backend", "ulysses"}};
  return out;
}

}  // namespace

Importer skyrl_importer() {
  return {"skyrl",
          {SettingForm::hydra,
           {"entrypoints.main", "skyrl_train.", "skyrl.train.", "main_async", "main_fully_async"}},
          skyrl_unneeded(),
          read_skyrl_run,
          {"trainer.algorithm.use_kl_loss", "true"}};
}

Dialect skyrl_reader() { return {"skyrl", "skyrl", SettingForm::hydra, nullptr, nullptr, nullptr, read_skyrl}; }

}  // namespace sextant
