#include "reports/export/trainers/dialect_parts.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "costmodel/problem/work.h"
#include "reports/export/trainers/script_comments.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

// The GPUs of each node that no pool has.
std::vector<std::vector<DeviceId>> free_devices(const Cluster& cluster, const TrainerConfig& config) {
  std::vector<std::vector<DeviceId>> free;
  int first = 0;
  for (const Node& node : cluster.nodes()) {
    std::vector<DeviceId>& of_node = free.emplace_back();
    for (int i = first; i < first + node.devices; ++i) {
      const bool is_taken = std::any_of(config.pools.begin(), config.pools.end(), [&](const GpuPool& pool) {
        return std::binary_search(pool.devices.begin(), pool.devices.end(), DeviceId{i});
      });
      if (!is_taken) of_node.push_back(DeviceId{i});
    }
    first += node.devices;
  }
  return free;
}

// Parts of as many nodes as the pool has, if these have enough free GPUs; otherwise the next free ones.
std::vector<DeviceId> devices_for(const GpuPool& pool, const std::vector<std::vector<DeviceId>>& free) {
  const auto size = static_cast<std::size_t>(pool.gpus()), part = static_cast<std::size_t>(pool.gpus_per_node);
  std::vector<DeviceId> parts, next;
  for (const std::vector<DeviceId>& of_node : free) {
    next.insert(next.end(), of_node.begin(), of_node.end());
    if (of_node.size() >= part && parts.size() < size)
      parts.insert(parts.end(), of_node.begin(), of_node.begin() + static_cast<std::ptrdiff_t>(part));
  }
  if (parts.size() == size) return parts;
  next.resize(size);
  return next;
}

}  // namespace

std::string precision_to_state(const Workflow& workflow) {
  if (workflow.precision == Precision::fp16) return "float16";
  return workflow.precision == Precision::fp32 ? "float32" : "";
}

Precision precision_of_name(const std::string& name) {
  if (name == "float16" || name == "fp16" || name == "half") return Precision::fp16;
  return name == "float32" || name == "fp32" ? Precision::fp32 : Precision::bf16;
}

int max_prompt_tokens(const Workflow& workflow) {
  return static_cast<int>(std::ceil(workflow.prompt_tokens.max_tokens()));
}

int max_response_tokens(const Workflow& workflow) {
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  return static_cast<int>(std::ceil(workflow.response_tokens.max_tokens() + observed));
}

int prompts_per_step(const Workflow& workflow) { return std::max(1, workflow.prompts / workflow.mini_batches); }

void note_uneven_steps(const Workflow& workflow, TrainerScript& script) {
  if (workflow.prompts % workflow.mini_batches == 0) return;
  script.notes.push_back("The workflow divides " + std::to_string(workflow.prompts) + " prompts into " +
                         std::to_string(workflow.mini_batches) + " optimizer steps; here a step has " +
                         std::to_string(prompts_per_step(workflow)) + " prompts.");
}

int sequences_per_step(const Workflow& workflow) {
  return std::max(1, workflow.sequences() / workflow.mini_batches);
}

std::string uneven_refusal(const std::string& framework, int count, const std::string& unit, int parts,
                           const std::string& parts_are) {
  if (count >= parts && count % parts == 0) return "";
  return framework + " refuses parts that are not whole: " + std::to_string(count) + " " + unit + " over " +
         parts_are + "; change --prompts, --responses or --mini-batches";
}

std::string replicas_and_micro_batches(const std::string& name, const TrainerTask& task) {
  const int sequences = task.options.micro_batch_sequences;
  return std::to_string(task.data_parallel) + " replicas of " + name +
         (sequences > 1 ? " with micro-batches of " + std::to_string(sequences) : "");
}

void write_megatron_degrees(const std::string& root, const TrainerTask& task, TrainerSettings& settings) {
  const Execution& execution = task.options.execution;
  settings.set(root + "tensor_model_parallel_size", task.tensor_parallel);
  settings.set(root + "pipeline_model_parallel_size", task.pipeline_parallel);
  settings.set(root + "context_parallel_size", execution.context_parallel);
  settings.set(root + "expert_model_parallel_size", execution.expert_parallel);
  settings.set(root + "expert_tensor_parallel_size",
               execution.expert_tensor_parallel > 0 ? Json(execution.expert_tensor_parallel) : Json(nullptr));
}

