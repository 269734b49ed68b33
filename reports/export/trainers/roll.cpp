// ROLL 0.3.0: a YAML file that extends examples/qwen2.5-7B-rlvr_megatron/rlvr_config_amd_async.yaml, with the
// strategies megatron_train, megatron_infer and vllm. Nothing in that file is for one make of GPU; rlvr_config_async.yaml
// has options of SGLang that would stay in the configuration of vLLM, which refuses them.
//
// Every role lists its GPUs (device_mapping), so roles may share some of theirs.
//
// Critics are read and not written: Megatron's strategies have no value model (roll/models/model_providers.py).
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <numeric>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "reports/export/trainers/setting_rows.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

struct RollRole {
  const char* name;
  std::vector<std::string> tasks;
  const char* strategy;
};

const std::vector<RollRole>& roll_roles() {
  static const std::vector<RollRole> roles{
      {"actor_train", {task_names::kActorTraining, task_names::kOldLogProb}, "megatron_train"},
      {"actor_infer", {task_names::kActorGeneration}, "vllm"},
      {"reference", {task_names::kReferenceInference}, "megatron_infer"},
      {"critic", {task_names::kCriticTraining, task_names::kCriticInference}, "megatron_train"},
  };
  return roles;
}

// strategy_args.strategy_config of a role. Defaults: mcore_adapter/src/mcore_adapter/training_args.py.
constexpr std::array kRollLayout{SettingRow{"tensor_model_parallel_size", Says::tensor},
                                 SettingRow{"pipeline_model_parallel_size", Says::stages},
                                 SettingRow{"context_parallel_size", Says::context},
                                 SettingRow{"expert_model_parallel_size", Says::experts},
                                 SettingRow{"expert_tensor_parallel_size", Says::expert_tensor},
                                 SettingRow{"sequence_parallel", Says::sequence_parallel, 0}};
constexpr std::array kRollTraining{SettingRow{"virtual_pipeline_model_parallel_size", Says::virtual_stages},
                                   SettingRow{"use_distributed_optimizer", Says::distributed_optimizer, 0},
                                   SettingRow{"recompute_granularity", Says::recompute}};
constexpr std::array kRollEngine{SettingRow{"tensor_parallel_size", Says::tensor},
                                 SettingRow{"pipeline_parallel_size", Says::stages},
                                 SettingRow{"enforce_eager", Says::eager, 0},
                                 SettingRow{"enable_prefix_caching", Says::shared_prompts, 1},
                                 SettingRow{"max_num_seqs", Says::decode_sequences},
                                 SettingRow{"max_num_batched_tokens", Says::prefill_tokens}};
constexpr const char* kRollBase = "rlvr_config_amd_async";
constexpr const char* kRollStages = "pipeline_model_parallel_layout";
constexpr const char* kRollEngineStages = "actor_infer.system_envs.VLLM_PP_LAYER_PARTITION";

std::string roll_strategy(const RollRole& role) {
  return std::string(role.name) + ".strategy_args.strategy_config.";
}

bool roll_trains(const RollRole& role) { return std::string_view(role.strategy) == "megatron_train"; }

// ---- GPUs ----

int roll_gpus_per_node(const Cluster& cluster) {
  int most = 1;
  for (const Node& node : cluster.nodes()) most = std::max(most, node.devices);
  return most;
}

// "list(range(0,8)) + list(range(12,16))": ROLL evaluates the text.
std::string device_mapping(const GpuPool& pool, const Cluster& cluster) {
  const int per_node = roll_gpus_per_node(cluster);
  std::vector<int> numbers;
  for (const DeviceId device : pool.devices) {
    int first = 0, node = 0;
    for (; first + cluster.nodes()[static_cast<std::size_t>(node)].devices <= device.value; ++node)
      first += cluster.nodes()[static_cast<std::size_t>(node)].devices;
    numbers.push_back(node * per_node + device.value - first);
  }
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    out += (out.empty() ? "list(range(" : " + list(range(") + std::to_string(numbers[i]) + "," +
           std::to_string(numbers[end - 1] + 1) + "))";
    i = end;
  }
  return out;
}

