// AReaL 1.0.4: overrides of examples/math/gsm8k_grpo.yaml, or of gsm8k_ppo.yaml with a critic, for FSDP, and of their copies
// for Megatron.
//
// Keys are those of PPOConfig in areal/api/cli_args.py; the words of a backend ("fsdp:d4t2") those of
// areal/api/alloc_mode.py.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// A model with workers of its own, and its tasks; the first one decides the layout.
struct ArealRole {
  const char* name;
  std::vector<std::string> tasks;
};

const std::vector<ArealRole>& areal_roles() {
  static const std::vector<ArealRole> roles{
      {"actor", {task_names::kActorTraining, task_names::kOldLogProb}},
      {"critic", {task_names::kCriticTraining, task_names::kCriticInference}},
      {"ref", {task_names::kReferenceInference}},
  };
  return roles;
}

constexpr const char* kEngine = task_names::kActorGeneration;

double three_digits(double value) { return std::round(value * 1000) / 1000; }

bool shares_engine_gpus(const TrainerConfig& config) {
  return config.tasks.at(kEngine).pool == config.tasks.at(task_names::kActorTraining).pool;
}

// ---- backends ----

bool is_areal_megatron(const TrainerProblem& problem) { return problem.profile.has_stages_outermost; }

// "megatron:d4p2t2", or with experts "megatron:(attn:d4p4t2|ffn:d2p4e4)", whose degrees have the same product.
std::string megatron_text(const TrainerTask& task) {
  const Execution& execution = task.options.execution;
  const auto degree = [](const char* name, int value) {
    return value > 1 ? name + std::to_string(value) : std::string();
  };
  const std::string stages = "p" + std::to_string(task.pipeline_parallel);
  const std::string attention = "d" + std::to_string(task.data_parallel) + stages + "t" +
                                std::to_string(task.tensor_parallel) + degree("c", execution.context_parallel);
  if (execution.expert_parallel <= 1 && execution.expert_tensor_parallel <= 1) return "megatron:" + attention;
  const int gpus_of_stage = task.data_parallel * task.tensor_parallel * execution.context_parallel;
  const int inside = std::max(1, execution.expert_tensor_parallel);
  return "megatron:(attn:" + attention + "|ffn:d" +
         std::to_string(gpus_of_stage / inside / execution.expert_parallel) + stages + degree("t", inside) +
         "e" + std::to_string(execution.expert_parallel) + ")";
}

std::string backend_text(const char* engine, const TrainerTask& task) {
  std::string out = std::string(engine) + ":d" + std::to_string(task.data_parallel) + "t" +
                    std::to_string(task.tensor_parallel);
  const int context = task.options.execution.context_parallel;
  return context > 1 ? out + "c" + std::to_string(context) : out;
}

// The degrees of the key's backend.
ArealDegrees read_backend(const TrainerSettings& settings, const std::string& key) {
  return areal_degrees(settings.text(key, ""), settings.place_of(key));
}

// ---- what the dialect cannot say apart ----

std::string settle_areal(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  std::string changed;
  for (const Task& task : workflow.tasks) {
    TaskPlan& planned = plan.tasks.at(task.name);
    if (profile.has_stages_outermost) {
      planned.execution.virtual_stages = 1;
      if (task.kind == TaskKind::training) planned.execution.zero_stage = 1;
      if (task.kind == TaskKind::training) planned.execution.offload_optimizer = false;
      if (task.kind != TaskKind::generation) planned.execution.sequence_parallel = true;
    }
    if (task.kind == TaskKind::generation || planned.execution.micro_batch_tokens > 0) continue;
    const TaskPlan usual = default_options(profile, task.kind);
    planned.execution.micro_batch_tokens = usual.execution.micro_batch_tokens;
    planned.micro_batch_sequences = usual.micro_batch_sequences;
    changed += (changed.empty() ? "" : ", ") + task.name;
  }
  return changed.empty() ? "" : changed + ": micro-batches have a budget of tokens";
}

// ---- writing ----

