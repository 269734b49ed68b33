#include "calibrate/import/records/measured_generation.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace sextant {
namespace {

struct NamedFormat {
  std::string_view name;
  NumberFormat format;
};

constexpr std::array<NamedFormat, 5> kFormats{{
    {"bf16", {Precision::bf16, true}},
    {"fp16", {Precision::fp16, true}},
    {"fp8", {Precision::fp8, true}},
    {"fp4", {Precision::fp4, true}},
    {"int4", {Precision::fp4, false}},  // four bits; the vocabulary has no integers
}};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [lower](char x, char y) { return lower(x) == lower(y); });
}

bool has_sixteen_bits(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16;
}

// Both 16-bit formats have one size and one rate wherever facts name only one.
Precision sixteen_bits(const DeviceType& type, Precision wanted) {
  return type.flop_per_s.contains(wanted) ? wanted : Precision::bf16;
}

// The bytes of the weights in their stored format.
double weight_bytes(const MeasuredGeneration& generation) {
  const Execution& execution = generation.execution;
  return bytes_per_element(
      execution.weight_precision.value_or(execution.precision.value_or(generation.precision)));
}

double expert_weight_bytes(const MeasuredGeneration& generation) {
  const std::optional<Precision>& experts = generation.execution.expert_weight_precision;
  return experts ? bytes_per_element(*experts) : weight_bytes(generation);
}

// Bytes of `parameters`, of which `experts` are in routed experts, that one device of a stage of all layers
// has.
double on_one_device(const MeasuredGeneration& generation, double parameters, double experts) {
  const Execution& execution = generation.execution;
  const double expert_width = execution.expert_parallel > 1
                                  ? execution.expert_parallel * std::max(1, execution.expert_tensor_parallel)
                                  : generation.degrees.tensor_parallel;
  return weight_bytes(generation) * (parameters - experts) / generation.degrees.tensor_parallel +
         expert_weight_bytes(generation) * experts / expert_width;
}

double weight_bytes_per_device(const MeasuredGeneration& generation) {
  const Model& model = generation.model;
  const double experts = model.layers * model.layer_expert_parameters();
  return on_one_device(generation, model.parameters(), experts) / generation.degrees.pipeline_parallel;
}

// A lower bound for the time of a batch: every step reads, at the datasheet's rate, only the weights that its
// tokens pass if routing is uniform; stages of a pipeline run one after another.
double min_s(const MeasuredGeneration& generation) {
  const Model& model = generation.model;
  const int replicas = generation.execution.expert_parallel > 1 ? 1 : generation.degrees.data_parallel;
  const double touched = model.layer_touched_parameters(std::max(1, generation.sequences / replicas));
  const double dense = model.layer_parameters() - model.layer_expert_parameters();
  const double parameters = model.layers * touched + model.head_parameters();
  const double read = on_one_device(generation, parameters, model.layers * (touched - dense));
  return generation.response_tokens * read / generation.gpu.type.memory_bytes_per_s.value;
}

// Empty where the numbers can all be right.
std::string contradiction(const MeasuredGeneration& generation) {
  if (generation.execution.kv_cache_bytes < 0) return "the weights leave no room for a KV cache on its GPUs";
  if (generation.batch_s < min_s(generation)) {
    return "faster than the memory of its GPUs delivers the weights that its steps read";
  }
  return "";
}

// Replicas without a sequence have nothing to do, unless they hold experts of the others.
int busy_replicas(const MeasuredGeneration& generation) {
  const int replicas = generation.degrees.data_parallel;
  return generation.execution.expert_parallel > 1 ? replicas : std::min(replicas, generation.sequences);
}

// Prompts that pass through the layers at once.
int prompts_at_once(const MeasuredGeneration& generation, int replicas) {
  const int of_replica = std::max(1, generation.sequences / replicas);
  const int tokens = generation.execution.prefill_chunk_tokens;
  if (tokens == 0) return of_replica;
  return std::clamp(static_cast<int>(tokens / generation.prompt_tokens), 1, of_replica);
}

std::string in_words(double tokens) {
  std::ostringstream out;
  out << tokens;
  return out.str();
}

Workflow workflow_of(const MeasuredGeneration& generation) {
  const std::string name = generation.model.name + ", " + std::to_string(generation.sequences) + " x " +
                           in_words(generation.prompt_tokens) + " + " + in_words(generation.response_tokens);
  Workflow workflow = generation_batch(name, generation.model, generation.sequences, generation.prompt_tokens,
                                       generation.response_tokens, generation.precision);
  if (generation.are_prompts_shared) std::swap(workflow.prompts, workflow.responses_per_prompt);
  return workflow;
}

