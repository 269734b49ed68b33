#include "sextant/task_choices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "documents/padded_lengths.h"
#include "documents/semantics.h"

namespace sextant {
namespace {

// Tokens of one sequence while it decodes: the longest where batches are padded, the mean where each ends by
// itself.
double decoding_tokens(const Workflow& workflow, const Execution& execution) {
  const bool is_padded = !execution.packed && !execution.continuous_batching;
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  if (is_padded) return workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens() + observed;
  return workflow.prompt_tokens.mean_tokens() + workflow.response_tokens.mean_tokens() + observed;
}

// KV cache of one sequence on one device of a stage.
double cache_bytes_of_sequence(const Task& task, const Workflow& workflow, const Execution& execution,
                               int pipeline_parallel, int width) {
  const Model& model = workflow.model_of(task);
  const int layers = (model.layers + pipeline_parallel - 1) / pipeline_parallel;
  const int tensor_parallel = width / execution.context_parallel;
  const int heads = model.latent_attention ? 1 : std::min(tensor_parallel, model.kv_heads);
  const double bytes = bytes_per_element(execution.cache_precision.value_or(workflow.precision));
  return decoding_tokens(workflow, execution) * layers * model.kv_cache_elements_per_token() * bytes /
             (heads * execution.context_parallel) +
         layers * model.sequence_state_bytes() / tensor_parallel;
}

bool holds_experts(const Execution& execution, const Model& model, int data_parallel, int width) {
  if (execution.expert_parallel <= 1 && execution.expert_tensor_parallel == 0) return true;
  if (!model.experts) return execution.expert_parallel <= 1;
  if (model.experts->count % execution.expert_parallel != 0) return false;
  const int inside = execution.expert_tensor_parallel > 0 ? execution.expert_tensor_parallel
                                                          : width / execution.context_parallel;
  return data_parallel * width % (execution.expert_parallel * inside) == 0;
}

// An engine distributes its experts over all its devices, which are those of one replica or of several.
bool is_whole_engine(const Execution& execution, TaskKind kind, int width) {
  if (kind != TaskKind::generation || execution.expert_parallel <= 1 || execution.expert_tensor_parallel == 0)
    return true;
  return execution.expert_parallel * execution.expert_tensor_parallel % (width / execution.context_parallel) ==
         0;
}

// Tokens of the longest sequence as a micro-batch's budget counts them: frameworks refuse a smaller budget, and the
// activations of that sequence must fit.
double budgeted_tokens(const Task& task, const Workflow& workflow, const Execution& execution) {
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const Lengths &prompt = workflow.prompt_tokens, &response = workflow.response_tokens;
  if (task.kind != TaskKind::generation && execution.pads_to_longest()) return longest_of_iteration(workflow);
  return observed + prompt.max_tokens() + response.max_tokens();
}

bool holds_a_sequence(const Execution& execution, const Task& task, const Workflow& workflow) {
  if (execution.micro_batch_tokens <= 0 || execution.micro_batches > 0) return true;
  const bool is_whole = semantics_of(execution.semantics).budgets_whole_sequences;
  const double budget = 1.0 * execution.micro_batch_tokens * (is_whole ? 1 : execution.context_parallel);
  return budget >= budgeted_tokens(task, workflow, execution);
}

}  // namespace

std::vector<int> smaller_token_budgets(const Execution& execution, const Workflow& workflow) {
  constexpr double kStep = 512;
  const int contexts =
      semantics_of(execution.semantics).budgets_whole_sequences ? 1 : execution.context_parallel;
  const double longest = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens() +
                         (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const double minimum = std::ceil(longest / contexts / kStep) * kStep;
  std::vector<int> budgets;
  int budget = execution.micro_batch_tokens;
  while (budget / 2 > minimum) budgets.push_back(budget /= 2);
  if (budget > minimum && minimum > 0) budgets.push_back(static_cast<int>(minimum));
  return budgets;
}

TaskChoices one_choice(const Execution& execution) {
  TaskChoices choices;
  choices.executions = {execution};
  return choices;
}

std::vector<TaskChoices> choices_of(const std::vector<Execution>& executions) {
  std::vector<TaskChoices> all;
  for (const Execution& execution : executions) all.push_back(one_choice(execution));
  return all;
}

const TaskChoices& choices_for(const std::vector<TaskChoices>& choices, std::size_t task) {
  static const TaskChoices kDefault;
  return task < choices.size() ? choices[task] : kDefault;
}

std::vector<Recompute> recompute_choices(TaskKind kind, const TaskChoices& choices, bool try_recompute) {
  if (kind != TaskKind::training) return {Recompute::none};
  if (!choices.recompute.empty()) return choices.recompute;
  if (try_recompute) return {Recompute::none, Recompute::full};
  return {Recompute::none};
}

bool counts_micro_batches_in_sequences(TaskKind kind, const Execution& execution) {
  if (execution.micro_batches > 0) return false;
  if (kind != TaskKind::generation) return execution.micro_batch_tokens == 0;
  return execution.prefill_chunk_tokens == 0;
}

// Trainers that shard weights split long sequences by Ulysses (Jacobs et al. 2023): a device gets the attention heads
// of the whole sequence, so the parts divide the heads, and the key-value heads too or are copied evenly.
bool can_exchange_heads(const Execution& execution, const Model& model, int tensor_parallel) {
  const int parts = execution.context_parallel;
  if (execution.zero_stage < 3 || parts == 1) return true;
  const int heads = model.heads / tensor_parallel, keys = std::max(1, model.kv_heads / tensor_parallel);
  return heads % parts == 0 && (keys % parts == 0 || parts % keys == 0);
}

bool can_execute(const Execution& execution, const Task& task, const Workflow& workflow, int data_parallel,
                 int pipeline_parallel, int width) {
  const Model& model = workflow.model_of(task);
  if (width % execution.context_parallel != 0) return false;
  if (!can_exchange_heads(execution, model, width / execution.context_parallel)) return false;
  if (execution.virtual_stages > model.layers / pipeline_parallel) return false;
  if (execution.virtual_stages > 1 && pipeline_parallel == 1) return false;
  if (execution.sharded_over > 0) {
    const int holders = data_parallel * execution.context_parallel;
    // One group of all is no grouping.
    if (execution.zero_stage == 0 || execution.sharded_over >= holders || holders % execution.sharded_over != 0)
      return false;
  }
  if (execution.micro_batches > 0) {
    const int steps = task.kind == TaskKind::training ? workflow.mini_batches : 1;
    const int share = workflow.sequences() / data_parallel;
    if (execution.micro_batches > (share + steps - 1) / steps) return false;
  }
  return holds_experts(execution, model, data_parallel, width) &&
         is_whole_engine(execution, task.kind, width) && holds_a_sequence(execution, task, workflow);
}

std::vector<std::vector<int>> stage_layers(int layers, int stages, int virtual_stages, StageRule rule) {
  std::vector<std::vector<int>> all;
  const auto add = [&](int first, int middle, int last) {
    std::vector<int> split(static_cast<std::size_t>(stages), middle);
    split.front() = first;
    split.back() = last;
    const bool is_whole = std::all_of(split.begin(), split.end(), [&](int of_stage) {
      return of_stage >= 1 && of_stage % virtual_stages == 0;
    });
    if (is_whole && std::find(all.begin(), all.end(), split) == all.end()) all.push_back(std::move(split));
  };
  const int fewest = layers / stages, most = (layers + stages - 1) / stages;
  if (rule == StageRule::any) {
    std::vector<int> split(static_cast<std::size_t>(stages), fewest);
    std::fill_n(split.begin(), layers % stages, most);
    return {split};
  }
  if (fewest == most) {
    add(most, most, most);
    return all;
  }
  if (rule == StageRule::even) return all;
  if (rule == StageRule::differ_by_one) {
    if (virtual_stages > 1 || fewest < 1) return all;
    std::vector<int> split(static_cast<std::size_t>(stages), fewest);
    std::fill_n(split.rbegin() + 1, layers % stages, most);
    return {split};
  }
  const int ends = layers - (stages - 2) * most;
  if (ends > 1) {
    add((ends + 1) / 2, most, ends / 2);
    if (ends > most) add(most, most, ends - most);
  }
  if (!all.empty()) return all;
  const int wide_ends = layers - (stages - 2) * fewest, larger = (wide_ends + 1) / 2;
  if (larger > most + 1) return all;
  add(larger, fewest, wide_ends - larger);
  add(wide_ends - larger, fewest, larger);
  return all;
}

bool allows(StageRule rule, const std::vector<int>& layers) {
  if (rule == StageRule::any || layers.size() < 2) return true;
  if (rule == StageRule::differ_by_one) {
    const auto [least, most] = std::minmax_element(layers.begin(), layers.end());
    return *most - *least <= 1;
  }
  const bool has_ends = rule == StageRule::even_but_ends;
  const auto first = layers.begin() + (has_ends ? 1 : 0), last = layers.end() - (has_ends ? 1 : 0);
  return std::all_of(first, last, [&](int of_stage) { return of_stage == *first; });
}

bool can_deal(const Execution& execution, const std::vector<int>& layers, bool is_by_length) {
  if (is_by_length && execution.micro_batch_tokens > 0) return false;
  return *std::min_element(layers.begin(), layers.end()) >= execution.virtual_stages;
}

bool can_execute(const Execution& execution, const Task& task, const Workflow& workflow,
                 const Cluster& cluster) {
  if (execution.sharded_over >= cluster.device_count()) return false;
  const Model& model = workflow.model_of(task);
  std::vector<Precision> precisions{execution.precision.value_or(workflow.precision)};
  if (execution.expert_precision && model.experts) precisions.push_back(*execution.expert_precision);
  if (execution.attention_precision) precisions.push_back(*execution.attention_precision);
  const bool offloads =
      execution.offload_weights || execution.offload_optimizer || execution.offload_activations;
  return std::all_of(cluster.nodes().begin(), cluster.nodes().end(), [&](const Node& node) {
    const DeviceType& type = cluster.device_types().at(node.device_type);
    if (offloads && !type.host_bytes_per_s) return false;
    return std::all_of(precisions.begin(), precisions.end(),
                       [&](Precision precision) { return type.flop_per_s.contains(precision); });
  });
}

MemoryRange memory_range_of(const Cluster& cluster) {
  MemoryRange range{std::numeric_limits<double>::infinity(), 0};
  for (const Node& node : cluster.nodes()) {
    const double bytes = cluster.device_types().at(node.device_type).memory_bytes.value;
    range.min_bytes = std::min(range.min_bytes, bytes);
    range.max_bytes = std::max(range.max_bytes, bytes);
  }
  return range;
}

std::vector<int> decode_batches(const Task& task, const Workflow& workflow, const Execution& execution,
                                int sequences, int pipeline_parallel, int width, const MemoryRange& memory) {
  if (task.kind != TaskKind::generation || memory.max_bytes <= 0 || execution.kv_cache_bytes > 0 ||
      execution.micro_batches > 0)
    return {0};
  constexpr double kOfNoUse = 1.0 / 16;  // of the smallest device's memory
  const double each = cache_bytes_of_sequence(task, workflow, execution, pipeline_parallel, width);
  const double negligible = kOfNoUse * memory.min_bytes;
  std::vector<int> batches;
  if (sequences * each <= memory.max_bytes) batches.push_back(0);
  if (sequences * each <= negligible) return batches;
  int size = 1;
  while (2 * size < sequences) size *= 2;
  for (; size >= 1; size /= 2) {
    // Stages of a pipeline work on batches of their own at the same time.
    const double waves = std::min<double>(pipeline_parallel, (sequences + size - 1) / size);
    const double bytes = waves * size * each;
    if (bytes > memory.max_bytes && size > 1) continue;
    batches.push_back(size);
    if (bytes <= negligible) break;
  }
  return batches;
}

}  // namespace sextant
