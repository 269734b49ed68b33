// TRL 1.9.0: flags of "trl grpo", which passes those of "accelerate launch" on, and of "trl vllm-serve".
//
// In colocate mode the trainer's processes hold the engine; in server mode it has GPUs of its own on one node.
#include <algorithm>
#include <array>

#include "reports/export/trainers/dialect_parts.h"
#include "reports/export/trainers/dialects.h"
#include "reports/export/trainers/setting_rows.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr const char* kTrlEngine = task_names::kActorGeneration;
constexpr const char* kTrlTrainer = task_names::kActorTraining;

constexpr std::array kTrlBatches{SettingRow{"per_device_train_batch_size", Says::micro_sequences, 8}};

bool is_trl_colocated(const TrainerConfig& config) {
  return config.tasks.at(kTrlEngine).pool == config.tasks.at(kTrlTrainer).pool;
}

// An engine holds all sequences of its replica (grpo_trainer.py: max_num_seqs).
std::string settle_trl(Plan& plan, const Workflow& workflow, const FrameworkProfile& profile) {
  static_cast<void>(profile);
  const auto engine = plan.tasks.find(kTrlEngine);
  if (engine == plan.tasks.end() || !workflow.has_task(kTrlTrainer)) return "";
  constexpr int kShardsWeights = 3;
  const bool shards = plan.tasks.at(kTrlTrainer).execution.zero_stage == kShardsWeights;
  for (const Task& task : workflow.tasks) {
    if (task.kind == TaskKind::inference)
      plan.tasks.at(task.name).execution.zero_stage = shards ? kShardsWeights : 0;
  }
  const std::vector<int> sequences = replica_sequences(engine->second, workflow.sequences());
  const int all = *std::max_element(sequences.begin(), sequences.end());
  const bool is_limited = engine->second.decode_batch_sequences < all;
  engine->second.decode_batch_sequences = all;
  return is_limited ? "An engine decodes all sequences of its replica together" : "";
}

// ---- writing ----

// The trainer computes in bf16 unless its arguments say otherwise (trl/trainer/base_config.py), whatever the launcher
// says. A colocated engine has the data type of the checkpoint (trl/generation/vllm_generation.py gives vLLM none).
void write_trl_precision(const TrainerConfig& config, const Workflow& workflow, TrainerScript& script) {
  if (precision_to_state(workflow).empty()) return;
  const bool is_half = workflow.precision == Precision::fp16;
  script.settings.set(is_half ? "fp16" : "bf16", is_half ? "true" : "false");
  script.states_precision = true;
  if (is_trl_colocated(config))
    script.notes.push_back(
        "TRL's colocated engine has the data type of the checkpoint, or float16 on GPUs without "
        "bfloat16, whatever the trainer's precision is.");
}

void write_trl_launch(const TrainerConfig& config, const Workflow& workflow, TrainerScript& script) {
  TrainerSettings& settings = script.settings;
  const GpuPool& pool = config.pool_of(kTrlTrainer);
  const Execution& execution = config.tasks.at(kTrlTrainer).options.execution;
  settings.begin_group("GPUs, for accelerate launch");
  settings.set("num_machines", pool.nodes);
  settings.set("num_processes", pool.gpus());
  if (pool.nodes > 1) {
    settings.set_shell("machine_rank", "${NODE_RANK}");
    settings.set_shell("main_process_ip", "${MASTER_ADDR}");
    settings.set_shell("main_process_port", "${MASTER_PORT}");
    // The default launcher starts the processes of all nodes from one, by a list of hosts.
    settings.set("deepspeed_multinode_launcher", "standard");
    script.variables.push_back({"NODE_RANK", "number of this node among those of the trainer, from 0", ""});
    script.variables.push_back({"MASTER_ADDR", "address of node 0", ""});
    script.variables.push_back({"MASTER_PORT", "a free port on it", "29500"});
    script.notes.emplace_back("Run it on every node of the trainer.");
  }
  settings.set("mixed_precision", workflow.precision == Precision::fp16   ? "fp16"
                                  : workflow.precision == Precision::fp32 ? "no"
                                                                          : "bf16");
  settings.set("use_deepspeed", true);
  settings.set("zero_stage", execution.zero_stage);
  settings.set("offload_optimizer_device", execution.offload_optimizer ? "cpu" : "none");
  constexpr int kShardsWeights = 3;
  settings.set("zero3_init_flag", execution.zero_stage == kShardsWeights ? "true" : "false");
  // Without it the trained model is written as DeepSpeed's parts, which no other program reads.
  if (execution.zero_stage == kShardsWeights) settings.set("zero3_save_16bit_model", "true");
}

