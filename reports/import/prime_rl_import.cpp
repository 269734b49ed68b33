// The facts of runs of prime-rl: TOML files, and launches of its program rl with files and flags.
//
// Older names of keys are those of v0.3.0 (32adbba80) to v0.7.0 (d334ea529), newer ones those of main (559b44772).
#include <algorithm>
#include <array>
#include <utility>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "reports/import/prime_rl.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kPrimeGroup = "orchestrator.group_size";
constexpr const char* kPrimeSamples = "orchestrator.seq_len";
constexpr const char* kPrimeCompletion = "orchestrator.train.sampling.max_completion_tokens";
constexpr const char* kPrimeSources = "orchestrator.train.source";
constexpr const char* kPrimeLag = "orchestrator.max_async_level";

// Names of other versions, with those of 0.8.0.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kPrimeRenamed{
    {{"orchestrator.rollouts_per_example", kPrimeGroup},
     {"orchestrator.sampling.max_tokens", kPrimeCompletion},
     {"orchestrator.sampling.max_completion_tokens", kPrimeCompletion},
     {"orchestrator.train.sampling.max_tokens", kPrimeCompletion},
     {"orchestrator.env", kPrimeSources},
     {"orchestrator.train.env", kPrimeSources},
     {"orchestrator.max_inflight_rollouts", "orchestrator.max_inflight_episodes"},
     {"orchestrator.concurrency.max_inflight", "orchestrator.max_inflight_episodes"},
     {"inference.vllm.tensor_parallel_size", kPrimeTensor},
     {"inference.vllm.data_parallel_size", "inference.parallel.dp"},
     {"inference.vllm.max_model_len", "inference.model.max_model_len"},
     {"inference.vllm.enforce_eager", "inference.model.enforce_eager"},
     {"inference.vllm.gpu_memory_utilization", "inference.gpu_memory_utilization"},
     {"inference.vllm.enable_prefix_caching", "inference.enable_prefix_caching"},
     {"inference.vllm.enable_expert_parallel", "inference.enable_expert_parallel"},
     {"inference.vllm.quantization", "inference.quantization"},
     {"inference.vllm.max_num_seqs", "inference.vllm_extra.max_num_seqs"},
     {"inference.vllm.max_num_batched_tokens", "inference.vllm_extra.max_num_batched_tokens"},
     {"max_async_level", kPrimeLag}}};

// Values that stand for both parts of the configuration, as rl fills them in.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPrimeShared{
    {{"seq_len", kPrimeTrained}, {"seq_len", kPrimeSamples}, {"model.name", "trainer.model.name"}}};

void take_prime_names(TrainerSettings& settings) {
  const std::vector<TrainerSetting> stated = settings.all();
  for (const TrainerSetting& one : stated) {  // TOML has no null
    if (one.value == "None") settings.put(one.key, nullptr, one.where);
  }
  for (const auto& [other, name] : kPrimeRenamed) {
    if (settings.has(other) && !settings.has(name)) settings.rename(std::string(other), std::string(name));
  }
  for (const auto& [shared, own] : kPrimeShared) {
    const Json* value = settings.find(shared);
    if (value == nullptr || value->is_null() || settings.has(own)) continue;
    const std::string place = settings.place_of(shared);
    settings.put(std::string(own), Json(*value), place.substr(0, place.rfind(": ")));
  }
  // Until 0.4 the GPUs of a node were listed.
  for (const auto& [list, count] : {std::pair("trainer_gpu_ids", "deployment.num_train_gpus"),
                                    std::pair("inference_gpu_ids", "deployment.num_infer_gpus")}) {
    const Json* ids = settings.find(list);
    if (ids == nullptr || !ids->is_array() || settings.has(count)) continue;
    const std::string place = settings.place_of(list);
    settings.put(count, ids->size(), place.substr(0, place.rfind(": ")));
  }
}

bool has_engines(const TrainerSettings& settings) {
  const Json* own = settings.find("inference");
  if (own != nullptr && own->is_null()) return false;
  return own != nullptr || has_below(settings, "inference") || settings.has("deployment.num_infer_gpus") ||
         settings.has("deployment.num_infer_nodes");
}