DeviceId roll_device(int number, int per_node, const Cluster& cluster, const std::string& place) {
  const int wanted = number / per_node, in_node = number % per_node;
  int first = 0, at = 0;
  for (const Node& node : cluster.nodes()) {
    if (at == wanted && in_node < node.devices) return DeviceId{first + in_node};
    first += node.devices;
    ++at;
  }
  throw_bad_input(place + ": the cluster has no GPU " + std::to_string(number));
}

// ---- stages ----

// "Et*7|t*8|t*9L": the layers of all stages, once for each round of virtual stages.
std::string roll_layout(const TrainerTask& task) {
  const int rounds = task.options.execution.virtual_stages;
  std::string out = "E";
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t stage = 0; stage < task.stage_layers.size(); ++stage) {
      const int layers = even_stages(task.stage_layers[stage], rounds)[static_cast<std::size_t>(round)];
      if (round > 0 || stage > 0) out += "|";
      if (layers > 0) out += "t*" + std::to_string(layers);
    }
  }
  return out + "L";
}

[[noreturn]] void fail_layout(const std::string& place, const std::string& text) {
  throw_bad_input(place + ": expected a layout such as \"Et*8|t*8L\", got \"" + text + "\"");
}

// The layers of each stage of such a text.
std::vector<int> read_roll_layout(const std::string& text, int stages, const std::string& place) {
  std::vector<int> parts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '|') {
      parts.push_back(0);
    } else if (c == 't') {
      int count = 1;
      if (i + 1 < text.size() && text[i + 1] == '*') {
        const char* first = text.data() + i + 2;
        const auto [end, error] = std::from_chars(first, text.data() + text.size(), count);
        constexpr int kMaxLayers = 10'000;
        if (error != std::errc() || count < 1 || count > kMaxLayers) fail_layout(place, text);
        i = static_cast<std::size_t>(end - text.data()) - 1;
      }
      parts.back() += count;
    } else if (c != 'E' && c != 'L' && c != ',' && c != ' ') {
      fail_layout(place, text);
    }
  }
  const auto count = static_cast<std::size_t>(stages);
  if (parts.size() % count != 0) fail_layout(place, text);
  std::vector<int> layers(count, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) layers[i % count] += parts[i];
  return layers;
}

// ---- what the dialect cannot say apart ----

// ROLL rounds the number of packed micro-batches to a multiple of the virtual stages (roll/utils/sequence_packing.py,
// LoadBalancePacker), and Megatron's schedule needs one of the stages.
void keep_roll_schedule(TaskPlan& task) {
  Execution& execution = task.execution;
  const int stages = task.replicas.front().pipeline_parallel();
  if (execution.packed && execution.micro_batch_tokens > 0 && execution.virtual_stages % stages != 0)
    execution.virtual_stages = 1;
}

// Sequences without packing are padded to a multiple of this number. Tensor and context parallelism divide it, and so
// does the length of dynamic batching (roll/utils/dynamic_batching.py, sequence_length_round), 4 if nothing is stated.
int roll_rounding(int tensor_parallel, int context_parallel) {
  constexpr int kUsualRounding = 4;
  const int parts = tensor_parallel * (context_parallel > 1 ? 2 * context_parallel : 1);
  return std::lcm(kUsualRounding, parts);
}

// The length of all sequences that are not packed, and the least budget of those that are (LoadBalancePacker).
int roll_length(const Workflow& workflow, int rounding) {
  const int longest = max_prompt_tokens(workflow) + max_response_tokens(workflow);
  return (longest + rounding - 1) / rounding * rounding;
}