void write_trl_batches(const TrainerConfig& config, const TrainerProblem& problem, TrainerScript& script) {
  const Workflow& workflow = problem.workflow;
  TrainerSettings& settings = script.settings;
  const TrainerTask& training = config.tasks.at(kTrlTrainer);
  settings.begin_group("Algorithm, data and batches");
  settings.set_shell("model_name_or_path", "${MODEL_PATH}");
  settings.set_shell("dataset_name", "${DATASET}");
  settings.set_shell("reward_funcs", "${REWARD}");
  settings.set_shell("output_dir", "${OUTPUT_DIR}");
  settings.set("num_generations", workflow.responses_per_prompt);
  settings.set("generation_batch_size", workflow.sequences());
  settings.set("max_completion_length", max_response_tokens(workflow));
  write_rows(kTrlBatches, "", training, settings);
  settings.set("gradient_accumulation_steps",
               std::max(1, prompts_per_step(workflow) * workflow.responses_per_prompt /
                               (training.data_parallel * training.options.micro_batch_sequences)));
  settings.set("gradient_checkpointing", training.options.recompute == Recompute::full ? "true" : "false");
  const int adapters = training.options.execution.lora_rank;
  if (adapters > 0) {
    settings.set("use_peft", true);
    settings.set("lora_r", adapters);
    settings.set("lora_target_modules", "all-linear");
  }
  constexpr double kKlPenalty = 0.04;  // any: it adds the reference
  settings.set("beta", workflow.has_task(task_names::kReferenceInference) ? kKlPenalty : 0.0);
  const bool has_pass = workflow.has_task(task_names::kOldLogProb);
  settings.set("vllm_importance_sampling_correction", has_pass ? "true" : "false");
  if (!has_pass && workflow.mini_batches > 1)
    script.notes.emplace_back(
        "TRL computes the actor's log-probabilities again if an iteration has several optimizer steps; the "
        "workflow has no such pass.");
  script.variables.push_back(model_variable("MODEL_PATH", "the model", workflow, "actor"));
  script.variables.push_back(
      {"DATASET", "prompts for training: a data set of Hugging Face, or its folder", ""});
  script.variables.push_back(
      {"REWARD", "how responses are scored: a name of trl.rewards, or the dotted path of a function",
       "accuracy_reward"});
  script.variables.push_back(
      {"OUTPUT_DIR", "where the trained model is written", run_name(config.plan, problem)});
}

void write_trl_engine(const TrainerConfig& config, const TrainerProblem& problem, TrainerScript& script) {
  const TrainerTask& task = config.tasks.at(kTrlEngine);
  TrainerSettings& settings = script.settings;
  const double fraction = engine_fraction(kTrlEngine, config, problem);
  const int tokens = max_prompt_tokens(problem.workflow) + max_response_tokens(problem.workflow);
  settings.begin_group(kTrlEngine);
  settings.set("use_vllm", true);
  settings.set("vllm_mode", is_trl_colocated(config) ? "colocate" : "server");
  settings.set("vllm_max_model_length", tokens);
  if (is_trl_colocated(config)) {
    settings.set("vllm_tensor_parallel_size", task.tensor_parallel);
    settings.set("vllm_gpu_memory_utilization", fraction);
    settings.set("vllm_enable_sleep_mode", task.options.execution.offload_weights);
    return;
  }
  settings.set_shell("vllm_server_host", "${ROLLOUT_HOST}");
  script.variables.push_back({"ROLLOUT_HOST", "address of the node with the rollout GPUs", "127.0.0.1"});
  script.variables.push_back(
      {"ROLE", "\"server\" on the rollout GPUs, \"trainer\" on the trainer's", "trainer"});
  script.notes.emplace_back("Run it with ROLE=server and CUDA_VISIBLE_DEVICES on the rollout GPUs first.");
  TrainerSettings server;
  server.set("tensor_parallel_size", task.tensor_parallel);
  server.set("data_parallel_size", task.data_parallel);
  server.set("gpu_memory_utilization", fraction);
  server.set("max_model_len", tokens);
  if (!precision_to_state(problem.workflow).empty()) server.set("dtype", precision_to_state(problem.workflow));
  script.command = "if [[ \"$ROLE\" == server ]]; then\n  exec trl vllm-serve --model \"$MODEL_PATH\"";
  for (const TrainerSetting& one : server.all()) script.command += " --" + one.key + " " + one.value.dump();
  script.command += "\nfi\n";
}

