#include "costmodel/memory.h"

#include <algorithm>
#include <map>

#include "costmodel/work.h"

namespace sextant {
namespace {

double state_bytes_per_parameter(TaskKind kind, Precision precision) {
  const double weight = bytes_per_element(precision);
  if (kind != TaskKind::training) return weight;
  const double moments = 8;
  const double master = precision == Precision::fp32 || precision == Precision::fp64 ? 0 : 4;
  return weight + weight + moments + master;
}

// Kept for the backward pass by one layer for one sequence.
double kept_elements(const Model& model, double tokens, double tensor_parallel, bool recompute) {
  if (recompute) return tokens * model.hidden;
  const double whole = 4.0 * model.hidden;  // inputs of both norms and of both blocks
  const double attention = (2.0 * model.heads + 2.0 * model.kv_heads) * model.head_dim + tokens * model.heads;
  const double mlp = 3.0 * model.intermediate;
  return tokens * (whole + (attention + mlp) / tensor_parallel);
}

double working_bytes(const TaskWork& work, std::size_t replica_index, std::size_t stage_index) {
  const Model& model = *work.model;
  const Replica& replica = work.plan->replicas[replica_index];
  const ReplicaWork& share = work.replicas[replica_index];
  const Stage& stage = replica.stages[stage_index];
  const double tp = stage.tensor_parallel(), tokens = work.sequence_tokens();
  const bool is_last = stage_index + 1 == replica.stages.size();
  const double logits = is_last ? (model.value_head ? 1.0 : model.vocabulary / tp) : 0.0;
  if (work.kind() == TaskKind::generation) {
    const double together = share.sequences / share.decode_waves;
    const double in_flight = std::min(share.decode_waves, static_cast<double>(replica.stages.size()));
    const double cache =
        in_flight * together * tokens * stage.layers * model.kv_cache_elements_per_token() / tp;
    return work.element_bytes * (cache + together * logits);
  }
  const double one_layer = kept_elements(model, tokens, tp, false);
  const double batch = share.micro_batch_sequences;
  if (work.kind() == TaskKind::inference) return work.element_bytes * batch * (one_layer + tokens * logits);
  const double stages_from_here = static_cast<double>(replica.stages.size() - stage_index);
  const double in_flight = std::min(stages_from_here, share.micro_batches / work.mini_batches);
  double kept = in_flight * stage.layers * kept_elements(model, tokens, tp, work.plan->recompute);
  if (work.plan->recompute) kept += one_layer;
  return work.element_bytes * batch * (kept + tokens * logits);
}

}  // namespace

std::vector<TaskMemory> task_memory(const Task& task, const TaskPlan& plan, const Workflow& workflow) {
  const TaskWork work = work_of(task, plan, workflow);
  const double state_bytes = state_bytes_per_parameter(task.kind, workflow.precision);
  std::vector<TaskMemory> memory;
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    for (std::size_t j = 0; j < plan.replicas[i].stages.size(); ++j) {
      const Stage& stage = plan.replicas[i].stages[j];
      const double resident =
          state_bytes *
          slice_parameters(*work.model, stage.layers, j == 0, j + 1 == plan.replicas[i].stages.size()) /
          stage.tensor_parallel();
      const double working = working_bytes(work, i, j);
      for (const DeviceId device : stage.devices) memory.push_back({device, resident, working});
    }
  }
  return memory;
}

std::vector<DeviceMemory> plan_memory(const Workflow& workflow, const Plan& plan, const Cluster& cluster) {
  std::map<DeviceId, DeviceMemory> by_device;
  for (const Task& task : workflow.tasks) {
    for (const TaskMemory& part : task_memory(task, plan.tasks.at(task.name), workflow)) {
      DeviceMemory& memory = by_device[part.device];
      memory.device = part.device;
      memory.capacity_bytes = cluster.type_of(part.device).memory_bytes.value;
      memory.resident_bytes += part.resident_bytes;
      memory.working_bytes = std::max(memory.working_bytes, part.working_bytes);
    }
  }
  std::vector<DeviceMemory> all;
  for (const auto& [device, memory] : by_device) all.push_back(memory);
  return all;
}

}  // namespace sextant
