#include "planner/exact/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "costmodel/iteration.h"
#include "planner/evaluate/task_model.h"
#include "planner/exact/longest_response.h"

namespace sextant::inline planner {
namespace {

struct Types {
  std::vector<DeviceId> first;  // one device per type of the cluster
  std::vector<int> counts;
  MinLatencies latencies;
};

Types types_of(const Cluster& cluster, const Hardware<double>& hardware) {
  Types types;
  std::vector<int> position(static_cast<std::size_t>(hardware.type_count()), -1);
  for (int d = 0; d < cluster.device_count(); ++d) {
    int& at = position[static_cast<std::size_t>(hardware.type_index(DeviceId{d}))];
    if (at < 0) {
      at = static_cast<int>(types.first.size());
      types.first.push_back(DeviceId{d});
      types.counts.push_back(0);
    }
    ++types.counts[static_cast<std::size_t>(at)];
  }
  types.latencies = min_latencies(cluster);
  return types;
}

TaskPlan cheapest_plan(const Problem<double>& frame, const Task& task, Execution execution, DeviceId device) {
  // These options split or copy work, which needs several devices.
  execution.context_parallel = 1;
  execution.expert_parallel = 1;
  execution.expert_tensor_parallel = 0;
  // Replicas that get sequences by length pad less, the more there are of them: never below the real lengths.
  if (task.kind != TaskKind::generation) execution.packed = true;
  TaskPlan plan =
      one_device_plan(device, frame.workflow.model_of(task).layers, execution, frame.workflow.sequences());
  // Interrupted sequences pass the layers again, and every plan interrupts at least one.
  if (frame.workflow.rollout != RolloutRules{}) plan.decode_batch_sequences = 1;
  return plan;
}

// The arithmetic of prefill (terms/prefill.h), without any memory traffic.
double prefill_arithmetic_s(const StageOfTask<double>& s, DeviceId d) {
  const terms::ForwardFlop flop = terms::forward_flop(s);
  const auto coefficient = [&](CoefficientId id) { return s.problem.coefficient(id, d); };
  const auto rate = [&](Precision precision) {
    return coefficient(CoefficientId::prefill_efficiency) * terms::reached_flop_per_s(s, d, precision);
  };
  double time_s = flop.dense / rate(s.task.precision) + flop.head / rate(terms::plain_precision(s)) +
                  coefficient(CoefficientId::prefill_attention_weight) * terms::computed_attention_flop(s) /
                      rate(terms::attention_precision(s));
  if (flop.experts > 0)
    time_s += coefficient(CoefficientId::expert_flop_weight) * flop.experts / rate(s.task.expert_precision);
  return time_s;
}

// The work items of decoding on one device (terms/decode.h).
struct Decoding {
  double weights_read_s = 0;
  double weights_flop_s = 0;
  double cache_read_s = 0;
};

Decoding decoding_s(const StageOfTask<double>& s, DeviceId d) {
  const auto coefficient = [&](CoefficientId id) { return s.problem.coefficient(id, d); };
  const double memory = s.problem.hardware.memory_bytes_per_s(d);
  const double tokens = s.work().decode_tokens, steps = min_decode_steps(s.task, s.problem.workflow);
  const double dense = s.layers() * (s.model().layer_parameters() - s.model().layer_expert_parameters());
  const double head = s.model().head_parameters();
  const double attended = s.model().attended_tokens(terms::mean_context(s));
  const double flop_weight = coefficient(CoefficientId::decode_flop_weight);
  Decoding time;
  time.weights_read_s = steps * (s.task.weight_bytes * dense + s.task.element_bytes * head) /
                        (coefficient(CoefficientId::decode_bandwidth_efficiency) * memory);
  time.weights_flop_s = 2 * tokens * flop_weight *
                        (dense / terms::reached_flop_per_s(s, d, s.task.precision) +
                         head / terms::reached_flop_per_s(s, d, s.problem.workflow.precision));
  time.cache_read_s = coefficient(CoefficientId::decode_kv_read_weight) * tokens * attended * s.layers() *
                      s.model().kv_cache_elements_per_token() * s.task.cache_bytes / memory;
  return time;
}

// The items of one task: those that devices share, and the fixed time that it takes on any devices.
struct TaskItems {
  TaskKind kind = TaskKind::inference;
  std::vector<ItemTimes> reading, computing;  // including decoding's reads, and its arithmetic
  double fixed_s = 0;
  double steps_s = 0;             // fixed time of decoding's steps
  double longest_response_s = 0;  // decoding of the longest response, with its steps
};

void add_item(TaskItems& items, const std::vector<double>& reading, const std::vector<double>& computing) {
  items.reading.push_back(reading);
  items.computing.push_back(computing);
}

TaskItems items_of(const Problem<double>& frame, const Types& types, const Task& task,
                   const Execution& execution) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  TaskItems items;
  items.kind = task.kind;
  const bool is_generation = task.kind == TaskKind::generation;
  std::vector<double> first, reads, computes, cache, optimizer;
  items.steps_s = is_generation ? kNone : 0;
  for (const DeviceId d : types.first) {
    // The whole task on one device: terms linear in layers and sequences are the work of all devices together.
    const TaskPlan plan = cheapest_plan(frame, task, execution, d);
    const TaskWork work = work_of(task, plan, frame.workflow, frame.cluster());
    const StageOfTask<double> s{frame, work, 0, 0};
    items.fixed_s = work.mini_batches * frame.coefficient(CoefficientId::task_overhead_s);
    if (work.batches_under_way == 0)
      items.fixed_s += work.environment_s;  // else it may be hidden (terms/overhead.h)
    if (frame.workflow.has_controller()) items.fixed_s += frame.coefficient(CoefficientId::call_overhead_s);
    if (!is_generation) {
      first.push_back(terms::compute_s(s));
      if (task.kind == TaskKind::training) optimizer.push_back(terms::optimizer_s(s));
      continue;
    }
    first.push_back(prefill_arithmetic_s(s, d));
    const Decoding decoding = decoding_s(s, d);
    reads.push_back(decoding.weights_read_s);
    computes.push_back(decoding.weights_flop_s);
    cache.push_back(decoding.cache_read_s);
    items.steps_s = std::min(items.steps_s, min_decode_steps(work, frame.workflow) *
                                                frame.coefficient(CoefficientId::decode_step_overhead_s, d));
  }
  add_item(items, first, first);
  if (!optimizer.empty()) add_item(items, optimizer, optimizer);
  if (is_generation) {
    add_item(items, reads, computes);
    add_item(items, cache, cache);
    const TaskPlan plan = cheapest_plan(frame, task, execution, types.first.front());
    const TaskWork work = work_of(task, plan, frame.workflow, frame.cluster());
    items.longest_response_s = min_longest_response_s(frame, work, types.first, types.latencies);
  }
  return items;
}

// No execution with the same precisions and trained weights does less work than this one: sequences
// have their real length, prompts pass once, kernels are fused.
Execution with_min_work(Execution execution, TaskKind kind) {
  execution.packed = true;
  execution.continuous_batching = execution.shared_prompts = kind == TaskKind::generation;
  execution.fused_attention = execution.fused_experts = execution.fused_dispatch = true;
  execution.portable_attention = execution.unfused = execution.eager_layers = false;
  return execution;
}

// The executions that the bound covers.
std::vector<Execution> bounded_executions(const PlanRequest& request, std::size_t task) {
  std::vector<Execution> all;
  for (Execution execution : choices_for(request.choices, task).executions) {
    if (request.bounds_every_execution)
      execution = with_min_work(std::move(execution), request.workflow.tasks[task].kind);
    // These options change the location of work and its memory, not its amount.
    execution.context_parallel = execution.expert_parallel = execution.virtual_stages = 1;
    execution.expert_tensor_parallel = execution.zero_stage = execution.sharded_over = 0;
    execution.kv_cache_bytes = 0;
    execution.offload_weights = execution.offload_optimizer = execution.offload_activations = false;
    execution.offload_gradients = false;
    execution.offload_activation_layers = 0;
    execution.micro_batch_tokens = execution.micro_batches = 0;
    const auto add = [&all](const Execution& one) {
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
    };
    add(execution);
    // Graphs shorten the layers' fixed time, but the host no longer works in parallel with the device.
    if (request.bounds_every_execution) {
      execution.cuda_graphs = !execution.cuda_graphs;
      add(execution);
    }
  }
  return all;
}

void lower(std::vector<ItemTimes>& items, const std::vector<ItemTimes>& others) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t k = 0; k < items[i].size(); ++k) items[i][k] = std::min(items[i][k], others[i][k]);
  }
}

