#include "ask/check/causes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/units.h"
#include "planner/explain/change.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

class Changes {
 public:
  explicit Changes(const Circumstances& run) : run_(run) {}

  // The changes from here on differ in their size alone; "": each is a kind of its own.
  void begin_kind(const std::string& kind) { kind_ = kind; }
  // Changes the cluster in several ways at once.
  void cluster(const std::string& name, const std::vector<ClusterChange>& all) {
    try {
      Cluster with = run_.cluster;
      for (const ClusterChange& change : all) with = changed(with, change);
      add(name, {std::move(with), run_.workflow, run_.plan});
    } catch (const Error&) {  // such a cluster cannot be
    }
  }
  void workflow(const std::string& name, const std::function<void(Workflow&)>& change) {
    Circumstances with = run_;
    change(with.workflow);
    add(name, std::move(with));
  }
  // Changes the tasks of a kind.
  void tasks(const std::string& name, TaskKind kind, const std::function<void(TaskPlan&)>& change) {
    Circumstances with = run_;
    for (const Task& task : with.workflow.tasks) {
      if (task.kind == kind) change(with.plan.tasks.at(task.name));
    }
    add(name, std::move(with));
  }
  void scoring(const std::string& name, const std::function<void(TaskPlan&)>& change) {
    Circumstances with = run_;
    for (const Task& task : with.workflow.tasks) {
      if (task.kind != TaskKind::generation) change(with.plan.tasks.at(task.name));
    }
    add(name, std::move(with));
  }

  [[nodiscard]] std::vector<Change> take() { return std::move(changes_); }

 private:
  // Leaves out changes that change nothing and those that cannot run.
  void add(const std::string& name, Circumstances with) {
    if (with.cluster == run_.cluster && with.workflow == run_.workflow && with.plan == run_.plan) return;
    try {
      check_plan(with.plan, with.workflow, with.cluster);
    } catch (const Error&) {
      return;
    }
    changes_.push_back({name, kind_.empty() ? name : kind_, std::move(with)});
  }

  const Circumstances& run_;
  std::string kind_;
  std::vector<Change> changes_;
};

std::string name_of_level(LinkLevel level) {
  switch (level) {
    case LinkLevel::within_node:
      return "the links inside nodes";
    case LinkLevel::within_zone:
      return "the network between nodes";
    case LinkLevel::within_region:
      return "the network between zones";
    case LinkLevel::between_regions:
      return "the connection of regions";
  }
  return "";
}

// The sizes of a fault are tried one by one, and are one kind.
void add_slow_machines(const Circumstances& run, Changes& changes) {
  for (const auto& [level, rate] : run.cluster.levels()) {
    const std::string links = name_of_level(level);
    changes.begin_kind(links);
    for (const auto& [factor, part] :
         {std::pair(0.5, "half"), std::pair(0.2, "a fifth"), std::pair(0.1, "a tenth")}) {
      changes.cluster(links + " at " + part + " of the stated rate",
                      {ChangeLinks{level, ChangeLinks::What::bytes_per_s, true, factor}});
    }
  }
  constexpr std::array kFactors{0.8, 0.65, 0.5, 0.4, 0.25};
  for (const auto& [type, device] : run.cluster.device_types()) {
    const auto scaled_by = [&](const char* rate, double factor) -> ClusterChange {
      return ScaleDevices{type, rate, factor};
    };
    const auto slower = [&](const std::string& what, std::initializer_list<const char*> rates,
                            const char* remark) {
      changes.begin_kind(what + " of " + type);
      for (const double factor : kFactors) {
        std::vector<ClusterChange> all;
        for (const char* rate : rates) all.push_back(scaled_by(rate, factor));
        changes.cluster(what + " of " + type + " " + format_percent(1 - factor, 0) + " slower" + remark, all);
      }
    };
    slower("arithmetic", {"flop_per_s"}, " (clocks, a slow GPU)");
    slower("memory", {"memory_bytes_per_s"}, "");
    slower("arithmetic and memory", {"flop_per_s", "memory_bytes_per_s"}, " (a slow GPU or all)");
    changes.begin_kind("");
    changes.cluster("a link to the host of " + type + " at half of its rate",
                    {scaled_by("host_bytes_per_s", 0.5)});
  }
}

Lengths longer(const Lengths& lengths, double factor, double sigma_factor) {
  if (lengths.kind != LengthKind::lognormal) return scaled(lengths, factor);
  Lengths out = lengths;
  out.median = lengths.median * factor;
  out.sigma = lengths.sigma * sigma_factor;
  return out;
}

// The shards of a stage on different nodes: devices are dealt over the nodes of the task one by one.
void spread_over_nodes(const Cluster& cluster, TaskPlan& task) {
  std::vector<DeviceId> devices;
  for (const Replica& replica : task.replicas) {
    for (const DeviceId device : replica.devices()) devices.push_back(device);
  }
  std::vector<std::vector<DeviceId>> by_node(cluster.nodes().size());
  for (const DeviceId device : devices) by_node[cluster.node_of(device).index()].push_back(device);
  std::vector<DeviceId> order;
  for (std::size_t turn = 0; order.size() < devices.size(); ++turn) {
    for (const std::vector<DeviceId>& node : by_node) {
      if (turn < node.size()) order.push_back(node[turn]);
    }
  }
  std::size_t next = 0;
  for (Replica& replica : task.replicas) {
    for (Stage& stage : replica.stages) {
      for (DeviceId& device : stage.devices) device = order[next++];
    }
  }
}

