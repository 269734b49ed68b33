#include "probes/cuda/proxy/self_check_session.h"

#include <array>
#include <limits>

#include "probes/cuda/proxy/device_task.h"
#include "probes/proxy/session.h"

namespace sextant::gpu {

using namespace proxy;

namespace {

Cluster cluster_of(int devices) {
  DeviceType type;
  type.memory_bytes = assumed(1e10);
  type.memory_bytes_per_s = assumed(1e12);
  type.flop_per_s[Precision::bf16] = assumed(1e14);
  Node node;
  node.name = "host";
  node.region = "here";
  node.zone = "here";
  node.device_type = "gpu";
  node.devices = devices;
  return Cluster("self-check", {{"gpu", type}}, {node},
                 {{LinkLevel::within_node, {assumed(1e-6), assumed(1e11)}}});
}

Plan plan_of(const Workflow& workflow, const CheckedSession& session) {
  Plan plan;
  plan.name = "self-check";
  for (const Task& task : workflow.tasks) {
    TaskPlan& of_task = plan.tasks[task.name];
    const bool generates = task.kind == TaskKind::generation;
    of_task.replicas = (generates ? session.generation : session.training).expand();
    of_task.micro_batch_sequences = 4;
    of_task.execution.cuda_graphs = generates;
  }
  return plan;
}

// Null when this rank has no part of the task.
DeviceParameters* parameters_of(ProxySession& session, const std::string& task) {
  TaskWork* work = session.work(task);
  return work == nullptr ? nullptr : &dynamic_cast<DeviceTask&>(*work).parameters();
}

std::vector<float> part_of(const DeviceParameters& parameters, int block) {
  const DeviceMatrix matrix = parameters.block(block);
  return on_host(parameters.values(), static_cast<std::size_t>(matrix.data - parameters.values().data()),
                 matrix.size());
}

bool is_of(const DeviceParameters* parameters, int block) {
  return parameters != nullptr && block >= parameters->shape().first_block() &&
         block < parameters->shape().end_block();
}

// Every rank learns the trained block from whoever holds it.
std::vector<float> trained_block(Communicator& world, const DeviceParameters* trained, const Model& model,
                                 int block) {
  const auto hidden = static_cast<std::size_t>(model.hidden);
  std::vector<float> full(block_shard(model, block, {}).full_rows * hidden,
                          std::numeric_limits<float>::lowest());
  if (is_of(trained, block)) {
    insert_block(block_shard(model, block, trained->shape().shard), hidden, part_of(*trained, block), full);
  }
  world.all_reduce_max(std::span<float>(full));
  return full;
}

double differing(const std::vector<float>& a, const std::vector<float>& b) {
  double count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i] ? 0 : 1;
  return count;
}

}  // namespace

std::vector<GpuCheck> check_session(Communicator& world, TaskEngine& engine, const CheckedSession& session) {
  const Workflow workflow = checked_workflow({}, Precision::bf16);
  ProxySession executor(world, cluster_of(world.size()), workflow, plan_of(workflow, session), 1, &engine);
  executor.iterate();
  executor.iterate();
  const DeviceParameters* trained = parameters_of(executor, task_names::kActorTraining);
  const DeviceParameters* generating = parameters_of(executor, task_names::kActorGeneration);
  const DeviceParameters* initial = parameters_of(executor, task_names::kReferenceInference);
  const Model& model = workflow.model_of(workflow.actor_training());
  std::array<double, 2> counts{};
  for (int block = 0; block < block_count(model); ++block) {
    const std::vector<float> full = trained_block(world, trained, model, block);
    if (is_of(generating, block)) {
      std::vector<float> mine = part_of(*generating, block);
      std::vector<float> expected(mine.size());
      slice_block(block_shard(model, block, generating->shape().shard), static_cast<std::size_t>(model.hidden),
                  full, expected);
      counts[0] += differing(mine, expected);
    }
    // The reference has the layout of training.
    if (is_of(trained, block)) counts[1] += differing(part_of(*trained, block), part_of(*initial, block));
  }
  world.all_reduce_sum(std::span<double>(counts));
  const std::string name = "an iteration" + (session.name.empty() ? "" : " (" + session.name + ")");
  return {{name + ": weights of generation that are not the trained ones", counts[0], 0},
          {name + ": training moved no weights", counts[1] > 0 ? 0.0 : 1.0, 0}};
}

}  // namespace sextant::gpu
