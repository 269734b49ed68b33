// Configurations of SkyRL: Hydra overrides behind a program of skyrl_train or skyrl.train, and YAML files, for its FSDP
// and Megatron trainers. Keys and defaults are those of skyrl/train/config/config.py (a9564572eb8e, 2026-08-21). Names of
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

namespace sextant::inline reports {
namespace {

const std::string kSkyEngineRoot = "generator.inference_engine.";

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
    rename("generator." + std::string(old_name), kSkyEngineRoot + std::string(name));
  for (const std::string_view name : kSkyMoved)
    rename("generator." + std::string(name), kSkyEngineRoot + std::string(name));
  if (is_old)
    settings.assume(kSkyEngineRoot + "enforce_eager", true);  // the default until 059e6d9f7 (2026-06-22)
  rename("trainer.use_sample_packing",
         "trainer.remove_microbatch_padding");  // until 8cd5f165d (2026-06-01), still accepted
}

void read_sky_gpus(const TrainerSettings& settings, RunFacts& facts) {
  const SkyrlGpus gpus = skyrl_gpus(settings);
  GpuShape shape{gpus.policy_nodes, gpus.policy_gpus_per_node};
  if (!gpus.is_colocated) {
    constexpr int kUsualNode = 8;
    const int nodes = (gpus.engine_gpus + kUsualNode - 1) / kUsualNode;
    shape = shape_of_pools(shape, {nodes, std::min(gpus.engine_gpus, kUsualNode)});
    if (facts.has_critic) shape = shape_of_pools(shape, {gpus.critic_nodes, gpus.critic_gpus_per_node});
  } else if (gpus.engine_gpus != shape.nodes * shape.gpus_per_node) {
    facts.notes.push_back("the engines have " + std::to_string(gpus.engine_gpus) + " GPUs and the policy " +
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
  if (strategy != "fsdp" && strategy != "fsdp2" && strategy != "megatron")
    throw_bad_input(settings.place_of("trainer.strategy") + ": expected fsdp, fsdp2 or megatron, got " +
                    strategy + ": SkyRL's other trainers are not read");
  RunFacts facts;
  facts.profile = strategy == "megatron" ? "skyrl-megatron" : "skyrl";
  read_sky_mode(run, facts);
  read_sky_batches(settings, facts);
  const std::string estimator = settings.text("trainer.algorithm.advantage_estimator", "grpo");
  facts.has_critic = estimator == "gae";
  if (!facts.has_critic && estimator != "grpo")
    note_estimator("trainer.algorithm.advantage_estimator", estimator, facts);
  read_sky_gpus(settings, facts);
  facts.has_reference = settings.flag("trainer.algorithm.use_kl_loss", true) ||
                        settings.flag("trainer.algorithm.use_kl_in_reward", false);
  facts.has_old_log_prob = true;
  constexpr std::string_view kPrecision = "trainer.policy.fsdp_config.mixed_precision.param_dtype";
  if (settings.has(kPrecision)) facts.precision = precision_of_name(settings.text(kPrecision, ""));
  facts.actor = settings.text("trainer.policy.model.path", "Qwen/Qwen2.5-1.5B-Instruct");
  if (facts.has_critic) facts.critic = settings.text("trainer.critic.model.path", "");
  return facts;
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
                        "trainer.*.megatron_config.moe_*",
                        "trainer.*.megatron_config.lora_config.*",
                        "trainer.*.megatron_config.empty_cuda_cache",
                        "trainer.*.megatron_config.ddp_config.*",
                        "trainer.*.megatron_config.transformer_config_kwargs.recompute_method",
                        "trainer.*.megatron_config.transformer_config_kwargs.recompute_num_layers",
                        "trainer.*.megatron_config.optimizer_config_kwargs.use_precision_aware_optimizer",
                        "trainer.*.megatron_config.optimizer_config_kwargs.overlap_cpu_optimizer_d2h_h2d",
                        "trainer.*.fsdp_config.mixed_precision.*",
                        "trainer.ref.model.path",
                        "trainer.fully_async.enabled",  // the program says it
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

}  // namespace sextant::inline reports
