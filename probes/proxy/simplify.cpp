#include "probes/proxy/simplify.h"

#include <algorithm>

#include "core/json_value.h"

namespace sextant::proxy {
namespace {

Execution options_that_stay(const Execution& execution, TaskKind kind, const EngineLimits& limits) {
  Execution stay;
  stay.context_parallel = execution.context_parallel;
  stay.expert_parallel = execution.expert_parallel;
  stay.expert_tensor_parallel = execution.expert_tensor_parallel;
  stay.lora_rank = execution.lora_rank;
  stay.packed = execution.packed;
  stay.cuda_graphs = execution.cuda_graphs && limits.cuda_graphs && kind == TaskKind::generation;
  return stay;
}

double mean_tokens(const Workflow& workflow, TaskKind kind) {
  const double prompt = workflow.prompt_tokens.mean_tokens();
  return kind == TaskKind::generation ? prompt : prompt + workflow.response_tokens.mean_tokens();
}

// The number of sequences with as many tokens as the plan's own micro-batches.
int micro_batch_sequences(const TaskPlan& plan, const Workflow& workflow, TaskKind kind) {
  const std::vector<int> shares = replica_sequences(plan, workflow.sequences());
  int share = *std::max_element(shares.begin(), shares.end());
  if (kind == TaskKind::training) share = (share + workflow.mini_batches - 1) / workflow.mini_batches;
  const Execution& execution = plan.execution;
  int sequences = plan.micro_batch_sequences;
  if (execution.micro_batches > 0) {
    sequences = (share + execution.micro_batches - 1) / execution.micro_batches;
  } else if (const int tokens = std::max(execution.micro_batch_tokens, execution.prefill_chunk_tokens);
             tokens > 0) {
    sequences = static_cast<int>(tokens / std::max(1.0, mean_tokens(workflow, kind)));
  }
  return std::clamp(sequences, 1, std::max(1, share));
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// The names of what was left out.
std::vector<std::string> simplify_task(TaskPlan& plan, const Workflow& workflow, TaskKind kind,
                                       const EngineLimits& limits) {
  std::vector<std::string> names;
  const Execution stay = options_that_stay(plan.execution, kind, limits);
  const Json before = plan.execution.to_json(), after = stay.to_json();
  for (const auto& [name, value] : before.items()) {
    if (!after.contains(name)) names.push_back(name);
  }
  plan.micro_batch_sequences = micro_batch_sequences(plan, workflow, kind);
  plan.execution = stay;
  if (plan.recompute == Recompute::selective) {
    plan.recompute = Recompute::full;
    names.emplace_back("selective recomputation (whole layers are recomputed)");
  }
  if (deals_by_length(plan)) {
    for (Replica& replica : plan.replicas) replica.length_rank = 0;
    names.emplace_back("length_rank");
  }
  return names;
}

}  // namespace

SimplifiedPlan simplify(const Plan& plan, const Workflow& workflow, const EngineLimits& limits) {
  SimplifiedPlan out{plan, {}};
  for (const Task& task : workflow.tasks) {
    const std::vector<std::string> names =
        simplify_task(out.plan.tasks.at(task.name), workflow, task.kind, limits);
    if (names.empty()) continue;
    out.left_out.push_back("task '" + task.name + "' of plan '" + plan.name + "' runs without " +
                           joined(names));
  }
  return out;
}

}  // namespace sextant::proxy
