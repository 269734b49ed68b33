#include "probes/cuda/proxy/memory_budget.h"

#include <algorithm>

#include "core/error.h"
#include "core/units.h"
#include "probes/cuda/proxy/attention_layout.h"
#include "probes/cuda/proxy/device_sizes.h"
#include "probes/proxy/groups.h"

namespace sextant::gpu {
namespace {

using namespace proxy;

constexpr double kElement = 2;            // bf16
constexpr double kTrainedParameter = 16;  // weight and gradient in bf16; master copy and two moments in fp32
// cuBLASLt's workspace, tokens, angles, graphs, and what allocation rounds up.
constexpr double kMargin = 1.5e9;

double parameters_of(const Model& model) {
  double rows = 0;
  for (int block = 0; block < block_count(model); ++block) {
    rows += static_cast<double>(block_shard(model, block, {}).rows());
  }
  return rows * model.hidden;
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

double head_bytes(const Model& model, const AttentionLimits& limits, bool training) {
  return kElement * (static_cast<double>(limits.tokens) * model.hidden * (training ? 2 : 1) +
                     static_cast<double>(std::min(limits.tokens, kHeadRows)) * model.vocabulary);
}

double generation_bytes(const TaskPlan& plan, const Model& model, const Workload& workload, Range mine) {
  AttentionLimits limits;
  int wave = 0;
  const int batch = plan.decode_batch_sequences > 0 ? plan.decode_batch_sequences : mine.size();
  if (mine.size() == 0) return 0;
  for (const Range& part : cut_evenly(mine, (mine.size() + batch - 1) / batch)) {
    wave = std::max(wave, part.size());
    for (const Range& chunk : cut_by_size(part, plan.micro_batch_sequences))
      limits.include(workload.prompts(chunk));
  }
  const LayerShape shape = layer_shape(model, {});
  const double cache = 2.0 * model.layers * (wave + 1.0) * shape.kv_width() * workload.longest() * kElement;
  const double logits = wave * (4.0 * model.vocabulary + kElement * model.hidden);
  const double inner = 3.0 * shape.intermediate + shape.qkv_width() + 2.0 * shape.attention_width();
  const double tokens = std::max(limits.tokens, wave);
  return stash_bytes(shape, limits, false) + scratch_bytes(shape, limits, false) + cache + logits +
         kElement * (wave * inner + tokens * model.hidden);
}

double batches_bytes(const TaskPlan& plan, const Task& task, const Model& model, const Workload& workload,
                     const std::vector<Range>& parts) {
  AttentionLimits limits;
  for (const Range& part : parts) {
    for (const Range& sequences : cut_by_size(part, plan.micro_batch_sequences)) {
      limits.include(workload.lengths(sequences));
    }
  }
  const LayerShape shape = layer_shape(model, {});
  const bool training = task.kind == TaskKind::training;
  const double x = kElement * limits.tokens * model.hidden;
  double bytes = scratch_bytes(shape, limits, training) + head_bytes(model, limits, training) + x;
  if (!training) return bytes + stash_bytes(shape, limits, false);
  const bool recomputes = plan.recompute == Recompute::full;
  bytes += (recomputes ? 1 : model.layers) * stash_bytes(shape, limits, true) + x;
  return recomputes ? bytes + model.layers * x : bytes;
}

}  // namespace

std::vector<TaskBytes> task_bytes(const Workflow& workflow, const Plan& plan, const Workload& workload,
                                  int device) {
  std::vector<TaskBytes> all;
  for (const Task& task : workflow.tasks) {
    const TaskPlan& of_task = plan.tasks.at(task.name);
    const std::optional<Position> position = position_of(of_task, device);
    if (!position) continue;
    const Model& model = workflow.model_of(task);
    TaskBytes bytes;
    bytes.task = task.name;
    bytes.state_bytes = parameters_of(model) * (task.kind == TaskKind::training ? kTrainedParameter : kElement);
    if (task.kind == TaskKind::generation) {
      bytes.working_bytes =
          generation_bytes(of_task, model, workload, replica_range(of_task, position->replica, workload.all()));
    } else {
      const int count = task.kind == TaskKind::training ? workflow.mini_batches : 1;
      std::vector<Range> parts;
      for (const Range& whole : cut_evenly(workload.all(), count)) {
        parts.push_back(replica_range(of_task, position->replica, whole));
      }
      bytes.working_bytes = batches_bytes(of_task, task, model, workload, parts);
    }
    all.push_back(bytes);
  }
  return all;
}

void check_memory(const std::vector<TaskBytes>& tasks, double free_bytes) {
  double sum = kMargin;
  std::string parts;
  for (const TaskBytes& task : tasks) {
    sum += task.state_bytes + task.working_bytes;
    parts += (parts.empty() ? "" : ", ") + task.task + " " + format_bytes(task.state_bytes) +
             " of weights and state and " + format_bytes(task.working_bytes) + " to work in";
  }
  if (sum <= free_bytes) return;
  throw_bad_input("the plan needs " + format_bytes(sum) + " of device memory and " + format_bytes(free_bytes) +
                  " are free: " + parts +
                  "; use smaller micro-batches, recompute, fewer sequences together, or a smaller model");
}

}  // namespace sextant::gpu