Plan plan_of(const MeasuredGeneration& generation, Degrees degrees) {
  TaskPlan task = uniform_task(degrees, generation.model.layers);
  task.execution = generation.execution;
  task.execution.context_parallel = degrees.context_parallel;
  task.execution.shared_prompts = generation.are_prompts_shared;
  task.micro_batch_sequences = prompts_at_once(generation, degrees.data_parallel);
  task.decode_batch_sequences = generation.decode_batch_sequences;
  Plan plan;
  plan.tasks.emplace(task_names::kActorGeneration, std::move(task));
  return plan;
}

Run run_of(const MeasuredGeneration& generation) {
  Run run;
  run.name = generation.name;
  run.source = RunSource::published;
  run.framework = generation.framework;
  run.iteration.samples_s = {generation.batch_s};
  run.unstated = generation.unstated;
  run.notes = generation.notes;
  run.notes.emplace("model", generation.model.name);
  run.notes.emplace("gpu", generation.gpu.name);
  return run;
}

}  // namespace

std::optional<NumberFormat> find_number_format(std::string_view name) {
  for (const NamedFormat& known : kFormats) {
    if (equal_ignoring_case(known.name, name)) return known.format;
  }
  return std::nullopt;
}

void set_number_format(MeasuredGeneration& generation, NumberFormat format) {
  const DeviceType& type = generation.gpu.type;
  generation.precision = sixteen_bits(type, has_sixteen_bits(format.stored) ? format.stored : Precision::bf16);
  if (has_sixteen_bits(format.stored)) return;
  Execution& execution = generation.execution;
  // Four-bit checkpoints of models with experts have them, and little else, in four bits.
  const bool experts_only = format.stored == Precision::fp4 && generation.model.experts.has_value();
  (experts_only ? execution.expert_weight_precision : execution.weight_precision) = format.stored;
  if (format.is_for_arithmetic && type.flop_per_s.contains(format.stored)) {
    (experts_only ? execution.expert_precision : execution.precision) = format.stored;
  } else {
    generation.notes["arithmetic"] =
        "16 bits: " + std::string(name_of(format.stored)) + " is for the weights only";
  }
}

void set_serving(MeasuredGeneration& generation, int prefill_tokens, double memory_fraction) {
  Execution& execution = generation.execution;
  execution.continuous_batching = true;
  execution.fused_attention = true;
  execution.cuda_graphs = true;
  execution.prefill_chunk_tokens = prefill_tokens;
  execution.kv_cache_bytes =
      memory_fraction * generation.gpu.type.memory_bytes.value - weight_bytes_per_device(generation);
}

void leave_unstated(MeasuredGeneration& generation, UnstatedQuantity setting, const std::string& group) {
  // Engines take 0.8 to 0.95 of the memory by default: vLLM and TensorRT-LLM 0.9, SGLang 0.8 to 0.9.
  constexpr double kMemoryDeviation = 0.05;
  // Both other settings come in powers of two, and defaults lie one of them to either side: chunks of 2048 to
  // 16384 tokens, 256 to 1024 sequences (vLLM), 2048 (TensorRT-LLM) and what a script computes from the memory.
  constexpr double kPowerOfTwo = 0.7;
  const bool is_memory = setting == UnstatedQuantity::memory_share;
  generation.unstated.push_back({setting, group, is_memory ? kMemoryDeviation : kPowerOfTwo});
}

void add_measured_generation(Imported& imported, const MeasuredGeneration& generation) {
  if (const std::string reason = contradiction(generation); !reason.empty()) {
    imported.left_out.push_back({generation.name, reason});
    return;
  }
  Degrees degrees = generation.degrees;
  degrees.data_parallel = busy_replicas(generation);
  const Cluster cluster = uniform_cluster(
      generation.gpu, degrees.data_parallel * degrees.pipeline_parallel * degrees.tensor_parallel);
  const Workflow workflow = workflow_of(generation);
  const Plan plan = plan_of(generation, degrees);
  if (const std::string reason = why_refused(plan, workflow, cluster); !reason.empty()) {
    imported.left_out.push_back({generation.name, reason});
    return;
  }
  add_run(imported.runs, run_of(generation), cluster, workflow, plan);
}

}  // namespace sextant