void write_areal_role(const ArealRole& role, const TrainerConfig& config, const TrainerProblem& problem,
                      TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(role.tasks.front());
  const Execution& execution = task.options.execution;
  const std::string root = std::string(role.name) + ".";
  settings.begin_group(role.tasks.front());
  const bool is_megatron = is_areal_megatron(problem);
  settings.set(root + "backend", is_megatron ? megatron_text(task) : backend_text("fsdp", task));
  settings.set(root + "mb_spec.max_tokens_per_mb", execution.micro_batch_tokens * execution.context_parallel);
  settings.add_key(root + "offload", execution.offload_weights);
  if (root == "ref.") return;
  const bool recomputes = task.options.recompute != Recompute::none;
  if (root == "actor.") {
    settings.set(root + "gradient_checkpointing", recomputes);
  } else {
    settings.add_key(root + "gradient_checkpointing", recomputes);
  }
  if (is_megatron && recomputes)
    settings.add_key(root + "megatron.recompute_granularity", std::string(name_of(task.options.recompute)));
  if (is_megatron && task.options.recompute == Recompute::selective) {  // Megatron refuses both with it
    settings.add_key(root + "megatron.recompute_method", Json(nullptr));
    settings.add_key(root + "megatron.recompute_num_layers", Json(nullptr));
  }
  if (!is_megatron) settings.add_key(root + "fsdp.offload_params", execution.offload_optimizer);
  settings.add_key(root + "use_lora", execution.lora_rank > 0);
  if (execution.lora_rank > 0) settings.add_key(root + "lora_rank", execution.lora_rank);
}

// The role whose GPUs another one uses; empty: it has its own.
std::string areal_host(const std::string& role, int pool, const TrainerConfig& config) {
  for (const ArealRole& other : areal_roles()) {
    if (other.name == role) return "";
    const auto found = config.tasks.find(other.tasks.front());
    if (found != config.tasks.end() && found->second.pool == pool) return other.name;
  }
  return "";
}

void write_areal_strategies(const TrainerConfig& config, TrainerSettings& settings) {
  settings.begin_group("GPUs");
  for (const ArealRole& role : areal_roles()) {
    const auto task = config.tasks.find(role.tasks.front());
    if (task == config.tasks.end() || std::string(role.name) == "actor") continue;
    const std::string root = std::string(role.name) + ".scheduling_strategy.";
    const std::string host = areal_host(role.name, task->second.pool, config);
    settings.set(root + "type", host.empty() ? "separation" : "colocation");
    settings.set(root + "target", host.empty() ? Json(nullptr) : Json(host));
  }
  const bool is_shared = shares_engine_gpus(config);
  settings.add_key("rollout.scheduling_strategy.type", is_shared ? "colocation" : "separation");
  if (is_shared) settings.add_key("rollout.scheduling_strategy.target", "actor");
  const bool offloads = std::any_of(config.tasks.begin(), config.tasks.end(), [](const auto& named) {
    return named.first != kEngine && named.second.options.execution.offload_weights;
  });
  // AReaL refuses offloading and shared GPUs without this switch (areal/trainer/rl_trainer.py).
  settings.set("enable_offload", is_shared || offloads);
  const int rank = config.tasks.at(task_names::kActorTraining).options.execution.lora_rank;
  const Json mode = is_shared || rank > 0 ? "disk" : "xccl";  // adapters pass over disk alone
  if (rank > 0) {                                             // as examples/math/gsm8k_grpo_lora.yaml has it
    settings.add_key("rollout.use_lora", true);
    settings.add_key("gconfig.lora_name", "adapters");
    settings.add_key("actor.target_modules", Json::array({"all-linear"}));
    settings.add_key("sglang.enable_lora", true);
    settings.add_key("sglang.max_lora_rank", rank);
  }
  if (config.tasks.contains(task_names::kCriticTraining)) {
    settings.add_key("actor.weight_update_mode", mode);
  } else {
    settings.set("actor.weight_update_mode", mode);
  }
}

void write_areal_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(kEngine);
  const Execution& execution = task.options.execution;
  settings.begin_group(kEngine);
  settings.set("rollout.backend", backend_text("sglang", task));
  settings.set("sglang.mem_fraction_static",
               three_digits(engine_fraction(kEngine, config, problem) - kEngineWorkspaceFraction));
  settings.set("sglang.max_running_requests", task.options.decode_batch_sequences);
  settings.set("sglang.context_length",
               max_prompt_tokens(problem.workflow) + max_response_tokens(problem.workflow));
  settings.add_key("sglang.max_prefill_tokens", execution.prefill_chunk_tokens);
  settings.add_key("sglang.disable_radix_cache", !execution.shared_prompts);
  settings.add_key("sglang.disable_cuda_graph", !execution.cuda_graphs);
}