void hold_roll_length(const Workflow& workflow, Plan& plan) {
  int rounding = 1;
  for (const Task& task : workflow.tasks) {
    const TaskPlan& planned = plan.tasks.at(task.name);
    if (task.kind != TaskKind::generation && !planned.execution.packed)
      rounding =
          std::lcm(rounding, roll_rounding(planned.tensor_parallel(planned.replicas.front().stages.front()),
                                           planned.execution.context_parallel));
  }
  const int length = roll_length(workflow, rounding);
  for (const Task& task : workflow.tasks) {
    Execution& execution = plan.tasks.at(task.name).execution;
    if (task.kind == TaskKind::generation || execution.micro_batch_tokens == 0) continue;
    const int parts = std::max(1, execution.context_parallel);
    execution.micro_batch_tokens = std::max(execution.micro_batch_tokens, (length + parts - 1) / parts);
  }
}

int roll_length(const TrainerConfig& config, const Workflow& workflow) {
  int rounding = 1;
  for (const Task& task : workflow.tasks) {
    const TrainerTask& planned = config.tasks.at(task.name);
    const Execution& execution = planned.options.execution;
    if (task.kind != TaskKind::generation && !execution.packed)
      rounding = std::lcm(rounding, roll_rounding(planned.tensor_parallel, execution.context_parallel));
  }
  return roll_length(workflow, rounding);
}

// The tasks of a role pack their sequences together, with a budget of tokens or a number of sequences. Megatron's
// distributed optimizer is ZeRO 1.
std::string settle_roll(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  const Plan before = plan;
  split_sequences_of_experts(plan, workflow);
  for (const Task& task : workflow.tasks) {
    TaskPlan& planned = plan.tasks.at(task.name);
    if (task.kind == TaskKind::generation) {
      keep_batch_within_step(planned);
      continue;
    }
    if (task.kind != TaskKind::training) continue;
    planned.execution.zero_stage = std::min(planned.execution.zero_stage, 1);
    keep_roll_schedule(planned);
  }
  for (const RollRole& role : roll_roles()) {
    const TaskPlan* first = nullptr;
    for (const std::string& name : role.tasks) {
      if (!workflow.has_task(name)) continue;
      TaskPlan& task = plan.tasks.at(name);
      if (first == nullptr) {
        first = &task;
        continue;
      }
      task.execution.packed = first->execution.packed;
      if (!task.execution.packed) continue;
      const TaskPlan usual = default_options(profile, workflow.task(name).kind);
      if (first->execution.micro_batch_tokens == 0) {
        task.execution.micro_batch_tokens = 0;
      } else if (task.execution.micro_batch_tokens == 0) {
        task.execution.micro_batch_tokens = first->execution.micro_batch_tokens;
        task.micro_batch_sequences = usual.micro_batch_sequences;
      }
    }
  }
  hold_roll_length(workflow, plan);
  return plan == before ? ""
                        : "The tasks of a role pack their sequences alike, and count micro-batches alike; "
                          "Megatron shards with ZeRO 1, splits the sequences of mixtures over tensor "
                          "parallelism, and packs without virtual stages; budgets hold padded lengths, and "
                          "vLLM decodes no more sequences than a step has tokens";
}

// ---- writing ----

