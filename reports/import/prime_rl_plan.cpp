// The plan of a run of prime-rl: its GPUs, engines and trainer.
#include "reports/import/prime_rl.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant::inline reports {

bool has_below(const TrainerSettings& settings, const std::string& section) {
  const std::string prefix = section + ".";
  return std::any_of(settings.all().begin(), settings.all().end(),
                     [&](const TrainerSetting& one) { return one.key.starts_with(prefix); });
}

bool is_part_on(const TrainerSettings& settings, const std::string& section, bool otherwise) {
  const Json* own = settings.find(section);
  if (own != nullptr) return !own->is_null() && *own != false;
  return has_below(settings, section) || settings.flag(section, otherwise);
}

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

Dialect prime_rl_reader() {
  return {"prime-rl", "prime-rl", SettingForm::flags, nullptr, nullptr, nullptr, read_prime};
}

}  // namespace sextant::inline reports