void write_areal_batches(const Workflow& workflow, TrainerSettings& settings) {
  settings.begin_group("Algorithm, data and batches");
  settings.set_shell("actor.path", "${MODEL_PATH}");
  settings.set_shell("train_dataset.path", "${DATASET}");
  settings.set("train_dataset.batch_size", workflow.prompts);
  settings.set("train_dataset.max_length", max_prompt_tokens(workflow));
  settings.set("gconfig.n_samples", workflow.responses_per_prompt);
  settings.set("gconfig.max_new_tokens", max_response_tokens(workflow));
  settings.set("actor.ppo_n_minibatches", workflow.mini_batches);
  constexpr double kKlPenalty = 0.1;  // the class's own default
  settings.set("actor.kl_ctl", workflow.has_task(task_names::kReferenceInference) ? kKlPenalty : 0.0);
  const bool has_pass = workflow.has_task(task_names::kOldLogProb);
  settings.set("actor.recompute_logprob", has_pass);
  settings.set("actor.use_decoupled_loss", has_pass);
  const int age = workflow.mode == Mode::synchronous ? 0 : std::max(1, static_cast<int>(workflow.staleness));
  settings.set("rollout.max_head_offpolicyness", age);
  settings.set("rollout.max_concurrent_rollouts", std::max(1, workflow.prompts * (age + 1)));
}

// All nodes of the pools; models that share one count once.
void write_areal_cluster(const TrainerConfig& config, TrainerSettings& settings) {
  int gpus = 0, per_node = 0;
  for (const GpuPool& pool : config.pools) {
    gpus += pool.gpus();
    per_node = std::max(per_node, pool.gpus_per_node);
  }
  settings.begin_group("GPUs");
  settings.set("cluster.n_nodes", (gpus + per_node - 1) / per_node);
  settings.set("cluster.n_gpus_per_node", per_node);
}

// The examples that are overridden give all models and the engine the actor's.
void write_areal_precision(const Workflow& workflow, TrainerScript& script) {
  const std::string name = precision_to_state(workflow);
  if (name.empty()) return;
  script.settings.begin_group("Precision of all models");
  script.settings.set("actor.dtype", name);
  script.states_precision = true;
}

TrainerScript write_areal(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  TrainerScript script;
  TrainerSettings& settings = script.settings;
  write_areal_batches(workflow, settings);
  write_areal_cluster(config, settings);
  write_areal_strategies(config, settings);
  write_areal_engine(config, problem, settings);
  write_areal_precision(workflow, script);
  for (const ArealRole& role : areal_roles()) {
    if (workflow.has_task(role.tasks.front())) write_areal_role(role, config, problem, settings);
  }
  const bool has_critic = workflow.has_task(task_names::kCriticTraining);
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  script.variables.push_back({"DATASET", "prompts for training, a data set that AReaL knows", "openai/gsm8k"});
  script.variables.push_back({"CONFIG", "the configuration that is overridden",
                              std::string("examples/math/gsm8k_") + (has_critic ? "ppo" : "grpo") +
                                  (is_areal_megatron(problem) ? "_megatron.yaml" : ".yaml")});
  if (has_critic) {
    settings.begin_group(task_names::kCriticTraining);
    settings.set_shell("critic.path", "${CRITIC_PATH}");
    settings.set("critic.ppo_n_minibatches", workflow.mini_batches);
    script.variables.push_back(model_variable("CRITIC_PATH", "the critic's model", workflow, "critic"));
  }
  script.notes.emplace_back("Run it in a checkout of AReaL " + problem.profile.version + ".");
  if (shares_engine_gpus(config))
    script.notes.emplace_back("Engine and actor share GPUs: weights pass over disk.");
  script.command = "python3 examples/math/gsm8k_rl.py --config \"$CONFIG\" scheduler.type=ray";
  return script;
}

// ---- reading ----

