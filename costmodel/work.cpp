#include "costmodel/work.h"

#include <algorithm>
#include <cmath>

namespace sextant {

double slice_parameters(const Model& model, int layers, bool is_first, bool is_last) {
  double count = layers * model.layer_parameters();
  if (is_first) count += model.embedding_parameters();
  const bool head_is_embedding = model.tied_embeddings && !model.value_head && is_first;
  if (is_last && !head_is_embedding) count += model.head_parameters();
  return count;
}

TaskWork work_of(const Task& task, const TaskPlan& plan, const Workflow& workflow) {
  TaskWork work;
  work.task = &task;
  work.plan = &plan;
  work.model = &workflow.model_of(task);
  work.prompt_tokens = workflow.prompt_tokens.max_tokens();
  work.response_tokens = workflow.response_tokens.max_tokens();
  work.mini_batches = task.kind == TaskKind::training ? workflow.mini_batches : 1;
  work.element_bytes = bytes_per_element(workflow.precision);
  for (const int sequences : replica_sequences(plan, workflow.sequences())) {
    ReplicaWork replica;
    replica.sequences = sequences;
    const double in_mini_batch = replica.sequences / work.mini_batches;
    replica.micro_batches = work.mini_batches * std::ceil(in_mini_batch / plan.micro_batch_sequences);
    replica.micro_batch_sequences = replica.sequences / replica.micro_batches;
    const double together = plan.decode_batch_sequences > 0
                                ? std::min<double>(plan.decode_batch_sequences, replica.sequences)
                                : replica.sequences;
    replica.decode_waves = replica.sequences / together;
    work.replicas.push_back(replica);
  }
  return work;
}

}  // namespace sextant