void read_prime_gpus(const TrainerSettings& settings, RunFacts& facts) {
  if (!has_engines(settings))
    throw_bad_input(
        "the configuration has no [inference], so something else starts the engines: add the section, or state "
        "their GPUs with --set deployment.num_infer_gpus=N");
  const PrimeGpus gpus = prime_gpus(settings);
  const int tensor = settings.count(kPrimeTensor, 1, TrainerSettings::kMaxNodes);
  if (gpus.engines_share % tensor != 0)
    throw_bad_input(settings.place_of(kPrimeTensor) + ": " + std::to_string(gpus.engines_share) +
                    " GPUs for inference are not a multiple of " + std::to_string(tensor));
  const bool is_one_node = settings.text("deployment.type", "single_node") == "single_node";
  facts.nodes = is_one_node ? 1 : gpus.train_nodes + gpus.engine_nodes;
  facts.gpus_per_node = is_one_node ? gpus.train_gpus + gpus.engine_gpus : gpus.train_gpus;
  if (settings.text("inference.deployment.type", "single_node") == "disaggregated")
    facts.notes.emplace_back(
        "inference.deployment.type=disaggregated: prompts and responses have engines of their own, the plan's "
        "engines compute both on all of these GPUs");
}

// ---- batches and lengths ----

// The trainer is one batch behind the rollouts (TARGET_LAG of the orchestrator); until 0.5 the lag was a setting. Engines
// keep the requests that they work on when weights change.
void read_prime_mode(const TrainerSettings& settings, RunFacts& facts) {
  const int lag = settings.has(kPrimeLag) ? settings.integer(kPrimeLag, 1) : 1;
  if (lag < 0)
    throw_bad_input(settings.place_of(kPrimeLag) + ": expected an integer >= 0, got " + std::to_string(lag));
  facts.mode = lag == 0 ? Mode::synchronous : Mode::asynchronous;
  facts.staleness = lag;
  facts.is_interrupted = lag > 0;
}

void read_prime_batches(const TrainerSettings& settings, RunFacts& facts) {
  const Json* tokens = settings.find("orchestrator.token_batch_size");
  if (tokens != nullptr && !tokens->is_null() && !settings.has(kPrimeBatch))
    throw_bad_input(settings.place_of("orchestrator.token_batch_size") +
                    ": a batch of tokens has no number of responses: state the mean number with --set " +
                    kPrimeBatch + "=N");
  const int batch = settings.count(kPrimeBatch, 128), group = settings.count(kPrimeGroup, 1);
  if (batch % group != 0)
    throw_bad_input(settings.place_of(kPrimeBatch) + ": " + std::to_string(batch) +
                    " responses are not a multiple of the " + std::to_string(group) + " of " + kPrimeGroup +
                    ", which prime-rl refuses");
  facts.prompts = batch / group;
  facts.responses_per_prompt = group;
}

void read_prime_lengths(const TrainerSettings& settings, RunFacts& facts) {
  const int trained = settings.count(kPrimeTrained, kPrimeSeqLen);
  const int sample = settings.count(kPrimeSamples, kPrimeSeqLen);
  if (trained < sample)
    throw_bad_input(settings.place_of(kPrimeSamples) + ": samples of " + std::to_string(sample) +
                    " tokens and " + kPrimeTrained + " of " + std::to_string(trained) +
                    ", which prime-rl refuses: raise the latter, or set seq_len for both");
  const int whole = std::min(sample, settings.count("inference.model.max_model_len", sample));
  const Json* stated = settings.find(kPrimeCompletion);
  const bool is_stated = stated != nullptr && !stated->is_null();
  const int completion = is_stated ? settings.count(kPrimeCompletion, whole) : whole;
  if (completion < whole) {
    facts.max_response_tokens = completion;
    facts.max_prompt_tokens = whole - completion;
    return;
  }
  constexpr int kPromptPart = 4, kLongestPrompt = 1024;  // of the whole, where a configuration leaves it open
  facts.max_prompt_tokens = std::clamp(whole / kPromptPart, 1, kLongestPrompt);
  facts.max_response_tokens = std::max(1, whole - facts.max_prompt_tokens);
  facts.notes.push_back("a sample has at most " + std::to_string(whole) +
                        " tokens and the response no smaller limit of its own: prompts of at most " +
                        std::to_string(facts.max_prompt_tokens) + " tokens are assumed");
}