int read_areal_pool(const std::string& name, const ArealDegrees& degrees, const TrainerSettings& settings,
                    const TrainerProblem& problem, TrainerConfig& config) {
  const int per_node = settings.count("cluster.n_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode),
            gpus = static_cast<int>(std::min<double>(degrees.gpus(), TrainerSettings::kMaxCount));
  const bool is_whole = gpus % per_node == 0;
  return take_pool(name, is_whole ? gpus / per_node : 1, is_whole ? per_node : gpus, problem.cluster, config);
}

// The role whose GPUs the role of this key uses; empty: it has its own.
std::string read_areal_host(const TrainerSettings& settings, const std::string& role, const char* otherwise) {
  const bool is_shared =
      settings.text(role + ".scheduling_strategy.type", otherwise) == std::string("colocation");
  return is_shared ? settings.text(role + ".scheduling_strategy.target", "actor") : "";
}

void take_areal_degrees(const ArealDegrees& degrees, TrainerTask& task) {
  task.tensor_parallel = degrees.tensor;
  task.pipeline_parallel = degrees.stages;
  task.options.execution.context_parallel = degrees.context;
  task.options.execution.expert_parallel = degrees.experts;
  if (degrees.expert_tensor > 0) task.options.execution.expert_tensor_parallel = degrees.expert_tensor;
}

void read_areal_options(const TrainerSettings& settings, const std::string& root, TaskKind kind,
                        const TrainerProblem& problem, TrainerTask& task) {
  Execution& execution = task.options.execution;
  const int tokens = settings.count(root + "mb_spec.max_tokens_per_mb",
                                    execution.micro_batch_tokens * execution.context_parallel);
  execution.micro_batch_tokens = std::max(1, tokens / execution.context_parallel);
  execution.offload_weights = settings.flag(root + "offload", false);
  if (kind != TaskKind::training) return;
  const bool is_megatron = is_areal_megatron(problem);
  const bool is_selective =
      is_megatron && settings.text(root + "megatron.recompute_granularity", "full") == "selective";
  task.options.recompute = !settings.flag(root + "gradient_checkpointing", false) ? Recompute::none
                           : is_selective                                         ? Recompute::selective
                                                                                  : Recompute::full;
  execution.offload_optimizer = !is_megatron && settings.flag(root + "fsdp.offload_params", false);
  execution.lora_rank = settings.flag(root + "use_lora", false) ? settings.count(root + "lora_rank", 32) : 0;
}

void read_areal_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(kEngine);
  const ArealDegrees degrees = read_backend(settings, "rollout.backend");
  take_areal_degrees(degrees, task);
  const std::string host = read_areal_host(settings, "rollout", "separation");
  task.pool = host.empty() ? read_areal_pool("rollout", degrees, settings, problem, config)
                           : config.tasks.at(task_names::kActorTraining).pool;
  Execution& execution = task.options.execution;
  execution.offload_weights = !host.empty();
  task.options.decode_batch_sequences =
      settings.count("sglang.max_running_requests", task.options.decode_batch_sequences);
  execution.prefill_chunk_tokens = settings.count("sglang.max_prefill_tokens", execution.prefill_chunk_tokens);
  execution.shared_prompts = !settings.flag("sglang.disable_radix_cache", true);
  execution.cuda_graphs = !settings.flag("sglang.disable_cuda_graph", false);
  complete_layout(kEngine, problem, 0, 0, config);
  constexpr double kDefaultFraction = 0.9;
  take_engine_fraction(
      settings.number("sglang.mem_fraction_static", kDefaultFraction) + kEngineWorkspaceFraction, kEngine,
      problem, config);
}

void read_areal(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const Workflow& workflow = problem.workflow;
  std::map<std::string, int> pools;
  for (const ArealRole& role : areal_roles()) {
    if (!workflow.has_task(role.tasks.front())) continue;
    const std::string name = role.name;
    const ArealDegrees degrees = read_backend(settings, name + ".backend");
    const std::string host = name == "actor" ? "" : read_areal_host(settings, name, "separation");
    if (!host.empty() && !pools.contains(host))
      throw_bad_input(settings.place_of(name + ".scheduling_strategy.target") + ": no model \"" + host + "\"");
    pools[name] = host.empty()
                      ? read_areal_pool(pool_name(role.tasks, workflow), degrees, settings, problem, config)
                      : pools.at(host);
    for (const std::string& task_name : role.tasks) {
      if (!workflow.has_task(task_name)) continue;
      TrainerTask& task = config.tasks.at(task_name);
      task.pool = pools.at(name);
      take_areal_degrees(degrees, task);
      read_areal_options(settings, name + ".", workflow.task(task_name).kind, problem, task);
      complete_layout(task_name, problem, 0, 0, config);
    }
  }
  read_areal_engine(settings, problem, config);
}

DialectRules areal_rules(const FrameworkProfile& profile) {
  DialectRules rules;
  rules.holds_longest_sequence = true;
  rules.settle = settle_areal;
  if (profile.has_stages_outermost)
    rules.more_options = {"training.sequence_parallel", "inference.sequence_parallel", "training.zero_stage"};
  return rules;
}

