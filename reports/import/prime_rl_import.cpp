// Configurations of prime-rl: TOML files, and launches of its program rl with files and flags.
//
// Keys and defaults are those of packages/prime-rl-configs at v0.8.0 (60bc29547a88), github.com/PrimeIntellect-ai/prime-rl.
// Older names are those of v0.3.0 (32adbba80) to v0.7.0 (d334ea529), newer ones those of main (559b44772).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/json_value.h"
#include "reports/export/trainers/dialect_parts.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant {
namespace {

const std::string kPrimeModel = "trainer.model.";
constexpr const char* kPrimeBatch = "orchestrator.batch_size";
constexpr const char* kPrimeGroup = "orchestrator.group_size";
constexpr const char* kPrimeSamples = "orchestrator.seq_len";
constexpr const char* kPrimeTrained = "trainer.model.seq_len";
constexpr const char* kPrimeCompletion = "orchestrator.train.sampling.max_completion_tokens";
constexpr const char* kPrimeTensor = "inference.parallel.tp";
constexpr const char* kPrimeSources = "orchestrator.train.source";
constexpr const char* kPrimeLag = "orchestrator.max_async_level";
constexpr int kPrimeSeqLen = 2048;

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

bool has_below(const TrainerSettings& settings, const std::string& section) {
  const std::string prefix = section + ".";
  return std::any_of(settings.all().begin(), settings.all().end(),
                     [&](const TrainerSetting& one) { return one.key.starts_with(prefix); });
}

// Whether a part of the configuration is on: with an empty table, true or members; "None" and --no-NAME turn it off.
bool is_part_on(const TrainerSettings& settings, const std::string& section, bool otherwise) {
  const Json* own = settings.find(section);
  if (own != nullptr) return !own->is_null() && *own != false;
  return has_below(settings, section) || settings.flag(section, otherwise);
}

// ---- GPUs ----

struct PrimeGpus {
  int train_nodes = 1, train_gpus = 1;    // GPUs: of a node
  int engine_nodes = 1, engine_gpus = 1;  // of all engines together
  int engines_share = 1;                  // GPUs of the engines that one replica of the deployment has