// ---- what a plan does not have ----

// An agent whose harness is not "null" calls the engine more than once in a response.
bool has_harness(const Json& value) {
  if (!value.is_structured()) return false;
  for (const auto& [name, member] : value.items()) {
    const bool is_harness = name == "harness" && member.is_object() && member.contains("id");
    if (is_harness ? member["id"] != "null" : has_harness(member)) return true;
  }
  return false;
}

void note_prime_sources(const TrainerSettings& settings, RunFacts& facts) {
  const Json* sources = settings.find(kPrimeSources);
  if (sources == nullptr || !sources->is_array()) return;
  if (has_harness(*sources))
    facts.notes.push_back(
        std::string(kPrimeSources) +
        ": agents call the engine several times, with limits for each call; prompt and response "
        "here are those of a whole sample, so give --prompt-tokens and --response-tokens");
  const auto has_own = [](const Json& source) {
    const auto has = [&](const char* name) { return source.contains(name); };
    return source.is_object() &&
           (has("group_size") || has("rollouts_per_example") || has("algo") || has("sampling"));
  };
  if (std::any_of(sources->begin(), sources->end(), has_own))
    facts.notes.push_back(
        std::string(kPrimeSources) +
        ": sources with a group size, sampling or algorithm of their own; the plan has those of "
        "the orchestrator for all");
}

void note_prime_algorithm(const TrainerSettings& settings, RunFacts& facts) {
  const std::string key = "orchestrator.algo.type", type = settings.text(key, "grpo");
  if (type == "grpo" || type == "max_rl") return;
  if (type == "opd" || type == "sft") {
    facts.notes.push_back(key + "=" + type +
                          ": the teacher runs on servers of its own, which are not in the plan");
    return;
  }
  note_estimator(key, type, facts);
}

void note_prime_trainer(const TrainerSettings& settings, RunFacts& facts) {
  if (is_part_on(settings, kPrimeModel + "ac", true)) {
    if (settings.text(kPrimeModel + "ac.mode", "full") == "selective")
      facts.notes.push_back(kPrimeModel +
                            "ac.mode=selective: the plan recomputes attention alone, not the targets");
    if (settings.count(kPrimeModel + "ac.freq", 1) > 1)
      facts.notes.push_back(kPrimeModel + "ac.freq: the plan recomputes all layers or none");
  }
  if (settings.flag(kPrimeModel + "optim_cpu_offload", true))
    facts.notes.push_back(
        kPrimeModel +
        "optim_cpu_offload: Adam's states go to the GPU for each step, the plan computes Adam on "
        "the host");
}

RunFacts read_prime_run(RunSettings& run) {
  TrainerSettings& settings = run.settings;
  take_prime_names(settings);
  if (settings.has(kPrimeModel + "tp") && settings.count(kPrimeModel + "tp", 1) > 1)
    throw_bad_input(settings.place_of(kPrimeModel + "tp") +
                    ": prime-rl has no tensor parallelism in its trainer since 0.5; leave it out, or use cp");
  RunFacts facts;
  facts.profile = "prime-rl";
  read_prime_gpus(settings, facts);
  read_prime_mode(settings, facts);
  read_prime_batches(settings, facts);
  read_prime_lengths(settings, facts);
  facts.actor = settings.text("trainer.model.name", "Qwen/Qwen3-0.6B");
  note_prime_sources(settings, facts);
  note_prime_algorithm(settings, facts);
  note_prime_trainer(settings, facts);
  return facts;
}