// The minimum of each item over the executions.
TaskItems min_items_of(const Problem<double>& frame, const Types& types, const Task& task,
                       const std::vector<Execution>& executions) {
  TaskItems minimum = items_of(frame, types, task, executions.front());
  for (std::size_t e = 1; e < executions.size(); ++e) {
    const TaskItems items = items_of(frame, types, task, executions[e]);
    lower(minimum.reading, items.reading);
    lower(minimum.computing, items.computing);
    minimum.fixed_s = std::min(minimum.fixed_s, items.fixed_s);
    minimum.steps_s = std::min(minimum.steps_s, items.steps_s);
    minimum.longest_response_s = std::min(minimum.longest_response_s, items.longest_response_s);
  }
  return minimum;
}

double longer_split_s(const std::vector<ItemTimes>& reading, const std::vector<ItemTimes>& computing,
                      const Types& types) {
  return std::max(min_split_s(reading, types.counts), min_split_s(computing, types.counts));
}

// Bound for the tasks of some kinds: each device does its parts one after the other; and each task alone takes
// at least its own split and its fixed time.
template <typename Wanted>
double together_s(const std::vector<TaskItems>& tasks, const Types& types, Wanted wanted) {
  std::vector<ItemTimes> reading, computing;
  double longest_s = 0;
  for (const TaskItems& task : tasks) {
    if (!wanted(task.kind)) continue;
    const double split_s = task.steps_s + longer_split_s(task.reading, task.computing, types);
    longest_s = std::max(longest_s, task.fixed_s + std::max(split_s, task.longest_response_s));
    reading.insert(reading.end(), task.reading.begin(), task.reading.end());
    computing.insert(computing.end(), task.computing.begin(), task.computing.end());
  }
  return std::max(longest_s, longer_split_s(reading, computing, types));
}