  [[nodiscard]] int trainers() const { return train_nodes * train_gpus; }
  [[nodiscard]] int engines() const { return engine_nodes * engine_gpus; }
};

int nodes_of_inference(const TrainerSettings& settings) {
  const std::string root = "inference.deployment.";
  const auto count = [&](const char* name, int otherwise) {
    return settings.count(root + name, otherwise, TrainerSettings::kMaxNodes);
  };
  const std::string type = settings.text(root + "type", "single_node");
  if (type == "multi_node") return count("num_nodes", 2);
  if (type != "disaggregated") return 1;
  const long long nodes = 1LL * count("prefill_nodes_per_replica", 1) * count("num_prefill_replicas", 1) +
                          1LL * count("decode_nodes_per_replica", 1) * count("num_decode_replicas", 1);
  return static_cast<int>(std::min<long long>(nodes, TrainerSettings::kMaxNodes));
}

bool has_engines(const TrainerSettings& settings) {
  const Json* own = settings.find("inference");
  if (own != nullptr && own->is_null()) return false;
  return own != nullptr || has_below(settings, "inference") || settings.has("deployment.num_infer_gpus") ||
         settings.has("deployment.num_infer_nodes");
}

PrimeGpus gpus_of_nodes(const TrainerSettings& settings) {
  PrimeGpus gpus;
  if (!settings.has("deployment.num_train_nodes"))
    throw_bad_input(settings.place_of("deployment.type") +
                    ": multi_node needs deployment.num_train_nodes: add it, or give it with --set");
  gpus.train_gpus = gpus.engine_gpus =
      settings.count("deployment.gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode);
  gpus.train_nodes = settings.count("deployment.num_train_nodes", 1, TrainerSettings::kMaxNodes);
  const int nodes = settings.integer("deployment.num_infer_nodes", nodes_of_inference(settings));
  if (nodes < 1)
    throw_bad_input(settings.place_of("deployment.num_infer_nodes") +
                    ": without nodes for inference the run has made-up data and no generation to plan");
  const double replicas = settings.count("deployment.num_infer_replicas", 1, TrainerSettings::kMaxNodes);
  gpus.engine_nodes = static_cast<int>(std::min<double>(replicas * nodes, TrainerSettings::kMaxNodes));
  gpus.engines_share =
      static_cast<int>(std::min<double>(1.0 * nodes * gpus.engine_gpus, TrainerSettings::kMaxCount));
  return gpus;
}

PrimeGpus prime_gpus(const TrainerSettings& settings) {
  const std::string type = settings.text("deployment.type", "single_node");
  if (type == "multi_node") return gpus_of_nodes(settings);
  if (type != "single_node")
    throw_bad_input(settings.place_of("deployment.type") + ": expected single_node or multi_node, got " + type);
  PrimeGpus gpus;
  gpus.train_gpus = settings.count("deployment.num_train_gpus", 1, TrainerSettings::kMaxGpusPerNode);
  gpus.engine_gpus = settings.count("deployment.num_infer_gpus", 1, TrainerSettings::kMaxGpusPerNode);
  gpus.engines_share = gpus.engine_gpus;
  const int node = settings.count("deployment.gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode);
  if (gpus.train_gpus + gpus.engine_gpus > node)
    throw_bad_input(settings.place_of("deployment.num_infer_gpus") + ": " + std::to_string(gpus.train_gpus) +
                    " GPUs for training and " + std::to_string(gpus.engine_gpus) +
                    " for inference are more than the " + std::to_string(node) +
                    " of a node: raise deployment.gpus_per_node, or take deployment.type multi_node");
  return gpus;
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

// ---- the plan ----

bool model_has_experts(const TrainerProblem& problem, const char* task) {
  return problem.workflow.model_of(problem.workflow.task(task)).experts.has_value();
}

// Responses that are generated at once, of all engines; 0: as many as the engines take.
double responses_in_flight(const TrainerSettings& settings) {
  const std::string key = "orchestrator.max_inflight_episodes";
  if (settings.has(key)) return settings.count(key, 1);
  return std::max(1.0,
                  settings.number("orchestrator.oversampling_factor", 1) * settings.count(kPrimeBatch, 128));
}

// Defaults of vLLM's server are larger on GPUs of 70 GiB and more, but for A100 (vllm/engine/arg_utils.py:
// get_batch_defaults).
bool is_large_gpu(const TrainerConfig& config, const Cluster& cluster) {
  constexpr double kLarge = 70.0 * 1024 * 1024 * 1024;
  const std::vector<DeviceId>& devices = config.pool_of(task_names::kActorGeneration).devices;
  return smallest_memory_bytes(devices, cluster) >= kLarge &&
         cluster.type_name(devices.front()).find("A100") == std::string::npos;
}

void read_prime_engine(const TrainerSettings& settings, const TrainerProblem& problem, const PrimeGpus& gpus,
                       TrainerConfig& config) {
  const std::string name = task_names::kActorGeneration, extra = "inference.vllm_extra.";
  TrainerTask& task = config.tasks.at(name);
  Execution& execution = task.options.execution;
  const bool is_large = is_large_gpu(config, problem.cluster);
  task.tensor_parallel = settings.count(kPrimeTensor, 1);
  execution.cuda_graphs = !settings.flag("inference.model.enforce_eager", false);
  execution.shared_prompts = settings.flag("inference.enable_prefix_caching", true);
  execution.offload_weights = false;
  execution.prefill_chunk_tokens = settings.count(extra + "max_num_batched_tokens", is_large ? 8192 : 2048);
  if (settings.flag("inference.enable_expert_parallel", false) &&
      model_has_experts(problem, task_names::kActorGeneration)) {
    execution.expert_parallel = gpus.engines_share;
    keep_experts_whole(task.tensor_parallel, execution);
  }
  complete_layout(name, problem, 0, 0, config);
  const int slots = settings.count(extra + "max_num_seqs", is_large ? 1024 : 256);
  const double share = std::ceil(responses_in_flight(settings) / std::max(1, task.data_parallel));
  task.options.decode_batch_sequences = static_cast<int>(std::min<double>(slots, share));
  constexpr double kDefaultFraction = 0.9;
  take_engine_fraction(settings.number("inference.gpu_memory_utilization", kDefaultFraction), name, problem,
                       config);
}

int prime_experts(const TrainerSettings& settings, const TrainerProblem& problem, int island) {
  const std::string key = kPrimeModel + "ep";
  constexpr int kMaxByItself = 8;
  const bool is_stated = settings.has(key) && settings.text(key, "auto") != "auto";
  const bool is_custom = settings.text(kPrimeModel + "impl", "auto") != "hf";
  if (!model_has_experts(problem, task_names::kActorTraining)) return 1;
  if (is_stated) return settings.count(key, 1);
  return is_custom ? std::min(island, kMaxByItself) : 1;
}

Precision prime_precision(const TrainerSettings& settings, const std::string& key) {
  const std::string name = settings.text(key, "float32");
  if (name != "float32" && name != "bfloat16")
    throw_bad_input(settings.place_of(key) + ": expected float32 or bfloat16, got " + name);
  return name == "float32" ? Precision::fp32 : Precision::bf16;
}

// GPUs that hold the trainer's weights together.
int prime_island(const TrainerSettings& settings, const PrimeGpus& gpus) {
  const std::string key = "deployment.nodes_per_fsdp_group";
  if (settings.has(key)) {
    const int nodes = settings.count(key, 1, TrainerSettings::kMaxNodes);
    if (gpus.train_nodes % nodes != 0)
      throw_bad_input(settings.place_of(key) + ": " + std::to_string(gpus.train_nodes) +
                      " nodes for training are not a multiple of " + std::to_string(nodes));
    return nodes * gpus.train_gpus;
  }
  const int copies = settings.count(kPrimeModel + "dp_replicate", 1);
  if (gpus.trainers() % copies != 0)
    throw_bad_input(settings.place_of(kPrimeModel + "dp_replicate") + ": " + std::to_string(gpus.trainers()) +
                    " GPUs for training are not a multiple of " + std::to_string(copies));
  return gpus.trainers() / copies;
}

void read_prime_memory(const TrainerSettings& settings, Execution& execution, TaskPlan& options) {
  const bool offloads = is_part_on(settings, kPrimeModel + "ac_offloading", true);
  const bool recomputes = is_part_on(settings, kPrimeModel + "ac", true) || offloads;
  const bool is_selective = settings.text(kPrimeModel + "ac.mode", "full") == "selective";
  options.recompute = !recomputes ? Recompute::none : is_selective ? Recompute::selective : Recompute::full;
  execution.offload_activations = offloads;
  execution.offload_optimizer = settings.flag(kPrimeModel + "optim_cpu_offload", true) ||
                                settings.flag(kPrimeModel + "fsdp_cpu_offload", false) ||
                                is_part_on(settings, kPrimeModel + "full_offload", false);
  const bool has_adapters = is_part_on(settings, kPrimeModel + "lora", false);
  execution.lora_rank = has_adapters ? settings.count(kPrimeModel + "lora.rank", 16) : 0;
  const std::string chunk = kPrimeModel + "fused_lm_head_token_chunk_size";
  const bool has_chunks = !settings.has(chunk) || settings.text(chunk, "") != "disabled";
  execution.logit_chunk_tokens = has_chunks ? settings.count(chunk, 1024) : 0;
}

void read_prime_trainer(const TrainerSettings& settings, const TrainerProblem& problem, const PrimeGpus& gpus,
                        TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(task_names::kActorTraining);
  Execution& execution = task.options.execution;
  execution.context_parallel = settings.count(kPrimeModel + "cp", 1);
  if (gpus.trainers() % execution.context_parallel != 0)
    throw_bad_input(settings.place_of(kPrimeModel + "cp") + ": " + std::to_string(gpus.trainers()) +
                    " GPUs for training are not a multiple of " + std::to_string(execution.context_parallel));
  const int island = prime_island(settings, gpus);
  execution.sharded_over = island == gpus.trainers() ? 0 : island;
  execution.zero_stage = settings.flag(kPrimeModel + "reshard_after_forward", true) ? 3 : 2;
  execution.expert_parallel = prime_experts(settings, problem, island);
  execution.fused_dispatch =
      execution.expert_parallel > 1 && settings.text(kPrimeModel + "ep_comm_backend", "torch") == "deepep";
  execution.packed = true;
  execution.micro_batch_tokens =
      std::max(1, settings.count(kPrimeTrained, kPrimeSeqLen) / execution.context_parallel);
  execution.gradient_precision = prime_precision(settings, kPrimeModel + "reduce_dtype");
  const Precision weights = prime_precision(settings, kPrimeModel + "optimization_dtype");
  execution.main_gradient_precision = weights;
  execution.master_weights = weights == Precision::fp32;
  if (weights != Precision::fp32) execution.moment_precision = weights;
  read_prime_memory(settings, execution, task.options);
  complete_layout(task_names::kActorTraining, problem, 0, 0, config);
}

void read_prime(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const PrimeGpus gpus = prime_gpus(settings);
  const int engines = take_pool("rollout", gpus.engine_nodes, gpus.engine_gpus, problem.cluster, config);
  const int trainer = take_pool("trainer", gpus.train_nodes, gpus.train_gpus, problem.cluster, config);
  for (auto& [name, task] : config.tasks) task.pool = name == task_names::kActorGeneration ? engines : trainer;
  read_prime_engine(settings, problem, gpus, config);
  read_prime_trainer(settings, problem, gpus, config);
  for (const Task& task : problem.workflow.tasks) {  // prime-rl has none, but a user's workflow may
    if (task.kind == TaskKind::inference) complete_layout(task.name, problem, 0, 0, config);
  }
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

Dialect prime_rl_reader() {
  return {"prime-rl", "prime-rl", SettingForm::flags, nullptr, nullptr, nullptr, read_prime};
}

}  // namespace sextant
