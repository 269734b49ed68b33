// The defaults of sextant/plan.h for plans whose document does not say how a task is cut into
// micro-batches.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/plan.h"

namespace sextant {
namespace {

// Tokens of prompts that an engine passes through the layers at once: max_num_batched_tokens of vLLM (V1) and
// chunked_prefill_size of SGLang, for GPUs of 80 GB.
constexpr int kEngineChunkTokens = 8192;
// Tokens of a micro-batch: ppo_max_token_len_per_gpu of verl.
constexpr int kMicroBatchTokens = 16384;

// A micro-batch holds the longest sequence at least.
int budget_for(const Workflow& workflow) {
  const double observed = (workflow.turns - 1) * workflow.observation_tokens_per_turn;
  const double longest =
      std::ceil(observed + workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens());
  constexpr double kMaximum = std::numeric_limits<int>::max();
  return std::max(kMicroBatchTokens, static_cast<int>(std::min(longest, kMaximum)));
}

// The assumption in words; empty if the options of the task are sufficient.
std::string fill_in(const Task& task, const Workflow& workflow, TaskPlan& plan) {
  Execution& execution = plan.execution;
  if (execution.micro_batch_tokens > 0 || execution.micro_batches > 0) return "";
  const bool generates = task.kind == TaskKind::generation;
  if (generates && execution.prefill_chunk_tokens > 0) return "";
  if (generates && execution.continuous_batching) {
    execution.prefill_chunk_tokens = kEngineChunkTokens;
    return "prompts pass in chunks of " + std::to_string(kEngineChunkTokens) +
           " tokens (prefill_chunk_tokens), as engines have them by default";
  }
  if (generates || !execution.packed) return "micro-batches of one sequence (micro_batch_sequences)";
  execution.micro_batch_tokens = budget_for(workflow);
  return "micro-batches of at most " + std::to_string(execution.micro_batch_tokens) +
         " tokens (micro_batch_tokens), " +
         (execution.micro_batch_tokens > kMicroBatchTokens ? "which hold the longest sequence"
                                                           : "the default of verl");
}

}  // namespace

std::vector<std::string> fill_in_unstated(Plan& plan, const Workflow& workflow) {
  std::vector<std::string> assumed;
  for (const Task& task : workflow.tasks) {
    const auto found = plan.tasks.find(task.name);
    if (found == plan.tasks.end()) continue;
    const bool is_micro_batch_stated = !found->second.unstated.micro_batch;
    found->second.unstated = {};
    if (is_micro_batch_stated) continue;
    const std::string words = fill_in(task, workflow, found->second);
    if (!words.empty())
      assumed.push_back("Assumed for " + task.name + ", whose plan does not say: " + words + ".");
  }
  return assumed;
}

bool states_all(const Plan& plan) {
  return std::all_of(plan.tasks.begin(), plan.tasks.end(),
                     [](const auto& named) { return !named.second.unstated.micro_batch; });
}

void take_as_stated(Plan& plan) {
  for (auto& [name, task] : plan.tasks) task.unstated = {};
}

}  // namespace sextant