double working_bound_s(const Workflow& workflow, const std::vector<TaskItems>& tasks, const Types& types) {
  const auto phase_s = [&](TaskKind kind) {
    return together_s(tasks, types, [kind](TaskKind other) { return other == kind; });
  };
  const double generation = phase_s(TaskKind::generation), inference = phase_s(TaskKind::inference),
               training = phase_s(TaskKind::training);
  // For other graphs the bound is the longest task alone; their overlaps are not analysed.
  if (workflow.algorithm == Algorithm::custom) {
    double longest_s = 0;
    for (const TaskItems& task : tasks)
      longest_s =
          std::max({longest_s, longer_split_s(task.reading, task.computing, types), task.longest_response_s});
    return longest_s;
  }
  if (workflow.mode == Mode::synchronous) return generation + inference + training;
  const double all = together_s(tasks, types, [](TaskKind) { return true; });
  return std::max(streamed_s(workflow, generation, inference + training), all);
}

// The part of the notification of tensors that no training hides (costmodel/weight_transfers.h).
double min_handover_s(const PlanRequest& request, const Problem<double>& frame) {
  if (!request.workflow.has_weight_sync()) return 0;
  const std::vector<Task>& tasks = request.workflow.tasks;
  const auto trainings =
      std::count_if(tasks.begin(), tasks.end(), [](const Task& of) { return of.kind == TaskKind::training; });
  const bool is_custom = request.workflow.algorithm == Algorithm::custom;
  const double hidden = is_custom || trainings > 1 ? frame.coefficient(CoefficientId::task_overlap) : 0;
  const Task& training = request.workflow.actor_training();
  const auto task = static_cast<std::size_t>(&training - request.workflow.tasks.data());
  const auto& executions = choices_for(request.choices, task).executions;
  return (1 - hidden) * TaskModel(training, executions, executions.front(), frame).handover_s();
}

// Sum over items of min over types of x c; x by type, not yet normalized.
double dual_s(const std::vector<ItemTimes>& items, const std::vector<int>& counts,
              const std::vector<double>& x) {
  double whole = 0, sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) whole += counts[k] * x[k];
  for (const ItemTimes& item : items) {
    double minimum = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < x.size(); ++k) minimum = std::min(minimum, x[k] * item[k]);
    sum += minimum;
  }
  return sum / whole;
}

}  // namespace