TrainerScript write_trl(const TrainerConfig& config, const TrainerProblem& problem) {
  TrainerScript script;
  write_trl_batches(config, problem, script);
  write_trl_precision(config, problem.workflow, script);
  write_trl_launch(config, problem.workflow, script);
  write_trl_engine(config, problem, script);
  note_uneven_steps(problem.workflow, script);
  script.notes.emplace_back("Prompts are not cut: TRL " + problem.profile.version +
                            " has no limit of their length, and the engine refuses longer ones.");
  script.command += "trl grpo";
  return script;
}

// ---- reading ----

void read_trl_pools(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  constexpr int kUsualNode = 8;
  const int nodes = settings.count("num_machines", 1, TrainerSettings::kMaxNodes),
            gpus = settings.count("num_processes", nodes * kUsualNode);
  const bool is_even = gpus % nodes == 0;
  const int trainer =
      take_pool("trainer", is_even ? nodes : 1, is_even ? gpus / nodes : gpus, problem.cluster, config);
  for (auto& [name, task] : config.tasks) task.pool = trainer;
  TrainerTask& engine = config.tasks.at(kTrlEngine);
  if (settings.text("vllm_mode", "colocate") != "server") {
    engine.tensor_parallel = settings.count("vllm_tensor_parallel_size", 1);
    return;
  }
  engine.tensor_parallel = settings.count("tensor_parallel_size", 1, TrainerSettings::kMaxGpusPerNode);
  const int replicas = settings.count("data_parallel_size", 1, TrainerSettings::kMaxGpusPerNode);
  engine.pool = take_pool("rollout", 1, engine.tensor_parallel * replicas, problem.cluster, config);
}

// The rank has a default of its own (trl/trainer/model_config.py).
int read_trl_adapters(const TrainerSettings& settings) {
  constexpr int kUsualRank = 16;
  const bool has_adapters = settings.has("use_peft") && settings.flag("use_peft", false);
  return has_adapters ? settings.count("lora_r", kUsualRank) : 0;
}

void read_trl_trainer(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  const bool is_sharded = settings.flag("use_deepspeed", true);
  const int zero_stage = is_sharded ? settings.integer("zero_stage", 2) : 0;
  if (zero_stage < 0 || zero_stage > 3)
    throw_bad_input(settings.place_of("zero_stage") + ": expected an integer from 0 to 3, got " +
                    std::to_string(zero_stage));
  for (const Task& named : problem.workflow.tasks) {
    if (named.kind == TaskKind::generation) continue;
    TrainerTask& task = config.tasks.at(named.name);
    Execution& execution = task.options.execution;
    read_rows(kTrlBatches, "", settings, task);
    if (named.kind == TaskKind::training) {
      execution.zero_stage = zero_stage;
      execution.lora_rank = read_trl_adapters(settings);
      execution.offload_optimizer = settings.text("offload_optimizer_device", "none") == "cpu";
      task.options.recompute =
          settings.flag("gradient_checkpointing", true) ? Recompute::full : Recompute::none;
    } else {
      execution.zero_stage = zero_stage == 3 ? 3 : 0;
    }
    complete_layout(named.name, problem, 0, 0, config);
  }
}

