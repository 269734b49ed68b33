// Configurations of AReaL: a YAML file and overrides, with a backend for each model (since 1.0.3) or with one
// allocation_mode for all.
//
// Defaults are those of areal/api/cli_args.py at v1.0.4 (37d6c6400e99), github.com/inclusionAI/AReaL; the words of an
// allocation are those of areal/api/alloc_mode.py, and those of older versions: "." for ":" until 0.4, "m" for "t"
// until 0.3.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kMode = "allocation_mode";

bool is_engine_name(std::string_view part) { return part.starts_with("sglang") || part.starts_with("vllm"); }

// "sglang.d4m1p1" as "sglang:d4t1p1"; without a backend "fsdp:d4t1p1".
std::string spelled_backend(std::string part) {
  const std::size_t end = part.find_first_of(":.");
  const bool has_backend = end != std::string::npos && part.find_first_of("0123456789") > end;
  const bool has_name = has_backend || part.find_first_of("0123456789") == std::string::npos;
  if (has_backend) part[end] = ':';
  const std::size_t first = has_backend ? end + 1 : 0;
  for (std::size_t i = first; i + 1 < part.size(); ++i) {
    if (part[i] == 'm' && std::isdigit(static_cast<unsigned char>(part[i + 1])) != 0) part[i] = 't';
  }
  const std::size_t bracket = part.find('[');  // a name of the component
  if (bracket != std::string::npos && part.find(']') != std::string::npos)
    part.erase(bracket, part.find(']') - bracket + 1);
  return has_name ? part : "fsdp:" + part;
}

// "sglang:d4+fsdp:d4" (GPUs of their own) or "sglang:d4|fsdp:d4" (shared ones) as the backends of 1.0.3.
void take_allocation(TrainerSettings& settings, RunFacts& facts) {
  const std::string text = settings.text(kMode, "");
  if (text.empty()) return;
  const auto fail = [&](const std::string& reason) {
    throw_bad_input(settings.place_of(kMode) + ": " + reason + ", got \"" + text + "\"");
  };
  const std::size_t cut = text.find_first_of("+|");  // an engine, which comes first, has no brackets
  const std::size_t open = text.find('('),
                    next = text.find_first_of("+|", cut == std::string::npos ? cut : cut + 1);
  if (cut == std::string::npos || (next != std::string::npos && next < open) ||
      text.find('+', cut + 1) != std::string::npos)
    fail("expected an engine and a trainer such as \"sglang:d4t2+fsdp:d8\"");
  const std::string engine = spelled_backend(text.substr(0, cut)),
                    trainer = spelled_backend(text.substr(cut + 1));
  if (!is_engine_name(engine)) fail("expected an engine, sglang or vllm, as the first part");
  settings.assume("rollout.backend", engine);
  settings.assume("actor.backend", trainer);
  if (text[cut] == '|') {
    settings.assume("rollout.scheduling_strategy.type", "colocation");
    settings.assume("rollout.scheduling_strategy.target", "actor");
  }
  for (const char* role : {"critic", "ref"}) {
    settings.assume(std::string(role) + ".backend", trainer);
    settings.assume(std::string(role) + ".scheduling_strategy.type", "colocation");
    settings.assume(std::string(role) + ".scheduling_strategy.target", "actor");
  }
  facts.notes.push_back(std::string(kMode) + "=" + text + ": critic and reference have the actor's GPUs");
}

// The engine's memory stands in the section of vLLM if that is the engine.
void take_vllm(TrainerSettings& settings, RunFacts& facts) {
  if (!settings.text("rollout.backend", "").starts_with("vllm")) return;
  constexpr double kDefaultFraction = 0.9;
  settings.put("sglang.mem_fraction_static",
               settings.number("vllm.gpu_memory_utilization", kDefaultFraction) - kEngineWorkspaceFraction, "");
  facts.notes.emplace_back("rollout.backend is vLLM: other options of the engine are SGLang's defaults");
}

void read_areal_gpus(const TrainerSettings& settings, RunFacts& facts) {
  facts.gpus_per_node = settings.count("cluster.n_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode);
  double gpus = 0;
  const auto add = [&](const std::string& role, bool is_there) {
    if (!is_there || settings.text(role + ".scheduling_strategy.type", "separation") == "colocation") return;
    const std::string key = role + ".backend";
    gpus += areal_degrees(settings.text(key, ""), settings.place_of(key)).gpus();
  };
  add("actor", true);
  add("rollout", true);
  add("critic", facts.has_critic);
  add("ref", facts.has_reference);
  const int stated = settings.count("cluster.n_nodes", 1, TrainerSettings::kMaxNodes);
  facts.nodes = static_cast<int>(
      std::clamp<double>(std::ceil(gpus / facts.gpus_per_node), stated, TrainerSettings::kMaxNodes));
}

bool has_section(const TrainerSettings& settings, const std::string& root) {
  return std::any_of(settings.all().begin(), settings.all().end(),
                     [&](const TrainerSetting& one) { return one.key.starts_with(root); });
}

RunFacts read_areal_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  RunFacts facts;
  facts.profile = "areal";
  if (!key_below(settings, "actor").empty() && !settings.has(kMode) && key_below(settings, "rollout").empty() &&
      key_below(settings, "gconfig").empty())
    refuse_other_training(settings, key_below(settings, "actor"),
                          "supervised fine-tuning or from pairs, as it has no rollout");
  take_allocation(settings, facts);
  take_vllm(settings, facts);
  const std::string backend = settings.text("actor.backend", "");
  settings.assume("ref.backend", backend);
  const bool is_megatron = backend.starts_with("megatron");
  if (is_megatron) facts.profile = "areal-megatron";
  if (!backend.empty() && !is_megatron && !backend.starts_with("fsdp"))
    facts.notes.push_back("actor.backend=" + backend +
                          ": sharding, recomputation and offloading are read as those of AReaL's FSDP backend");
  facts.has_critic = has_section(settings, "critic.");
  facts.has_reference = settings.number("actor.kl_ctl", 0.1) > 0;
  const bool is_decoupled = settings.flag("actor.use_decoupled_loss", false);
  facts.has_old_log_prob = settings.flag("actor.recompute_logprob", false) || is_decoupled;
  facts.staleness = settings.integer("rollout.max_head_offpolicyness", 0);
  facts.mode = facts.staleness <= 0 ? Mode::synchronous : Mode::asynchronous;
  facts.is_interrupted = facts.mode == Mode::asynchronous;
  facts.actor = settings.text("actor.path", "");
  if (settings.has("actor.dtype")) facts.precision = precision_of_name(settings.text("actor.dtype", ""));
  if (facts.has_critic) facts.critic = settings.text("critic.path", facts.actor);
  facts.prompts = settings.count("train_dataset.batch_size", 1);
  facts.responses_per_prompt = settings.count("gconfig.n_samples", 1);
  facts.mini_batches = settings.count("actor.ppo_n_minibatches", 4);
  constexpr int kAssumedTokens = 1024;
  facts.max_prompt_tokens = settings.count("train_dataset.max_length", kAssumedTokens);
  facts.max_response_tokens = settings.count("gconfig.max_new_tokens", 16384);
  read_areal_gpus(settings, facts);
  return facts;
}

