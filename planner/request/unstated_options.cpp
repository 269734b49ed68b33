// Defaults of a framework for options that a plan's document does not state.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/json_value.h"
#include "core/units.h"
#include "costmodel/problem/work.h"
#include "costmodel/terms/memory.h"
#include "sextant/profile_space.h"

namespace sextant {
namespace {

std::string assumed_for(const Task& task, const std::string& what, const FrameworkProfile& profile) {
  const std::string who = profile.name == "any" ? "most frameworks do" : profile.name + " does";
  return "Assumed for " + task.name + ", whose plan does not say: " + what + ", as " + who + ".";
}

// The options of an execution that are not at their neutral value, as in a document.
// ZeRO has no effect on a single replica.
std::string listed(const Execution& execution, int replicas) {
  std::string text;
  Json options = execution.to_json();
  if (replicas * execution.context_parallel == 1) options.erase("zero_stage");
  for (const auto& [option, value] : options.items()) {
    text += (text.empty() ? "" : ", ") + option;
    if (value.is_number_float()) {
      text += " " + (option == "kv_cache_bytes" ? format_bytes(value.get<double>())
                                                : format_number(value.get<double>()));
    } else if (!value.is_boolean()) {
      text += " " + (value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return text.empty() ? "no execution option" : text;
}

bool can_run(const Task& task, const Workflow& workflow, const TaskPlan& plan, const Execution& execution) {
  return std::all_of(plan.replicas.begin(), plan.replicas.end(), [&](const Replica& replica) {
    return std::all_of(replica.stages.begin(), replica.stages.end(), [&](const Stage& stage) {
      return can_execute(execution, task, workflow, plan.data_parallel(), replica.pipeline_parallel(),
                         stage.width());
    });
  });
}

double smallest_memory_bytes(const TaskPlan& plan, const Cluster& cluster) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const DeviceId device : plan.devices())
    smallest = std::min(smallest, cluster.device_types().at(cluster.type_name(device)).memory_bytes.value);
  return smallest;
}

// The engine's weights on the device that has most of them.
double engine_weight_bytes(const Task& task, const TaskPlan& plan, const Workflow& workflow,
                           const Cluster& cluster) {
  const TaskWork work = work_of(task, plan, workflow, cluster);
  double largest = 0;
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    for (int j = 0; j < plan.replicas[i].pipeline_parallel(); ++j) {
      const StageMemory memory = stage_memory(work, static_cast<int>(i), j);
      largest = std::max(largest, memory.state_bytes + memory.loaded_bytes);
    }
  }
  return largest;
}

// The KV cache that the engine's default leaves beside its weights, as vLLM's gpu_memory_utilization does.
void leave_room_for_weights(const Task& task, const FrameworkProfile& profile, const Workflow& workflow,
                            const Cluster& cluster, TaskPlan& plan, std::vector<std::string>& assumed) {
  const auto of_kind = profile.tasks.find(task.kind);
  const double share = of_kind == profile.tasks.end() ? 0 : of_kind->second.engine_memory_fraction;
  if (task.kind != TaskKind::generation || share == 0 || plan.execution.kv_cache_bytes == 0) return;
  constexpr double kWorkspace = 0.03, kMin_bytes = 1e9, kStep_bytes = 1e6;
  const double memory = smallest_memory_bytes(plan, cluster);
  const double weights = engine_weight_bytes(task, plan, workflow, cluster);
  const double cache = std::floor(((share - kWorkspace) * memory - weights) / kStep_bytes) * kStep_bytes;
  if (cache >= kMin_bytes) {
    plan.execution.kv_cache_bytes = cache;
    return;
  }
  assumed.push_back("With " + format_percent(share, 0) + " of a GPU's memory, as " + profile.name +
                    " has by default, the engine of " + task.name + " does not start: its weights take " +
                    format_bytes(weights) + " of " + format_bytes(memory) + ". A larger share is assumed.");
}

void execute_by_default(const Task& task, const TaskChoices& choices, const FrameworkProfile& profile,
                        const Workflow& workflow, const Cluster& cluster, TaskPlan& plan,
                        std::vector<std::string>& assumed) {
  Execution execution = choices.executions.front();
  if (!plan.unstated.micro_batch) execution.micro_batch_tokens = execution.micro_batches = 0;
  if (!can_run(task, workflow, plan, execution)) return;
  plan.execution = execution;
  leave_room_for_weights(task, profile, workflow, cluster, plan, assumed);
  std::string what = listed(plan.execution, plan.data_parallel());
  if (plan.unstated.recompute && !choices.recompute.empty()) {
    plan.recompute = choices.recompute.front();
    if (plan.recompute != Recompute::none) what += ", recompute " + std::string(name_of(plan.recompute));
  }
  if (plan.unstated.decode_batch && !choices.decode_batch_sequences.empty()) {
    plan.decode_batch_sequences = choices.decode_batch_sequences.front();
    if (plan.decode_batch_sequences > 0)
      what += ", decode_batch_sequences " + std::to_string(plan.decode_batch_sequences);
  }
  const bool is_stated_by_profile =
      !choices.micro_batch_sequences.empty() && choices.micro_batch_sequences.front() > 1;
  if (plan.unstated.micro_batch && is_stated_by_profile &&
      counts_micro_batches_in_sequences(task.kind, execution)) {
    const int steps = task.kind == TaskKind::training ? workflow.mini_batches : 1;
    const int share = std::max(1, workflow.sequences() / (plan.data_parallel() * steps));
    plan.micro_batch_sequences = std::min(choices.micro_batch_sequences.front(), share);
    plan.unstated.micro_batch = false;
    what += ", micro_batch_sequences " + std::to_string(plan.micro_batch_sequences);
  }
  plan.unstated.execution = plan.unstated.recompute = plan.unstated.decode_batch = false;
  assumed.push_back(assumed_for(task, what, profile));
}

void order_ranks(const Task& task, const FrameworkProfile& profile, const Workflow& workflow, TaskPlan& plan,
                 std::vector<std::string>& assumed) {
  if (!plan.unstated.outermost || !profile.has_stages_outermost || task.kind == TaskKind::generation) return;
  std::optional<UniformLayout> layout = uniform_layout(plan.replicas);
  if (!layout) return;
  layout->has_stages_outermost = true;
  plan.replicas = expand_layout(*layout, workflow.model_of(task).layers);
  plan.unstated.outermost = false;
  assumed.push_back(assumed_for(
      task, "the ranks of all replicas of a stage follow one another (\"outermost\": \"stages\")", profile));
}

void pad(const Task& task, const TaskProfile& of_kind, const FrameworkProfile& profile, TaskPlan& plan,
         std::vector<std::string>& assumed) {
  const std::optional<Padding> padding = of_kind.executions.front().padding;
  Execution& execution = plan.execution;
  if (task.kind == TaskKind::generation || !padding || execution.packed || execution.padding) return;
  execution.padding = padding;
  if (!execution.pads_to_longest()) return;
  const char* longest =
      *padding == Padding::batch ? "longest of the replica's batch" : "longest of a micro-batch";
  assumed.push_back(
      assumed_for(task, "sequences are padded to the " + std::string(longest) + " (padding)", profile));
}

}  // namespace

std::vector<std::string> fill_in_from_profile(Plan& plan, const FrameworkProfile& profile,
                                              const Workflow& workflow, const Cluster& cluster) {
  std::vector<std::string> assumed;
  const bool is_offered = why_not_offered(profile, workflow).empty();
  const ProfiledSpace space =
      space_of(profile, workflow, cluster, is_offered ? LayoutRules::as_framework : LayoutRules::any);
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& task = workflow.tasks[t];
    const auto found = plan.tasks.find(task.name);
    if (found == plan.tasks.end()) continue;
    TaskPlan& of_task = found->second;
    order_ranks(task, profile, workflow, of_task, assumed);
    if (of_task.unstated.execution)
      execute_by_default(task, space.choices[t], profile, workflow, cluster, of_task, assumed);
    if (const auto of_kind = profile.tasks.find(task.kind); of_kind != profile.tasks.end())
      pad(task, of_kind->second, profile, of_task, assumed);
  }
  return assumed;
}

}  // namespace sextant