double min_split_s(const std::vector<ItemTimes>& items, const std::vector<int>& counts) {
  if (items.empty()) return 0;
  // Start value, exact if items differ by a factor only: the inverse of a type's time for all items.
  std::vector<double> x(counts.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    double all = 0;
    for (const ItemTimes& item : items) all += item[k];
    x[k] = all > 0 ? 1 / all : 1;
  }
  double best_s = dual_s(items, counts, x);
  // A concave function of x: one type after the other, with decreasing steps. Every x gives a bound.
  constexpr int kMaxRounds = 1000;  // a few are usual; at the limits of a double gains by rounding never end
  for (double step = 2; step > 1.0005; step = std::sqrt(step)) {
    bool improved = true;
    for (int round = 0; improved && round < kMaxRounds; ++round) {
      improved = false;
      for (std::size_t k = 0; k < x.size(); ++k) {
        for (const double factor : {step, 1 / step}) {
          const double before = x[k];
          x[k] *= factor;
          const double tried_s = dual_s(items, counts, x);
          const bool better = tried_s > best_s * (1 + 1e-12);
          if (better) best_s = tried_s;
          if (!better) x[k] = before;
          improved = improved || better;
        }
      }
    }
  }
  return best_s;
}

namespace {

// The items of all tasks.
struct RequestItems {
  explicit RequestItems(const PlanRequest& request) {
    plan.weight_sync = request.weight_sync;
    Hardware<double> hardware(request.cluster, request.workflow.precision);
    CoefficientValues<double> values = resolve(request.coefficients, hardware, request.framework);
    types = types_of(request.cluster, hardware);
    frame =
        std::make_shared<const Problem<double>>(request.workflow, plan, std::move(hardware), std::move(values));
    for (std::size_t t = 0; t < request.workflow.tasks.size(); ++t)
      tasks.push_back(min_items_of(*frame, types, request.workflow.tasks[t], bounded_executions(request, t)));
  }

  // The same items with the times of these devices' types only.
  [[nodiscard]] RequestItems on(const std::vector<std::uint16_t>& devices) const {
    RequestItems part = *this;
    std::vector<int> counts(types.counts.size(), 0);
    for (const std::uint16_t device : devices) {
      const int type = frame->hardware.type_index(DeviceId{device});
      const auto at = std::find_if(types.first.begin(), types.first.end(),
                                   [&](DeviceId first) { return frame->hardware.type_index(first) == type; });
      ++counts[static_cast<std::size_t>(at - types.first.begin())];
    }
    for (std::size_t k = counts.size(); k-- > 0;) {
      if (counts[k] > 0) continue;
      const auto erase = [k](auto& values) { values.erase(values.begin() + static_cast<std::ptrdiff_t>(k)); };
      erase(counts);
      erase(part.types.first);
      for (TaskItems& task : part.tasks) {
        for (ItemTimes& item : task.reading) erase(item);
        for (ItemTimes& item : task.computing) erase(item);
      }
    }
    part.types.counts = std::move(counts);
    return part;
  }

  Plan plan;
  Types types;
  std::shared_ptr<const Problem<double>> frame;
  std::vector<TaskItems> tasks;
};

double bound_of_items_s(const PlanRequest& request, const RequestItems& items) {
  return working_bound_s(request.workflow, items.tasks, items.types) +
         iteration_overhead_s(request.workflow, items.frame->coefficients) +
         min_handover_s(request, *items.frame);
}

double min_usd(const std::vector<ItemTimes>& items, const std::vector<double>& usd_per_s) {
  double sum = 0;
  for (const ItemTimes& item : items) {
    double minimum = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < usd_per_s.size(); ++k) minimum = std::min(minimum, usd_per_s[k] * item[k]);
    sum += minimum;
  }
  return sum;
}

}  // namespace

double min_iteration_s(const PlanRequest& request) { return bound_of_items_s(request, RequestItems(request)); }

PartBound part_bound(const PlanRequest& request) {
  return [&request,
          items = std::make_shared<const RequestItems>(request)](const std::vector<std::uint16_t>& devices) {
    return bound_of_items_s(request, items->on(devices));
  };
}

double min_usd_per_iteration(const PlanRequest& request) {
  Objective by_cost;
  by_cost.goal = Goal::cost;
  check_prices(by_cost, request.cluster);
  const RequestItems items(request);
  std::vector<double> usd_per_s;
  for (const DeviceId device : items.types.first)
    usd_per_s.push_back(usd_per_iteration({1, request.cluster.type_of(device).price_usd_per_hour->value}, 1.0));
  double sum = 0;
  for (const TaskItems& task : items.tasks)
    sum += std::max(min_usd(task.reading, usd_per_s), min_usd(task.computing, usd_per_s));
  return sum;
}

}  // namespace sextant::inline planner