void read_megatron_degrees(const TrainerSettings& settings, const std::string& root, TrainerTask& task) {
  Execution& execution = task.options.execution;
  task.tensor_parallel = settings.count(root + "tensor_model_parallel_size", 1);
  task.pipeline_parallel = settings.count(root + "pipeline_model_parallel_size", 1);
  execution.context_parallel = settings.count(root + "context_parallel_size", 1);
  execution.expert_parallel = settings.count(root + "expert_model_parallel_size", 1);
  execution.expert_tensor_parallel = settings.integer(root + "expert_tensor_parallel_size", 0);
}

void split_sequences_of_experts(Plan& plan, const Workflow& workflow) {
  const auto is_split = [&](const Task& task) {
    const TaskPlan& planned = plan.tasks.at(task.name);
    return task.kind != TaskKind::generation &&
           planned.tensor_parallel(planned.replicas.front().stages.front()) > 1;
  };
  const bool has_experts = std::any_of(workflow.tasks.begin(), workflow.tasks.end(), [&](const Task& task) {
    return is_split(task) && workflow.model_of(task).experts;
  });
  for (const Task& task : workflow.tasks) {
    if (has_experts && is_split(task)) plan.tasks.at(task.name).execution.sequence_parallel = true;
  }
}

void keep_chunks_whole(Plan& plan) {
  for (auto& [name, task] : plan.tasks) {
    for (const Stage& stage : task.replicas.front().stages) {
      if (stage.layers % task.execution.virtual_stages != 0) task.execution.virtual_stages = 1;
    }
  }
}

int micro_batch_group(const TrainerTask& task) {
  return task.options.execution.virtual_stages > 1 ? task.pipeline_parallel : 1;
}

ShellVariable model_variable(const std::string& variable, const std::string& role, const Workflow& workflow,
                             const std::string& model) {
  const std::string& name = workflow.models.at(model).name;
  const bool is_hub_name = name.find('/') != std::string::npos && name.front() != '/' && name.front() != '.';
  return {variable, model_meaning(role, name), is_hub_name ? name : ""};
}

