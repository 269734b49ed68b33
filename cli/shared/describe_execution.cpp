#include "cli/shared/describe_execution.h"

#include <algorithm>

#include "core/units.h"

namespace sextant::cli {
namespace {

class Phrases {
 public:
  void add(const std::string& phrase) { text_ += (text_.empty() ? "" : ", ") + phrase; }
  void add_if(bool is_so, const std::string& phrase) {
    if (is_so) add(phrase);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Sequence parallelism is among the devices of a tensor-parallel group.
bool has_tensor_parallel(const TaskPlan& task) {
  return std::any_of(task.replicas.begin(), task.replicas.end(), [&](const Replica& replica) {
    return std::any_of(replica.stages.begin(), replica.stages.end(),
                       [&](const Stage& stage) { return task.tensor_parallel(stage) > 1; });
  });
}

void add_parallelism(const TaskPlan& task, Phrases& phrases) {
  const Execution& execution = task.execution;
  phrases.add_if(execution.context_parallel > 1, "cp" + std::to_string(execution.context_parallel));
  phrases.add_if(execution.expert_parallel > 1, "ep" + std::to_string(execution.expert_parallel));
  phrases.add_if(execution.virtual_stages > 1, std::to_string(execution.virtual_stages) + " virtual stages");
  const bool shards = execution.zero_stage > 0 && task.data_parallel() * execution.context_parallel > 1;
  phrases.add_if(
      shards,
      "ZeRO " + std::to_string(execution.zero_stage) +
          (execution.sharded_over > 0 ? " over " + std::to_string(execution.sharded_over) + " devices" : ""));
  phrases.add_if(execution.sequence_parallel && has_tensor_parallel(task), "sequence parallel");
}

void add_batches(const TaskPlan& task, TaskKind kind, Phrases& phrases) {
  const Execution& execution = task.execution;
  if (kind == TaskKind::generation) {
    phrases.add(execution.continuous_batching ? "continuous batching"
                : execution.packed            ? "responses stop"
                                              : "padded batch");
    phrases.add_if(execution.kv_cache_bytes > 0, "KV cache " + format_bytes(execution.kv_cache_bytes));
    phrases.add_if(task.decode_batch_sequences > 0,
                   "at most " + std::to_string(task.decode_batch_sequences) + " sequences at once");
    return;
  }
  phrases.add_if(execution.pads_to_longest(), execution.padding == Padding::batch
                                                  ? "padded to the longest of the batch"
                                                  : "padded to the longest of a micro-batch");
  if (execution.micro_batch_tokens > 0) {
    phrases.add(std::to_string(execution.micro_batch_tokens) + " tokens a micro-batch");
  } else if (execution.micro_batches > 0) {
    phrases.add(std::to_string(execution.micro_batches) + " micro-batches");
  } else {
    phrases.add("micro-batches of " + std::to_string(task.micro_batch_sequences));
  }
}

void add_memory(const TaskPlan& task, Phrases& phrases) {
  const Execution& execution = task.execution;
  phrases.add_if(task.recompute == Recompute::full, "full recomputation");
  phrases.add_if(task.recompute == Recompute::selective, "selective recomputation");
  phrases.add_if(execution.offload_optimizer, "optimizer on the host");
  phrases.add_if(execution.offload_activations, "activations on the host");
  phrases.add_if(execution.offload_weights, "states on the host while other tasks run");
  phrases.add_if(execution.lora_rank > 0, "LoRA of rank " + std::to_string(execution.lora_rank));
}

}  // namespace

std::string describe_execution(const TaskPlan& task, TaskKind kind) {
  Phrases phrases;
  add_parallelism(task, phrases);
  add_batches(task, kind, phrases);
  add_memory(task, phrases);
  return phrases.text();
}

}  // namespace sextant::cli
