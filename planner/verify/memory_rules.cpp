#include "planner/verify/memory_rules.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/units.h"
#include "planner/verify/batch.h"
#include "planner/verify/tasklet_memory.h"

namespace sextant::inline planner {
namespace {

// The devices of each tasklet in order, and the degrees that say which weights a device of it holds.
bool has_one_layout(const PlannedTask& one, const PlannedTask& other) {
  const Execution &a = one.execution(), &b = other.execution();
  if (a.context_parallel != b.context_parallel || a.expert_parallel != b.expert_parallel ||
      a.expert_tensor_parallel != b.expert_tensor_parallel || a.sharded_over != b.sharded_over ||
      (a.zero_stage == 3) != (b.zero_stage == 3) || one.plan.replicas.size() != other.plan.replicas.size())
    return false;
  for (std::size_t i = 0; i < one.plan.replicas.size(); ++i) {
    if (one.plan.replicas[i].stages != other.plan.replicas[i].stages) return false;
  }
  return true;
}

// The training task with whose weights a pass computes; null for any other task.
const PlannedTask* owner_of_weights(const PlannedTask& task, std::span<const PlannedTask> all) {
  if (task.is_training() || task.is_generation()) return nullptr;
  const bool is_reference = task.name() == task_names::kReferenceInference;
  const auto owner = std::find_if(all.begin(), all.end(), [&](const PlannedTask& other) {
    const bool changes = other.execution().lora_rank == 0;  // so that the reference needs weights of its own
    return other.is_training() && other.task.model == task.task.model && !(is_reference && changes) &&
           has_one_layout(other, task);
  });
  return owner == all.end() ? nullptr : &*owner;
}

struct Tasklet {
  const PlannedTask& task;
  const PlannedTask* owner;  // of the weights
  TaskletMemory memory;
};

// Calls f(tasklet, device) for every device of every tasklet.
template <typename F>
void for_each_tasklet(std::span<const PlannedTask> tasks, F f) {
  for (const PlannedTask& task : tasks) {
    const PlannedTask* owner = owner_of_weights(task, tasks);
    const std::vector<int>& sequences = task.batch.sequences;
    for (std::size_t i = 0; i < task.plan.replicas.size(); ++i) {
      const std::vector<Stage>& stages = task.plan.replicas[i].stages;
      for (std::size_t j = 0; j < stages.size(); ++j) {
        const Tasklet tasklet{task, owner, tasklet_memory(task, i, j, sequences[i])};
        for (const DeviceId device : stages[j].devices) f(tasklet, device);
      }
    }
  }
}

// "needs 9.00 GiB (states ...), 8.00 GiB are there"; whole bytes too, since what is short may be few of them.
std::string in_words(double needed_bytes, double capacity_bytes) {
  return format_bytes(needed_bytes) + " and there are " + format_bytes(capacity_bytes) + ", " +
         format_bytes(needed_bytes - capacity_bytes) + " too few";
}

}  // namespace

std::vector<DeviceMemory> used_devices(std::span<const PlannedTask> tasks, const Coefficients& coefficients,
                                       std::string_view framework) {
  using enum CoefficientId;
  std::map<DeviceId, DeviceMemory> used;
  for_each_tasklet(tasks, [&](const Tasklet& of, DeviceId device) {
    const TaskletMemory& tasklet = of.memory;
    const Cluster& cluster = tasks.front().cluster;
    const auto value = [&](CoefficientId id) {
      return coefficients.value(id, cluster.type_name(device), framework);
    };
    DeviceMemory first{device, cluster.type_of(device).memory_bytes.value, value(memory_context_bytes), 0};
    DeviceMemory& memory = used.emplace(device, first).first->second;
    const bool finds_weights = of.owner != nullptr && !of.owner->execution().offload_weights;
    const double states = finds_weights ? 0 : value(memory_state_weight);
    memory.resident_bytes += states * tasklet.resident_bytes + tasklet.lasting_cache_bytes;
    const double of_loss = value(memory_logit_weight) * tasklet.logit_bytes +
                           value(memory_state_weight) * tasklet.whole_head_bytes;
    const double of_layer = value(memory_activation_weight) * tasklet.layer_bytes +
                            value(memory_state_weight) * tasklet.whole_unit_bytes;
    const double working = states * tasklet.loaded_bytes + tasklet.woken_cache_bytes +
                           value(memory_activation_weight) * tasklet.activation_bytes +
                           std::max(of_loss, of_layer);
    memory.working_bytes = std::max(memory.working_bytes, working);
  });
  std::vector<DeviceMemory> all;
  all.reserve(used.size());
  for (const auto& [device, memory] : used) all.push_back(memory);
  return all;
}

std::vector<HostMemory> used_hosts(std::span<const PlannedTask> tasks) {
  constexpr double kPinnedBlocks = 1.1;  // as costmodel/terms/memory.h explains it
  std::set<DeviceId> shared_by_turns;
  for (const PlannedTask& task : tasks) {
    if (task.execution().offload_weights) shared_by_turns.merge(task.plan.devices());
  }
  std::map<NodeId, double> bytes_of;
  for_each_tasklet(tasks, [&](const Tasklet& of, DeviceId device) {
    double bytes = of.owner != nullptr ? 0 : of.memory.host_bytes;
    // An engine that takes turns leaves a copy of its weights while it sleeps.
    if (of.task.is_generation() && shared_by_turns.count(device) > 0) bytes += of.memory.resident_bytes;
    if (bytes > 0) bytes_of[tasks.front().cluster.node_of(device)] += kPinnedBlocks * bytes;
  });
  std::vector<HostMemory> all;
  for (const auto& [id, bytes] : bytes_of) {
    const Node& node = tasks.front().cluster.nodes()[id.index()];
    all.push_back({node.name, node.host_memory_bytes, bytes});
  }
  return all;
}

std::vector<Violation> device_violations(std::span<const DeviceMemory> devices, const Cluster& cluster) {
  std::vector<Violation> found;
  for (const DeviceMemory& memory : devices) {
    const double needed = memory.resident_bytes + memory.working_bytes;
    if (needed <= memory.capacity_bytes) continue;
    found.push_back(
        {"device " + std::to_string(memory.device.value) + " (" + cluster.device_name(memory.device) + ")",
         rules::kDeviceMemory,
         "states and reserved KV caches take " + format_bytes(memory.resident_bytes) +
             " and the largest working set " + format_bytes(memory.working_bytes) + ", together " +
             in_words(needed, memory.capacity_bytes)});
  }
  return found;
}

std::vector<Violation> host_violations(std::span<const HostMemory> hosts) {
  std::vector<Violation> found;
  for (const HostMemory& host : hosts) {
    if (!host.capacity_bytes || host.needed_bytes <= *host.capacity_bytes) continue;
    found.push_back({"node " + host.node, rules::kHostMemory,
                     "offloaded states take " + in_words(host.needed_bytes, *host.capacity_bytes)});
  }
  return found;
}

}  // namespace sextant::inline planner