std::string run_name(const std::string& plan, const TrainerProblem& problem) {
  const std::string& workflow = problem.workflow.name;
  const bool is_of_planner = plan.empty() || plan.starts_with(workflow + "-");
  const std::string name = is_of_planner ? workflow + "-" + problem.profile.family : plan;
  std::string out;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '-' || c == '_' || c == '.';
    if (is_plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  const bool is_word = !out.empty() && out.front() != '.' && out.front() != '-';
  return is_word ? out : "sextant" + out;
}

int replicas_in_pool(const TrainerTask& task, const TrainerConfig& config) {
  const int gpus = config.pools.at(static_cast<std::size_t>(task.pool)).gpus();
  const int of_replica =
      task.pipeline_parallel * task.tensor_parallel * task.options.execution.context_parallel;
  if (of_replica < 1 || gpus % of_replica != 0)
    throw_bad_input(std::to_string(gpus) + " GPUs are not a multiple of the " + std::to_string(of_replica) +
                    " that a replica has");
  return gpus / of_replica;
}

int take_pool(const std::string& name, int nodes, int gpus_per_node, const Cluster& cluster,
              TrainerConfig& config) {
  const auto found = std::find_if(config.pools.begin(), config.pools.end(),
                                  [&](const GpuPool& pool) { return pool.name == name; });
  if (found != config.pools.end()) {
    if (found->gpus() != nodes * gpus_per_node)
      throw_bad_input("pool " + name + " has " + std::to_string(found->gpus()) + " GPUs, the settings say " +
                      std::to_string(nodes * gpus_per_node));
    return static_cast<int>(found - config.pools.begin());
  }
  GpuPool pool{name, nodes, gpus_per_node, {}};
  const std::vector<std::vector<DeviceId>> free = free_devices(cluster, config);
  std::size_t left = 0;
  for (const std::vector<DeviceId>& of_node : free) left += of_node.size();
  const bool is_possible = nodes >= 1 && gpus_per_node >= 1 &&
                           static_cast<long long>(nodes) * gpus_per_node <= static_cast<long long>(left);
  if (!is_possible)
    throw_bad_input("pool " + name + " needs " + std::to_string(nodes) + " x " + std::to_string(gpus_per_node) +
                    " GPUs, the cluster has " + std::to_string(left) + " left");
  pool.devices = devices_for(pool, free);
  config.pools.push_back(std::move(pool));
  return static_cast<int>(config.pools.size()) - 1;
}

void complete_layout(const std::string& name, const TrainerProblem& problem, int first, int last,
                     TrainerConfig& config) {
  TrainerTask& task = config.tasks.at(name);
  task.data_parallel = replicas_in_pool(task, config);
  if (task.data_parallel > problem.workflow.sequences())  // before the replicas take memory
    throw_bad_input(name + ": " + std::to_string(task.data_parallel) + " replicas, and the batch has " +
                    std::to_string(problem.workflow.sequences()) +
                    " sequences: each replica needs at least one");
  const int layers = problem.workflow.model_of(problem.workflow.task(name)).layers;
  const int ends = (first > 0 ? 1 : 0) + (last > 0 ? 1 : 0);
  if (ends == 0) {
    const TaskKind kind = problem.workflow.task(name).kind;
    task.stage_layers =
        dealt_stages(layers, task.pipeline_parallel, task_profile(problem.profile, kind).stages);
    return;
  }
  const int inner = task.pipeline_parallel - ends;
  const int rest = layers - first - last;
  if (inner < 0 || rest < inner || (inner == 0) != (rest == 0))
    throw_bad_input(name + ": the layers of the first and the last stage leave none to the others");
  task.stage_layers = inner == 0 ? std::vector<int>{} : even_stages(rest, inner);
  if (first > 0) task.stage_layers.insert(task.stage_layers.begin(), first);
  if (last > 0) task.stage_layers.push_back(last);
}

double engine_fraction(const std::string& task, const TrainerConfig& config, const TrainerProblem& problem) {
  const double fraction = engine_memory_fraction(
      config.tasks.at(task), problem.workflow.model_of(problem.workflow.task(task)), problem.workflow.precision,
      smallest_memory_bytes(config.pool_of(task).devices, problem.cluster));
  return fraction;
}

void take_engine_fraction(double fraction, const std::string& task, const TrainerProblem& problem,
                          TrainerConfig& config) {
  TrainerTask& planned = config.tasks.at(task);
  planned.options.execution.kv_cache_bytes = kv_cache_bytes_of(
      fraction, planned, problem.workflow.model_of(problem.workflow.task(task)), problem.workflow.precision,
      smallest_memory_bytes(config.pool_of(task).devices, problem.cluster));
}

int engine_width(const TrainerTask& task) {
  return std::max(task.tensor_parallel,
                  static_cast<int>(expert_width(task.options.execution, task.tensor_parallel)));
}

int attention_replicas(const TrainerTask& task) { return engine_width(task) / task.tensor_parallel; }

void keep_experts_whole(int tensor_parallel, Execution& engine) {
  if (engine.expert_parallel > 1 && engine.expert_parallel % tensor_parallel != 0)
    engine.expert_parallel = tensor_parallel;
  engine.expert_tensor_parallel = engine.expert_parallel > 1 ? 1 : 0;
}

void fit_engine_experts(TaskPlan& engine) {
  TrainerTask task;
  task.tensor_parallel = engine.tensor_parallel(engine.replicas.front().stages.front());
  task.options.execution = engine.execution;
  const int width = engine_width(task);
  if (width % task.tensor_parallel == 0 && engine.data_parallel() * task.tensor_parallel % width == 0) return;
  engine.execution.expert_parallel = task.tensor_parallel;
  engine.execution.expert_tensor_parallel = task.tensor_parallel > 1 ? 1 : 0;
}

bool is_vllm_rank(int rank) {
  constexpr std::array kRanks{0, 1, 8, 16, 32, 64, 128, 256, 320, 512};
  return std::find(kRanks.begin(), kRanks.end(), rank) != kRanks.end();
}

std::string vllm_rank_refusal(int rank) {
  return "vLLM has no room for adapters of rank " + std::to_string(rank) +
         ": it has 1, 8, 16, 32, 64, 128, 256, 320 or 512";
}

void keep_batch_within_step(TaskPlan& engine) {
  const int tokens = engine.execution.prefill_chunk_tokens;
  if (tokens > 0) engine.decode_batch_sequences = std::min(engine.decode_batch_sequences, tokens);
}

std::vector<int> listed_numbers(const std::string& text, int stages, const std::string& place) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    int number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + comma, number);
    if (error != std::errc() || end != text.data() + comma || number < 1)
      throw_bad_input(place + ": expected numbers of layers such as \"14,18\", got \"" + text + "\"");
    numbers.push_back(number);
    at = comma + 1;
  }
  if (std::ssize(numbers) != stages)
    throw_bad_input(place + ": expected " + std::to_string(stages) + " numbers, got \"" + text + "\"");
  return numbers;
}

bool has_uneven_ends(const TrainerTask& task) {
  int layers = 0;
  for (const int count : task.stage_layers) layers += count;
  return layers % task.pipeline_parallel != 0 ||
         task.stage_layers != even_stages(layers, task.pipeline_parallel);
}

}  // namespace sextant::inline reports