void add_other_responses(const KnownResponses& known, Changes& changes) {
  if (!known.mean) {
    changes.workflow("responses 1.5 times as long", [](Workflow& workflow) {
      workflow.response_tokens = longer(workflow.response_tokens, 1.5, 1);
    });
  }
  if (!known.tail) {
    changes.workflow("a longer tail of responses", [](Workflow& workflow) {
      workflow.response_tokens = longer(workflow.response_tokens, 1, 1.5);
    });
  }
}

void add_other_settings(const Circumstances& run, Changes& changes) {
  changes.tasks("recomputation of all activations in training", TaskKind::training,
                [](TaskPlan& task) { task.recompute = Recompute::full; });
  changes.scoring("padding to the longest sequence that is allowed instead of packing", [](TaskPlan& task) {
    task.execution.packed = false;
    task.execution.padding.reset();
    task.execution.micro_batch_tokens = 0;
  });
  changes.scoring("micro-batches of a quarter of the tokens",
                  [](TaskPlan& task) { task.execution.micro_batch_tokens /= 4; });
  changes.scoring("attention that is not fused",
                  [](TaskPlan& task) { task.execution.fused_attention = false; });
  changes.begin_kind("KV cache");
  for (const auto& [factor, part] : {std::pair(2, "half"), std::pair(4, "a quarter"), std::pair(8, "an eighth"),
                                     std::pair(16, "a sixteenth")})
    changes.tasks(std::string("a KV cache of ") + part + " of its size", TaskKind::generation,
                  [&](TaskPlan& task) { task.execution.kv_cache_bytes /= factor; });
  changes.begin_kind("");
  changes.tasks("a limit of an eighth of the sequences at once in generation", TaskKind::generation,
                [](TaskPlan& task) { task.decode_batch_sequences /= 8; });
  changes.tasks("decoding without CUDA graphs (eager mode)", TaskKind::generation,
                [](TaskPlan& task) { task.execution.cuda_graphs = false; });
  changes.tasks("a prefill of the prompt for each response (no prefix cache)", TaskKind::generation,
                [](TaskPlan& task) { task.execution.shared_prompts = false; });
  changes.tasks("no continuous batching", TaskKind::generation,
                [](TaskPlan& task) { task.execution.continuous_batching = false; });
  changes.tasks("the optimizer's states on the host", TaskKind::training,
                [](TaskPlan& task) { task.execution.offload_optimizer = true; });
  changes.scoring("weights on the host while other tasks run",
                  [](TaskPlan& task) { task.execution.offload_weights = true; });
  changes.scoring("tensor parallelism of training across nodes",
                  [&](TaskPlan& task) { spread_over_nodes(run.cluster, task); });
  changes.tasks("tensor parallelism of generation across nodes", TaskKind::generation,
                [&](TaskPlan& task) { spread_over_nodes(run.cluster, task); });
}

}  // namespace

std::vector<Change> possible_faults(const Circumstances& run, const KnownResponses& known) {
  Changes changes(run);
  add_slow_machines(run, changes);
  add_other_settings(run, changes);
  add_other_responses(known, changes);
  return changes.take();
}

std::vector<Change> possible_settings(const Circumstances& run) {
  Changes changes(run);
  changes.tasks("train without recomputation", TaskKind::training,
                [](TaskPlan& task) { task.recompute = Recompute::none; });
  changes.tasks("train with selective recomputation", TaskKind::training,
                [](TaskPlan& task) { task.recompute = Recompute::selective; });
  changes.scoring("pack sequences instead of padding them", [](TaskPlan& task) {
    task.execution.packed = true;
    task.execution.padding.reset();
  });
  changes.tasks("decode with CUDA graphs", TaskKind::generation,
                [](TaskPlan& task) { task.execution.cuda_graphs = true; });
  changes.tasks("prefill a prompt once for all its responses", TaskKind::generation,
                [](TaskPlan& task) { task.execution.shared_prompts = true; });
  changes.tasks("continuous batching", TaskKind::generation,
                [](TaskPlan& task) { task.execution.continuous_batching = true; });
  for (const int factor : {2, 4}) {
    changes.scoring(std::to_string(factor) + " times the tokens of a micro-batch",
                    [&](TaskPlan& task) { task.execution.micro_batch_tokens *= factor; });
  }
  changes.tasks("twice the KV cache", TaskKind::generation,
                [](TaskPlan& task) { task.execution.kv_cache_bytes *= 2; });
  changes.tasks("four times the sequences at once in generation", TaskKind::generation,
                [](TaskPlan& task) { task.decode_batch_sequences *= 4; });
  changes.scoring("keep weights and optimizer on the devices", [](TaskPlan& task) {
    task.execution.offload_optimizer = task.execution.offload_weights = false;
  });
  changes.scoring("shard states and weights over replicas (ZeRO 3)",
                  [](TaskPlan& task) { task.execution.zero_stage = 3; });
  changes.scoring("keep whole weights on each replica (ZeRO 1)",
                  [](TaskPlan& task) { task.execution.zero_stage = std::min(1, task.execution.zero_stage); });
  return changes.take();
}

}  // namespace sextant::inline ask