void write_roll_batches(const RollRole& role, const TrainerConfig& config, const Workflow& workflow,
                        TrainerSettings& settings) {
  const std::string root = std::string(role.name) + ".";
  const auto write = [&](const TrainerTask& task, const char* sequences, const std::string& end) {
    const Execution& execution = task.options.execution;
    const int tokens = execution.micro_batch_tokens * execution.context_parallel;
    settings.set(root + sequences, task.options.micro_batch_sequences);
    if (execution.packed) {
      const bool is_train = end == "train";
      if (tokens > 0)
        settings.set(
            root + "sequence_packing_args.max_packed_sequence_length_" + (is_train ? "train" : "forward"),
            tokens);
      return;
    }
    settings.set(root + "use_dynamic_batching_in_" + end, tokens > 0);
    if (tokens == 0) return;
    settings.set(root + "max_tokens_per_microbatch_in_" + end, tokens);
    settings.set(root + "sequence_length_round_in_" + end,
                 roll_rounding(task.tensor_parallel, execution.context_parallel));
  };
  const TrainerTask* any = nullptr;
  for (const std::string& name : role.tasks) {
    if (!workflow.has_task(name)) continue;
    any = &config.tasks.at(name);
    if (workflow.task(name).kind != TaskKind::training) {
      write(*any, "infer_batch_size", "infer");
      continue;
    }
    write(*any, "training_args.per_device_train_batch_size", "train");
    const int step = any->data_parallel * any->options.micro_batch_sequences;
    settings.set(root + "training_args.gradient_accumulation_steps",
                 std::max(1, prompts_per_step(workflow) * workflow.responses_per_prompt / step));
  }
  const Execution& execution = any->options.execution;
  settings.set(root + "use_sequence_packing", execution.packed);
  if (execution.packed)
    settings.set(root + "sequence_packing_args.algorithm",
                 execution.micro_batch_tokens > 0 ? "load_balance" : "none");
}

// The engine has to be told of the actor's adapters, and vLLM wants the names of modules.
void write_roll_adapters(const RollRole& role, const TrainerConfig& config, TrainerSettings& settings) {
  const bool is_engine = std::string_view(role.name) == "actor_infer";
  if (!is_engine && !roll_trains(role)) return;
  const std::string task = is_engine ? task_names::kActorTraining : role.tasks.front();
  const int rank = config.tasks.at(task).options.execution.lora_rank;
  if (rank == 0) return;
  const std::string root = std::string(role.name) + ".model_args.";
  settings.set(root + "lora_target",
               is_engine ? "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj" : "all-linear");
  settings.set(root + "lora_rank", rank);
}

// A role has adapters if it names their modules (roll/configs/model_args.py).
int read_roll_adapters(const std::string& role, const TrainerSettings& settings) {
  const Json* target = settings.find(role + "model_args.lora_target");
  constexpr int kUsualRank = 8;
  const bool has_adapters = target != nullptr && !target->is_null() && !target->empty();
  return has_adapters ? settings.count(role + "model_args.lora_rank", kUsualRank) : 0;
}

void write_roll_role(const RollRole& role, const TrainerConfig& config, const TrainerProblem& problem,
                     TrainerSettings& settings) {
  const TrainerTask& task = config.tasks.at(role.tasks.front());
  const std::string root = roll_strategy(role);
  settings.set(std::string(role.name) + ".device_mapping",
               device_mapping(config.pools[static_cast<std::size_t>(task.pool)], problem.cluster));
  settings.set(std::string(role.name) + ".strategy_args.strategy_name", role.strategy);
  if (!precision_to_state(problem.workflow).empty())
    settings.set(std::string(role.name) + ".model_args.dtype",
                 std::string(name_of(problem.workflow.precision)));
  if (!precision_to_state(problem.workflow).empty() && std::string_view(role.name) != "actor_infer") {
    const bool is_half = problem.workflow.precision == Precision::fp16;
    settings.set(root + "bf16", false);  // the example that is overridden has it on
    settings.set(root + "fp16", is_half);
  }
  write_roll_adapters(role, config, settings);
  if (std::string_view(role.name) == "actor_infer") {
    write_rows(kRollEngine, root, task, settings);
    settings.set(root + "gpu_memory_utilization", engine_fraction(role.tasks.front(), config, problem));
    settings.set(root + "max_model_len", roll_length(config, problem.workflow));
    if (!has_uneven_ends(task)) return;
    std::string layers;
    for (const int count : task.stage_layers) layers += (layers.empty() ? "" : ",") + std::to_string(count);
    settings.set(kRollEngineStages, layers);
    return;
  }
  write_rows(kRollLayout, root, task, settings);
  const int chunks = task.options.execution.virtual_stages;
  const bool has_uneven_chunks = std::any_of(task.stage_layers.begin(), task.stage_layers.end(),
                                             [&](int layers) { return layers % chunks != 0; });
  if (has_uneven_ends(task) || has_uneven_chunks) settings.set(root + kRollStages, roll_layout(task));
  // Packing compares the number of virtual stages where its key is there, even with null.
  if (roll_trains(role)) write_rows(kRollTraining, root, task, settings, true);
  // Megatron's usual dispatcher, allgather, needs equally many tokens on all devices.
  if (problem.workflow.model_of(problem.workflow.task(role.tasks.front())).experts)
    settings.set(root + "moe_token_dispatcher_type", "alltoall");
  write_roll_batches(role, config, problem.workflow, settings);
}