std::string areal_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  if (!config.tasks.contains(task_names::kActorTraining) || !config.tasks.contains(kEngine))
    return "AReaL runs PPO and GRPO; the workflow has no generation or no training of an actor";
  if (config.tasks.contains(task_names::kRewardInference))
    return "AReaL scores responses with a function; the workflow has a reward model";
  const TrainerTask& served = config.tasks.at(kEngine);
  const bool has_adapters = config.tasks.at(task_names::kActorTraining).options.execution.lora_rank > 0;
  if (is_areal_megatron(problem) && has_adapters)
    return "AReaL's Megatron backend has adapters with vLLM alone, and the script has SGLang";
  if (shares_engine_gpus(config) && served.tensor_parallel > 1)
    return "AReaL starts an engine for each GPU that it shares with the actor, so its tensor parallelism is 1 "
           "there; the "
           "plan has " +
           std::to_string(served.tensor_parallel) + " (--mode asynchronous has engines with GPUs of their own)";
  if (served.tensor_parallel > config.pool_of(kEngine).gpus_per_node)
    return "AReaL's engines have GPUs of one node; the plan has tensor parallelism " +
           std::to_string(served.tensor_parallel) + " on nodes of " +
           std::to_string(config.pool_of(kEngine).gpus_per_node);
  for (const ArealRole& role : areal_roles()) {
    const auto found = config.tasks.find(role.tasks.front());
    if (found == config.tasks.end() || !is_areal_megatron(problem)) continue;
    const TrainerTask& task = found->second;
    const Execution& execution = task.options.execution;
    const int gpus = task.data_parallel * task.tensor_parallel * execution.context_parallel;
    if (gpus % (execution.expert_parallel * std::max(1, execution.expert_tensor_parallel)) != 0)
      return "AReaL divides the " + std::to_string(gpus) + " GPUs of a stage of " + found->first +
             " among the experts, whose degrees do not divide them";
  }
  if (shares_engine_gpus(config)) return "";
  const int engine = config.tasks.at(kEngine).pool;
  const bool is_shared = std::any_of(config.tasks.begin(), config.tasks.end(), [&](const auto& named) {
    return named.first != kEngine && named.second.pool == engine;
  });
  return is_shared
             ? "AReaL's engine shares its GPUs with the actor or with no model; the plan lets others share them"
             : "";
}

}  // namespace

ArealDegrees areal_degrees(const std::string& backend, const std::string& place) {
  ArealDegrees degrees;
  const auto fail = [&] {
    throw_bad_input(place + ": expected a backend such as \"fsdp:d4t2\", got \"" + backend + "\"");
  };
  // "megatron:(attn:d4t2|ffn:d2e4)" has degrees of its own for the experts.
  const std::size_t attention = backend.find("attn:"), experts = backend.find("ffn:");
  const bool is_split = attention != std::string::npos && experts != std::string::npos && attention < experts;
  if (backend.starts_with("megatron")) degrees.expert_tensor = 1;  // unless "t" of "ffn" says otherwise
  bool is_of_experts = false;
  const std::size_t colon = is_split ? attention + 4 : backend.find(':');
  if (colon == std::string::npos || colon + 1 == backend.size()) fail();
  const char *at = backend.data() + colon + 1, *end = backend.data() + backend.size();
  while (at < end) {
    if (is_split && (*at == ')' || *at == '|')) {
      at = *at == '|' ? backend.data() + experts + 4 : end;
      is_of_experts = true;
      continue;
    }
    int number = 0;
    const auto [next, error] = std::from_chars(at + 1, end, number);
    if (error != std::errc() || number < 1) fail();
    int ignored = 0;
    int* degree = nullptr;
    if (*at == 'd') degree = is_of_experts ? &ignored : &degrees.data;
    if (*at == 't') degree = is_of_experts ? &degrees.expert_tensor : &degrees.tensor;
    if (*at == 'p') degree = is_of_experts ? &ignored : &degrees.stages;
    if (*at == 'c' && !is_of_experts) degree = &degrees.context;
    if (*at == 'e') degree = &degrees.experts;
    if (degree == nullptr) fail();
    *degree = number;
    at = next;
  }
  return degrees;
}

Dialect areal_dialect() {
  return {"areal", "areal", SettingForm::hydra, areal_rules, areal_refusal, write_areal, read_areal};
}

Dialect areal_megatron_dialect() {
  return {"areal", "areal-megatron", SettingForm::hydra, areal_rules, areal_refusal, write_areal, read_areal};
}

}  // namespace sextant::inline reports
