#include "probes/gpu/proxy/memory_budget.h"

#include <algorithm>

#include "core/units.h"
#include "probes/gpu/proxy/attention_layout.h"
#include "probes/gpu/proxy/device_sizes.h"
#include "probes/gpu/proxy/link_sizes.h"
#include "probes/proxy/blockwise_transfer.h"
#include "probes/proxy/groups.h"
#include "probes/proxy/schedule.h"
#include "sextant/error.h"
#include "sextant/run.h"

namespace sextant::gpu {
namespace {

using namespace proxy;

constexpr double kElement = 2;            // bf16
constexpr double kTrainedParameter = 16;  // weight and gradient in bf16; master copy and two moments in fp32
// cuBLASLt's workspace, tokens, angles, graphs, NCCL's own buffers, and what allocation rounds up.
constexpr double kMargin = 1.5e9;

double parameters_of(const StageShape& shape) {
  double rows = 0;
  for (int block = shape.first_block(); block < shape.end_block(); ++block) {
    rows += static_cast<double>(block_shard(shape.model, block, shape.shard).rows());
  }
  return rows * shape.model.hidden;
}

double stash_bytes(const LayerShape& shape, const AttentionLimits& limits, bool keeps_probabilities) {
  const double tokens = limits.tokens;
  const double rows = static_cast<double>(limits.rows);
  double elements = tokens * (2.0 * shape.hidden + shape.attention_width() + 3.0 * shape.intermediate) +
                    rows * shape.qkv_width();
  if (keeps_probabilities) elements += static_cast<double>(limits.squares) * shape.heads;
  return elements * kElement;
}

double scratch_bytes(const LayerShape& shape, const AttentionLimits& limits, bool training) {
  const double tokens = limits.tokens;
  const double rows = static_cast<double>(limits.rows);
  const double inner = 2.0 * shape.intermediate;
  double elements = tokens * (training ? std::max<double>(shape.qkv_width(), inner) : shape.qkv_width()) +
                    rows * shape.attention_width() + static_cast<double>(score_elements(shape, limits));
  if (training) {
    elements += rows * shape.qkv_width() +
                tokens * (std::max(shape.attention_width(), shape.intermediate) + shape.hidden);
  }
  return elements * kElement;
}

double head_bytes(const StageShape& shape, const AttentionLimits& limits, bool training) {
  if (!shape.is_last()) return 0;
  return kElement * (static_cast<double>(limits.tokens) * shape.model.hidden * (training ? 2 : 1) +
                     static_cast<double>(std::min(limits.tokens, kHeadRows)) * shape.vocabulary());
}

double link_bytes(TaskKind kind, int stages, int in_flight, double message_bytes) {
  const LinkSizes sizes = link_sizes(kind, stages, in_flight, static_cast<std::size_t>(message_bytes), 0);
  return static_cast<double>(sizes.forward.bytes) * sizes.forward.buffers +
         static_cast<double>(sizes.backward.bytes) * sizes.backward.buffers;
}

// A task on one device.
struct Part {
  const Task& task;
  const TaskPlan& plan;
  const Workload& workload;
  StageShape shape;
  Position position;
  [[nodiscard]] int stages() const {
    return plan.replicas[static_cast<std::size_t>(position.replica)].pipeline_parallel();
  }
  [[nodiscard]] bool training() const { return task.kind == TaskKind::training; }
};

double generation_bytes(const Part& part) {
  const TaskPlan& plan = part.plan;
  const Range mine = replica_range(plan, part.position.replica, part.workload.all());
  AttentionLimits limits;
  int wave = 0;
  const int batch = plan.decode_batch_sequences > 0 ? plan.decode_batch_sequences : mine.size();
  if (mine.size() == 0) return 0;
  for (const Range& one : cut_evenly(mine, (mine.size() + batch - 1) / batch)) {
    wave = std::max(wave, one.size());
    for (const Range& chunk : cut_by_size(one, plan.micro_batch_sequences))
      limits.include(part.workload.prompts(chunk));
  }
  const LayerShape shape = layer_shape(part.shape.model, part.shape.shard);
  const double slots = static_cast<double>(part.stages()) * wave + 1;
  const double cache = 2.0 * part.shape.layers * slots * shape.kv_width() * part.workload.longest() * kElement;
  const double logits =
      part.shape.is_last() ? wave * (4.0 * part.shape.vocabulary() + kElement * part.shape.model.hidden) : 0;
  const double inner = 3.0 * shape.intermediate + shape.qkv_width() + 2.0 * shape.attention_width();
  const double x = kElement * std::max(limits.tokens, wave) * part.shape.model.hidden;
  return stash_bytes(shape, limits, false) + scratch_bytes(shape, limits, false) + cache + logits +
         kElement * wave * inner + x + link_bytes(TaskKind::generation, part.stages(), 1, x);
}

double batches_bytes(const Part& part, const std::vector<Range>& parts) {
  AttentionLimits limits;
  std::size_t maximum = 1;
  for (const Range& mine : parts) {
    const std::vector<Range> micro_batches = cut_by_size(mine, part.plan.micro_batch_sequences);
    maximum = std::max(maximum, micro_batches.size());
    for (const Range& sequences : micro_batches) limits.include(part.workload.lengths(sequences));
  }
  const LayerShape shape = layer_shape(part.shape.model, part.shape.shard);
  const double x = kElement * limits.tokens * part.shape.model.hidden;
  const int in_flight =
      part.training() ? micro_batches_in_flight(part.position.stage, part.stages(), static_cast<int>(maximum))
                      : 1;
  double bytes = scratch_bytes(shape, limits, part.training()) +
                 head_bytes(part.shape, limits, part.training()) + x +
                 link_bytes(part.task.kind, part.stages(), in_flight, x);
  if (!part.training()) return bytes + stash_bytes(shape, limits, false);
  const double stash = stash_bytes(shape, limits, true);
  bytes += x;  // of gradients
  if (part.plan.recompute == Recompute::full) return bytes + stash + in_flight * part.shape.layers * x;
  return bytes + in_flight * part.shape.layers * stash;
}

std::vector<Range> batches_of(const Part& part, int mini_batches) {
  std::vector<Range> parts;
  for (const Range& whole : cut_evenly(part.workload.all(), part.training() ? mini_batches : 1)) {
    parts.push_back(replica_range(part.plan, part.position.replica, whole));
  }
  return parts;
}

double transfer_bytes(const Workflow& workflow, const Plan& plan, int device) {
  if (!workflow.has_weight_sync()) return 0;
  const Task& trained = workflow.actor_training();
  const Model& model = workflow.model_of(trained);
  const TransferRows rows = transfer_rows(model, plan.tasks.at(trained.name),
                                          plan.tasks.at(workflow.actor_generation().name), device);
  return kElement * static_cast<double>(rows.full + rows.gathered) * model.hidden;
}

}  // namespace

std::vector<TaskBytes> task_bytes(const Workflow& workflow, const Plan& plan, const Workload& workload,
                                  int device) {
  std::vector<TaskBytes> all;
  for (const Task& task : workflow.tasks) {
    const TaskPlan& of_task = plan.tasks.at(task.name);
    const std::optional<Position> position = position_of(of_task, device);
    if (!position) continue;
    const Replica& replica = of_task.replicas[static_cast<std::size_t>(position->replica)];
    const Part part{task, of_task, workload, stage_shape(workflow.model_of(task), replica, *position),
                    *position};
    TaskBytes bytes;
    bytes.task = task.name;
    bytes.state_bytes = parameters_of(part.shape) * (part.training() ? kTrainedParameter : kElement);
    bytes.working_bytes = task.kind == TaskKind::generation
                              ? generation_bytes(part)
                              : batches_bytes(part, batches_of(part, workflow.mini_batches));
    all.push_back(bytes);
  }
  const double transfer = transfer_bytes(workflow, plan, device);
  if (transfer > 0) all.push_back({kWeightSync, 0, transfer});
  return all;
}

void check_memory(const std::vector<TaskBytes>& tasks, double free_bytes) {
  double sum = kMargin;
  std::string parts;
  for (const TaskBytes& task : tasks) {
    sum += task.state_bytes + task.working_bytes;
    parts += (parts.empty() ? "" : ", ") + task.task + " " + format_bytes(task.state_bytes) +
             " for weights and state and " + format_bytes(task.working_bytes) + " as working memory";
  }
  if (sum <= free_bytes) return;
  throw_bad_input("the plan needs " + format_bytes(sum) + " of device memory, but only " +
                  format_bytes(free_bytes) + " are free: " + parts +
                  "; use smaller micro-batches, recompute, fewer sequences together, or a smaller model");
}

}  // namespace sextant::gpu