TrainerScript write_roll(const TrainerConfig& config, const TrainerProblem& problem) {
  const Workflow& workflow = problem.workflow;
  TrainerScript script;
  TrainerSettings& settings = script.settings;
  settings.set("defaults", Json::array({kRollBase, "_self_"}));
  settings.set("exp_name", run_name(config.plan, problem));
  settings.set("num_gpus_per_node", roll_gpus_per_node(problem.cluster));
  settings.set("rollout_batch_size", workflow.prompts);
  settings.set("num_return_sequences_in_group", workflow.responses_per_prompt);
  // Both lengths together are that of all sequences, which parallelism divides.
  settings.set("prompt_length", roll_length(config, workflow) - max_response_tokens(workflow));
  settings.set("response_length", max_response_tokens(workflow));
  settings.set("adv_estimator", "grpo");
  settings.set("ppo_epochs", 1);
  settings.set("async_generation_ratio", workflow.mode == Mode::synchronous ? 0
                                         : workflow.mode == Mode::one_step_off
                                             ? 1
                                             : std::max(2, static_cast<int>(workflow.staleness)));
  settings.set("init_kl_coef", 0.0);
  settings.set("use_kl_loss", workflow.has_task(task_names::kReferenceInference));
  const bool has_pass = workflow.has_task(task_names::kOldLogProb);
  settings.set("enable_old_logprobs_recompute", has_pass);
  settings.set("force_disable_old_logprobs_recompute", !has_pass);
  settings.set("pretrain", "${oc.env:MODEL_PATH}");
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  // The rewards' workers read responses with the tokenizer of this model.
  settings.set("reward_pretrain", "${oc.env:MODEL_PATH}");
  for (const RollRole& role : roll_roles()) {
    if (workflow.has_task(role.tasks.front())) write_roll_role(role, config, problem, settings);
  }
  script.states_precision = !precision_to_state(workflow).empty();
  // The extended file gives the reference 16 GPUs, which count even where it does not run.
  if (!workflow.has_task(task_names::kReferenceInference))
    settings.set("reference.device_mapping",
                 device_mapping(config.pool_of(task_names::kActorTraining), problem.cluster));
  script.variables.push_back({"CONFIG",
                              "where the configuration is written, next to " + std::string(kRollBase) + ".yaml",
                              "examples/qwen2.5-7B-rlvr_megatron/" + run_name(config.plan, problem) + ".yaml"});
  script.notes.emplace_back("Run it in a checkout of ROLL " + problem.profile.version +
                            ". Data, template and rewards are those of " + kRollBase + ".yaml.");
  script.notes.emplace_back("GPU n of a device_mapping is GPU n % " +
                            std::to_string(roll_gpus_per_node(problem.cluster)) +
                            " of a node, and nodes are numbered as Ray lists them.");
  note_uneven_steps(workflow, script);
  script.command =
      "export MODEL_PATH\npython examples/start_rlvr_pipeline.py --config_path \"$(basename \"$(dirname "
      "\"$CONFIG\")\")\" --config_name \"$(basename \"$CONFIG\" .yaml)\"";
  return script;
}

// ---- reading ----