UnneededSettings areal_unneeded() {
  UnneededSettings out;
  out.without_effect = {"experiment_name",
                        "trial_name",
                        "*.experiment_name",
                        "*.trial_name",
                        "seed",
                        "total_train_*",
                        "tokenizer_path",
                        "*.tokenizer_path",
                        "cluster.fileroot",
                        "*.fileroot",
                        "cluster.name_resolve.*",
                        "cluster.cluster_name",
                        "scheduler.*",
                        "*.scheduling_spec*",
                        "saver.*",
                        "recover.*",
                        "evaluator.*",
                        "stats_logger.*",
                        "perf_tracer.*",
                        "checkpointer.*",
                        "launcher.*",
                        "valid_dataset.*",
                        "eval_gconfig.*",
                        "train_dataset.path",
                        "train_dataset.type",
                        "train_dataset.shuffle",
                        "train_dataset.pin_memory",
                        "train_dataset.num_workers",
                        "gconfig.min_new_tokens",
                        "gconfig.greedy",
                        "gconfig.temperature",
                        "gconfig.top_*",
                        "gconfig.stop*",
                        "gconfig.max_tokens",
                        "rollout.max_concurrent_rollouts",
                        "rollout.queue_size",
                        "rollout.consumer_batch_size",
                        "rollout.enable_rollout_tracing",
                        "rollout.dump_to_file",
                        "rollout.request_timeout",
                        "rollout.setup_timeout",
                        "rollout.agent.*",
                        "*.path",
                        "*.init_from_scratch",
                        "*.disable_dropout",
                        "*.optimizer",
                        "*.optimizer.*",
                        "*.eps_clip*",
                        "*.temperature",
                        "*.reward_*",
                        "*.adv_norm*",
                        "*.group_reward_norm",
                        "*.rejection_sampling*",
                        "*.behav*",
                        "*.weight_update_mode",
                        "*.max_new_tokens",
                        "*.discount",
                        "*.gae_lambda",
                        "*.overlong*",
                        "*.c_clip",
                        "*.value_*",
                        "*.mask_*",
                        "*.packing_algorithm",
                        "*.mb_spec.granularity",
                        "*.attn_impl",
                        "*.lora_alpha",
                        "*.target_modules",
                        "*.peft_type",
                        "*.use_sapo_loss",
                        "*.sapo_*",
                        "*.importance_sampling_level",
                        "*.dynamic_sampling",
                        "*.log_agent_stats*",
                        "*.is_critic",
                        "sglang.model_path",
                        "sglang.random_seed",
                        "sglang.skip_tokenizer_init",
                        "sglang.context_length",
                        "vllm.*",
                        "enable_offload",
                        "rollout.use_lora",
                        "gconfig.lora_name",
                        "sglang.enable_lora",
                        "sglang.max_lora_rank",
                        "*.megatron.wrap_with_ddp",
                        "*.megatron.ddp.*",
                        "*.megatron.recompute_method",
                        "*.megatron.recompute_num_layers",
                        "*.megatron.use_deterministic_algorithms",
                        "*.megatron.moe_*",
                        "*.megatron.bridge_type",
                        "*.megatron.*_dtype",
                        "*.megatron.async_save",
                        "*.megatron.use_checkpoint*",
                        "*.megatron.use_mbridge_save",
                        "*.scheduling_strategy.target",
                        "workflow*",
                        "reward_fn*",
                        "cluster.n_nodes",
                        "*.ppo_n_minibatches",
                        "ref.gradient_checkpointing",
                        "async_training",
                        "--*"};
  out.neutral = {{"*.dtype", "bfloat16"}, {"*.dtype", "${actor.dtype}"}, {"*.grad_reduce_dtype", "float32"}};
  return out;
}

}  // namespace

Importer areal_importer() {
  return {"areal",
          {SettingForm::hydra, {"areal.", "_rl.py", "_grpo.py", "_ppo.py", "train.py"}, {}, true},
          areal_unneeded(),
          read_areal_run};
}

}  // namespace sextant::inline reports