void read_trl(const TrainerSettings& settings, const TrainerProblem& problem, TrainerConfig& config) {
  read_trl_pools(settings, problem, config);
  read_trl_trainer(settings, problem, config);
  TrainerTask& engine = config.tasks.at(kTrlEngine);
  const bool is_colocated = is_trl_colocated(config);
  engine.options.execution.offload_weights = is_colocated && settings.flag("vllm_enable_sleep_mode", false);
  complete_layout(kTrlEngine, problem, 0, 0, config);
  engine.options.decode_batch_sequences =
      (problem.workflow.sequences() + engine.data_parallel - 1) / engine.data_parallel;
  constexpr double kTrainersFraction = 0.3, kServersFraction = 0.9;
  take_engine_fraction(is_colocated ? settings.number("vllm_gpu_memory_utilization", kTrainersFraction)
                                    : settings.number("gpu_memory_utilization", kServersFraction),
                       kTrlEngine, problem, config);
}

DialectRules trl_rules(const FrameworkProfile& profile) {
  static_cast<void>(profile);
  DialectRules rules;
  rules.settle = settle_trl;
  return rules;
}

// The batches and engines that TRL and vLLM refuse when they read their arguments.
std::string trl_batch_refusal(const TrainerConfig& config, const Workflow& workflow) {
  const TrainerTask& training = config.tasks.at(kTrlTrainer);
  const TrainerTask& engine = config.tasks.at(kTrlEngine);
  std::string refusal =
      uneven_refusal("TRL", workflow.sequences(), "sequences of a generation",
                     training.data_parallel * training.options.micro_batch_sequences,
                     replicas_and_micro_batches(kTrlTrainer, training));  // trl/trainer/grpo_config.py
  if (!refusal.empty()) return refusal;
  constexpr int kStepTokens = 4096;  // max_num_batched_tokens in trl/generation/vllm_generation.py
  const int sequences = (workflow.sequences() + engine.data_parallel - 1) / engine.data_parallel;
  if (is_trl_colocated(config) && sequences > kStepTokens)
    return "TRL gives an engine all sequences of its replica together, and vLLM refuses more of them than "
           "the " +
           std::to_string(kStepTokens) + " tokens of a step; the workflow has " + std::to_string(sequences) +
           " a replica";
  const bool is_dense = !workflow.model_of(workflow.task(kTrlEngine)).experts;
  if (!is_trl_colocated(config) && is_dense && engine.data_parallel > 1)  // trl/scripts/vllm_serve.py
    return "TRL's server of vLLM refuses several replicas of a model without experts; the plan has " +
           std::to_string(engine.data_parallel) +
           ": give generation one replica with tensor parallelism, or the trainer's GPUs";
  return "";
}

std::string trl_refusal(const TrainerConfig& config, const TrainerProblem& problem) {
  for (const Task& task : problem.workflow.tasks) {
    const bool is_known = task.name == kTrlEngine || task.name == kTrlTrainer ||
                          task.name == task_names::kOldLogProb || task.name == task_names::kReferenceInference;
    if (!is_known)
      return "The export to TRL covers GRPO with rule-based rewards; the workflow has the task " + task.name;
  }
  if (!config.tasks.contains(kTrlTrainer) || !config.tasks.contains(kTrlEngine))
    return "TRL runs GRPO; the workflow has no generation or no training of an actor";
  if (problem.workflow.responses_per_prompt < 2)
    return "TRL compares the responses to a prompt and refuses one alone; the workflow has one";
  if (problem.workflow.mode != Mode::synchronous)
    return "TRL's asynchronous trainer is a class without a program that is launched; the workflow has the "
           "asynchronous mode";
  const std::string refusal = trl_batch_refusal(config, problem.workflow);
  if (!refusal.empty() || is_trl_colocated(config)) return refusal;
  const GpuPool& engine = config.pool_of(kTrlEngine);
  const NodeId node = problem.cluster.node_of(engine.devices.front());
  const bool is_on_one_node = std::all_of(engine.devices.begin(), engine.devices.end(), [&](DeviceId device) {
    return problem.cluster.node_of(device) == node;
  });
  return is_on_one_node ? ""
                        : "TRL's engines have GPUs of one node, or those of the trainer; the plan has others";
}

}  // namespace

Dialect trl_dialect() {
  return {"trl", "trl", SettingForm::flags, trl_rules, trl_refusal, write_trl, read_trl};
}

}  // namespace sextant::inline reports