// The tasks by the GPUs of their role, and for each such set its pool.
void read_roll_pools(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const int per_node = settings.count("num_gpus_per_node", 8, TrainerSettings::kMaxGpusPerNode);
  std::map<std::vector<int>, std::vector<std::string>> tasks_of;
  std::map<std::vector<int>, std::string> places;
  for (const RollRole& role : roll_roles()) {
    if (!problem.workflow.has_task(role.tasks.front())) continue;
    const std::string key = std::string(role.name) + ".device_mapping";
    if (!settings.has(key)) throw_bad_input(key + " is not there, and its default is no GPU");
    const std::vector<int> numbers = listed_devices(settings.text(key, ""), settings.place_of(key));
    places.emplace(numbers, settings.place_of(key));
    for (const std::string& task : role.tasks) {
      if (problem.workflow.has_task(task)) tasks_of[numbers].push_back(task);
    }
  }
  for (const auto& [numbers, tasks] : tasks_of) {
    GpuPool pool{pool_name(tasks, problem.workflow), 1, static_cast<int>(numbers.size()), {}};
    const auto found = std::find_if(config.pools.begin(), config.pools.end(),
                                    [&](const GpuPool& one) { return one.name == pool.name; });
    if (found != config.pools.end() && found->gpus() != pool.gpus())
      throw_bad_input("pool " + pool.name + " has " + std::to_string(found->gpus()) + " GPUs, " +
                      places.at(numbers) + " says " + std::to_string(pool.gpus()));
    const auto at = static_cast<int>(found - config.pools.begin());
    if (found == config.pools.end()) {
      for (const int number : numbers)
        pool.devices.push_back(roll_device(number, per_node, problem.cluster, places.at(numbers)));
      config.pools.push_back(std::move(pool));
    }
    for (const std::string& task : tasks) config.tasks.at(task).pool = at;
  }
}

void read_roll_batches(const std::string& root, TaskKind kind, const TrainerSettings& settings,
                       TaskPlan& task) {
  const bool trains = kind == TaskKind::training;
  const std::string end = trains ? "train" : "infer", packing = root + "sequence_packing_args.";
  Execution& execution = task.execution;
  execution.packed = settings.flag(root + "use_sequence_packing", false);
  const bool counts_tokens = execution.packed ? settings.text(packing + "algorithm", "none") == "load_balance"
                                              : settings.flag(root + "use_dynamic_batching_in_" + end, false);
  const std::string tokens = execution.packed
                                 ? packing + "max_packed_sequence_length_" + (trains ? "train" : "forward")
                                 : root + "max_tokens_per_microbatch_in_" + end;
  constexpr int kInferBatch = 16, kTrainBatch = 8;  // worker_config.py, TrainingArguments of Transformers
  execution.micro_batch_tokens =
      counts_tokens ? std::max(1, settings.count(tokens, 1) / execution.context_parallel) : 0;
  const int sequences = trains ? settings.count(root + "training_args.per_device_train_batch_size", kTrainBatch)
                               : settings.count(root + "infer_batch_size", kInferBatch);
  if (!counts_tokens) task.micro_batch_sequences = sequences;
}

// FSDP 2 shards weights, gradients and optimizer states (strategies fsdp2_train and fsdp2_infer).
void read_roll_fsdp(const std::string& role, bool trains, const TrainerSettings& settings, TrainerTask& task) {
  Execution& execution = task.options.execution;
  constexpr int kShardsWeights = 3;
  execution.zero_stage = kShardsWeights;
  execution.context_parallel = settings.count(role + "model_args.ulysses_size", 1);
  execution.offload_optimizer =
      settings.flag(role + "strategy_args.strategy_config.offload_policy", false) && trains;
  if (trains)
    task.options.recompute = settings.flag(role + "model_args.disable_gradient_checkpointing", false)
                                 ? Recompute::none
                                 : Recompute::full;
}