UnneededSettings prime_unneeded() {
  UnneededSettings out;
  out.without_effect = {"seq_len",
                        "model.name",
                        "trainer_gpu_ids",
                        "inference_gpu_ids",
                        "max_steps",
                        "output_dir",
                        "clean*",
                        "dry_run",
                        "bench",
                        "run.*",
                        "log.*",
                        "*.log.*",
                        "wandb*",
                        "*.wandb*",
                        "monitors*",
                        "*.monitors*",
                        "file_monitor*",
                        "*.file_monitor*",
                        "*prime_monitor*",
                        "ckpt*",
                        "*.ckpt*",
                        "resume*",
                        "slurm*",
                        "*.slurm*",
                        "env_vars*",
                        "*.env_vars*",
                        "tokenizer*",
                        "*.tokenizer*",
                        "*.output_dir",
                        "*.max_steps",
                        "*.heartbeat*",
                        "*.metrics_server*",
                        "*.seed",
                        "weight_broadcast.*",
                        "*.weight_broadcast.*",
                        "rollout_transport*",
                        "*.rollout_transport*",
                        "deployment.orchestrator_on_inference",
                        "trainer",
                        "trainer.optim.*lr",
                        "trainer.optim.weight_decay",
                        "trainer.optim.max_norm",
                        "trainer.optim.betas*",
                        "trainer.optim.mu",
                        "trainer.scheduler*",
                        "trainer.loss*",
                        "trainer.gc*",
                        "trainer.dist_timeout_seconds",
                        "trainer.matmul_precision",
                        "trainer.max_async_level",
                        "trainer.model.ac",
                        "trainer.model.ac.targets",
                        "trainer.model.ac_offloading*",
                        "trainer.model.attn",
                        "trainer.model.compile*",
                        "trainer.model.conversion_dir",
                        "trainer.model.cp_style",
                        "trainer.model.impl",
                        "trainer.model.lora",
                        "trainer.model.lora.alpha",
                        "trainer.model.lora.dropout",
                        "trainer.model.moe_router_dtype",
                        "trainer.model.full_offload*",
                        "trainer.model.trust_remote_code",
                        "orchestrator",
                        "orchestrator.token_batch_size",  // refused without the number of responses
                        "orchestrator.algo.*",
                        "orchestrator.optim.*",
                        "orchestrator.model.*",
                        "orchestrator.client.*",
                        "orchestrator.train.*",
                        "orchestrator.sampling.*",
                        "orchestrator.eval*",
                        "orchestrator.val*",
                        "orchestrator.buffer*",
                        "orchestrator.renderer*",
                        "orchestrator.*_filters",
                        "orchestrator.advantage*",
                        "orchestrator.max_off_policy_steps",
                        "orchestrator.max_async_level",
                        "orchestrator.strict_async_level",
                        "orchestrator.num_train_workers",
                        "orchestrator.concurrency.*",
                        "orchestrator.env_server_base_port",
                        "orchestrator.collect_inference_metrics",
                        "inference",
                        "inference.deployment.*",
                        "inference.parallel.dp",  // follows from the GPUs
                        "inference.model.name",
                        "inference.vllm.model",
                        "inference.*.dtype",
                        "inference.*_parser",
                        "inference.*.chat_template",
                        "inference.*.trust_remote_code",
                        "inference.server.*",
                        "inference.router*",
                        "inference.*port",
                        "inference.*api_server_count",
                        "inference.*data_parallel_size_local",
                        "inference.*enable_lora",
                        "inference.*lora*",
                        "inference.*seed",
                        "inference.*enable_return_routed_experts",
                        "inference.enable_fp32_*"};
  out.neutral = {{"trainer.optim.type", "adamw"},
                 {"trainer.model.moe_use_grouped_mm", "true"},
                 {"trainer.model.freeze_moe_router", "false"},
                 {"trainer.enable_router_replay", "false"},
                 {"inference.*enable_eplb", "false"},
                 {"inference.*enable_dbo", "false"},
                 {"inference.use_deep_gemm", "false"}};
  return out;
}

}  // namespace

Importer prime_rl_importer() {
  SettingSource source{SettingForm::flags, {"rl"}};
  source.toml_parts = {{"trainer", "trainer"}, {"orchestrator", "orchestrator"}, {"inference", "inference"},
                       {"train", "trainer"},   {"orch", "orchestrator"},         {"infer", "inference"}};
  return {"prime-rl", source, prime_unneeded(), read_prime_run};
}

}  // namespace sextant::inline reports
