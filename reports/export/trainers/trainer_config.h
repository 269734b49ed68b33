// The content of a trainer's configuration, in no framework's own words: pools of GPUs, and for each task of
// the workflow its pool, its parallel degrees and its options. Exporters write it, readers return it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/framework_profile.h"
#include "sextant/ids.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline reports {

// GPUs that one or more tasks use together. Every node of a pool has equally many of them.
struct GpuPool {
  std::string name;  // "trainer", "rollout", or the task's
  int nodes = 1;
  int gpus_per_node = 1;
  std::vector<DeviceId> devices;  // ascending; nodes * gpus_per_node

  [[nodiscard]] int gpus() const { return nodes * gpus_per_node; }
  friend bool operator==(const GpuPool&, const GpuPool&) = default;
};

struct TrainerTask {
  int pool = 0;  // position in TrainerConfig::pools
  int data_parallel = 1;
  int pipeline_parallel = 1;
  int tensor_parallel = 1;        // without the context-parallel part
  std::vector<int> stage_layers;  // by stage
  TaskPlan options;               // everything but the replicas

  friend bool operator==(const TrainerTask&, const TrainerTask&) = default;
};

struct TrainerConfig {
  std::string plan;  // its name
  std::vector<GpuPool> pools;
  std::map<std::string, TrainerTask> tasks;  // by task name

  [[nodiscard]] const GpuPool& pool_of(const std::string& task) const {
    return pools[static_cast<std::size_t>(tasks.at(task).pool)];
  }
  friend bool operator==(const TrainerConfig&, const TrainerConfig&) = default;
};

// The pools of a plan, one for each set of devices that a task has: that of actor_training first, then in the order
// of the workflow's tasks.
[[nodiscard]] std::vector<GpuPool> gpu_pools(const Plan& plan, const Workflow& workflow,
                                             const Cluster& cluster);

// The name that gpu_pools gives a pool of these tasks.
[[nodiscard]] std::string pool_name(const std::vector<std::string>& tasks, const Workflow& workflow);

// The number of layers of each stage if they are split evenly, the remainder to the first stages.
[[nodiscard]] std::vector<int> even_stages(int layers, int stages);
// The profile of tasks of this kind; that of no limits where there is none.
[[nodiscard]] const TaskProfile& task_profile(const FrameworkProfile& profile, TaskKind kind);
// The layers of the stages where a framework is told their number alone, as it deals them.
[[nodiscard]] std::vector<int> dealt_stages(int layers, int stages, StageRule rule);

// Replicas with equal shares on these devices, in their order (sextant/plan.h, rule of expansion).
[[nodiscard]] std::vector<Replica> replicas_on(const std::vector<DeviceId>& devices,
                                               const std::vector<int>& stage_layers, int width,
                                               bool has_stages_outermost);

// True if tasks of this kind number their ranks stage by stage in the framework.
[[nodiscard]] inline bool has_stages_outermost(const FrameworkProfile& profile, TaskKind kind) {
  return profile.has_stages_outermost && kind != TaskKind::generation;
}

// `plan`: one that nearest_plan returned.
[[nodiscard]] TrainerConfig trainer_config_of(const Plan& plan, const Workflow& workflow,
                                              const Cluster& cluster);

[[nodiscard]] Plan plan_of(const TrainerConfig& config, const Workflow& workflow,
                           const FrameworkProfile& profile);

// A task with the framework's default options: the profile's first execution, recomputation and batches.
[[nodiscard]] TaskPlan default_options(const FrameworkProfile& profile, TaskKind kind);

// The part of a GPU's memory that is assumed for an engine's workspace: activations and CUDA graphs. vLLM's
// gpu_memory_utilization holds it. SGLang's mem_fraction_static is weights and KV cache alone (docs.sglang.io: pool = memory
// times mem_fraction_static less weights), so it is smaller by this part for the same cache, whatever the part is.
inline constexpr double kEngineWorkspaceFraction = 0.03;

// The part of a GPU's memory that an engine takes for a KV cache of this size: with its weights and its workspace, as
// vLLM's gpu_memory_utilization counts; to three digits.
[[nodiscard]] double engine_memory_fraction(const TrainerTask& task, const Model& model, Precision precision,
                                            double device_bytes);
// The reverse.
[[nodiscard]] double kv_cache_bytes_of(double engine_fraction, const TrainerTask& task, const Model& model,
                                       Precision precision, double device_bytes);
// The memory of the smallest of these devices.
[[nodiscard]] double smallest_memory_bytes(const std::vector<DeviceId>& devices, const Cluster& cluster);

}  // namespace sextant::inline reports