void read_roll_role(const RollRole& role, const TrainerSettings& settings, const TrainerProblem& problem,
                    TrainerConfig& config) {
  const std::string root = roll_strategy(role);
  const std::string strategy =
      settings.text(std::string(role.name) + ".strategy_args.strategy_name", role.strategy);
  for (const std::string& name : role.tasks) {
    if (!problem.workflow.has_task(name)) continue;
    TrainerTask& task = config.tasks.at(name);
    const TaskKind kind = problem.workflow.task(name).kind;
    const bool is_engine = kind == TaskKind::generation;
    const std::string stages = is_engine ? kRollEngineStages : root + kRollStages;
    if (is_engine) {
      read_rows(kRollEngine, root, settings, task);
    } else {
      read_rows(kRollLayout, root, settings, task);
      const bool trains = kind == TaskKind::training, is_fsdp = strategy.starts_with("fsdp2");
      if (trains) task.options.execution.lora_rank = read_roll_adapters(std::string(role.name) + ".", settings);
      if (is_fsdp) read_roll_fsdp(std::string(role.name) + ".", trains, settings, task);
      if (trains && !is_fsdp) read_rows(kRollTraining, root, settings, task);
      read_roll_batches(std::string(role.name) + ".", kind, settings, task.options);
    }
    complete_layout(name, problem, 0, 0, config);
    if (settings.has(stages)) {
      const std::string text = settings.text(stages, ""), place = settings.place_of(stages);
      task.stage_layers = is_engine ? listed_numbers(text, task.pipeline_parallel, place)
                                    : read_roll_layout(text, task.pipeline_parallel, place);
    }
  }
}

// The engine sleeps in synchronous mode, and on GPUs that it shares with the trainer in all modes.
void read_roll_engine(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const std::string name = task_names::kActorGeneration;
  const bool is_shared = config.pool_of(name).devices == config.pool_of(task_names::kActorTraining).devices;
  config.tasks.at(name).options.execution.offload_weights =
      problem.workflow.mode == Mode::synchronous || is_shared;
  constexpr double kDefaultFraction = 0.9;  // vLLM's
  take_engine_fraction(
      settings.number("actor_infer.strategy_args.strategy_config.gpu_memory_utilization", kDefaultFraction),
      name, problem, config);
}

void read_roll(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  read_roll_pools(settings, problem, config);
  for (const RollRole& role : roll_roles()) {
    if (problem.workflow.has_task(role.tasks.front())) read_roll_role(role, settings, problem, config);
  }
  read_roll_engine(settings, problem, config);
}

DialectRules roll_rules(const FrameworkProfile& profile) {
  static_cast<void>(profile);
  DialectRules rules;
  rules.holds_longest_sequence = true;
  rules.more_options = {"inference.expert_tensor_parallel", "inference.sequence_parallel",
                        "training.expert_tensor_parallel"};
  rules.settle = settle_roll;
  rules.lists_devices = true;
  return rules;
}

// The batches that ROLL and Megatron refuse.
std::string roll_batch_refusal(const TrainerConfig& config, const Workflow& workflow) {
  const std::string actor = task_names::kActorTraining;
  const TrainerTask& training = config.tasks.at(actor);
  const Execution& execution = training.options.execution;
  const int replicas = training.data_parallel, group = micro_batch_group(training);
  // roll/utils/config_utils.py, validate_megatron_batch_size: prompts, not sequences
  std::string refusal = uneven_refusal("ROLL", workflow.prompts, "prompts", replicas,
                                       std::to_string(replicas) + " replicas of " + actor);
  if (!refusal.empty()) return refusal;
  const bool counts_tokens = execution.micro_batch_tokens > 0;
  const std::string of = replicas_and_micro_batches(actor, training);
  const int of_group = counts_tokens ? 1 : group;
  if (!counts_tokens || execution.packed)  // roll/distributed/scheduler/protocol.py, make_iterator
    refusal = uneven_refusal(
        "ROLL", sequences_per_step(workflow), "sequences of an optimizer step",
        replicas * training.options.micro_batch_sequences * of_group,
        of_group == 1 ? of : of + " in groups of " + std::to_string(group) + " for virtual stages");
  if (!refusal.empty() || group == 1) return refusal;
  const int sequences = workflow.sequences() / replicas;
  if (counts_tokens && sequences < group)
    return "ROLL refuses virtual stages with fewer sequences of a replica than stages; the plan has " +
           std::to_string(sequences) + " and " + std::to_string(group);
  const auto pass = config.tasks.find(task_names::kOldLogProb);
  if (pass == config.tasks.end() || pass->second.options.execution.micro_batch_tokens > 0) return "";
  const int micro_batches = std::max(1, sequences / pass->second.options.micro_batch_sequences);
  return micro_batches % group == 0
             ? ""
             : "Megatron refuses virtual stages where micro-batches are no multiple of the stages; " +
                   pass->first + " has " + std::to_string(micro_batches) + " and " + std::to_string(group);
}

// ROLL uses nodes that have as many GPUs as its driver's (roll/distributed/scheduler/resource_manager.py).
std::string roll_node_refusal(const TrainerConfig& config, const Cluster& cluster) {
  const int per_node = roll_gpus_per_node(cluster);
  for (const GpuPool& pool : config.pools) {
    for (const DeviceId device : pool.devices) {
      const int gpus = cluster.nodes()[static_cast<std::size_t>(cluster.node_of(device).value)].devices;
      if (gpus != per_node)
        return "ROLL uses nodes with equally many GPUs; the plan has nodes with " + std::to_string(gpus) +
               " and the cluster others with " + std::to_string(per_node);
    }
  }
  return "";
}

std::string roll_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  if (!config.tasks.contains(task_names::kActorTraining) ||
      !config.tasks.contains(task_names::kActorGeneration))
    return "ROLL runs PPO and GRPO; the workflow has no generation or no training of an actor";
  if (config.tasks.contains(task_names::kRewardInference))
    return "ROLL scores responses with rules or with a judge that generates; the workflow has a reward model "
           "that "
           "scores";
  if (const int rank = config.tasks.at(task_names::kActorTraining).options.execution.lora_rank;
      !is_vllm_rank(rank))
    return vllm_rank_refusal(rank);
  if (config.tasks.contains(task_names::kCriticTraining))
    return "ROLL's strategies of Megatron have no critic; the workflow has one";
  const std::string refusal = roll_batch_refusal(config, problem.workflow);
  return refusal.empty() ? roll_node_refusal(config, problem.cluster) : refusal;
}

}  // namespace

Dialect roll_dialect() {
  return {"roll", "roll", SettingForm::yaml, roll_rules, roll_refusal, write_roll, read_roll};
}

std::vector<int> listed_devices(std::string_view text, const std::string& place) {
  std::vector<int> numbers, arguments;
  constexpr int kMaxDevices = 1'000'000;
  const auto fail = [&] {
    throw_bad_input(place + ": expected GPUs such as \"list(range(0,8))\", got \"" + std::string(text) + "\"");
  };
  bool is_range = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      int number = 0;
      const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
      if (error != std::errc() || number > kMaxDevices) fail();
      (is_range ? arguments : numbers).push_back(number);
      i = static_cast<std::size_t>(end - text.data()) - 1;
    } else if (text.substr(i).starts_with("range(") && !is_range) {
      is_range = true;
      i += 5;
    } else if (text.substr(i).starts_with("list(")) {
      i += 4;
    } else if (c == ')' && is_range) {
      if (arguments.size() == 1) arguments.insert(arguments.begin(), 0);
      if (arguments.size() == 2) arguments.push_back(1);
      if (arguments.size() != 3 || arguments[2] < 1) fail();
      for (int number = arguments[0]; number < arguments[1]; number += arguments[2]) numbers.push_back(number);
      arguments.clear();
      is_range = false;
    } else if (std::string_view(" ,+[]()").find(c) == std::string_view::npos) {
      fail();
    }
  }
  std::sort(numbers.begin(), numbers.end());
  const bool has_twice = std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end();
  if (is_range || numbers.empty() || has_twice) fail();
  return numbers;
}

}  // namespace sextant::inline reports
