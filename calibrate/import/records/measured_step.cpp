#include "calibrate/import/records/measured_step.h"

#include <cmath>
#include <utility>

namespace sextant {
namespace {

std::string in_words(const Degrees& degrees) {
  return std::to_string(degrees.data_parallel) + " x " + std::to_string(degrees.pipeline_parallel) + " x " +
         std::to_string(degrees.tensor_parallel) + " x " + std::to_string(degrees.context_parallel);
}

// Why the numbers of the record cannot all be right; empty where they can.
std::string contradiction(const MeasuredStep& step) {
  const Degrees& degrees = step.degrees;
  const double used = 1.0 * degrees.data_parallel * degrees.pipeline_parallel * degrees.tensor_parallel *
                      degrees.context_parallel;
  if (used != step.gpus) {
    return "data, pipeline, tensor and context parallelism " + in_words(degrees) + " are not the " +
           std::to_string(step.gpus) + " GPUs of the record";
  }
  if (step.model.layers < degrees.pipeline_parallel) {
    return std::to_string(degrees.pipeline_parallel) + " pipeline stages for a model of " +
           std::to_string(step.model.layers) + " layers";
  }
  const int of_replica = step.sequences / degrees.data_parallel;
  if (step.sequences % degrees.data_parallel != 0 || of_replica % step.micro_batch_sequences != 0) {
    return "a global batch of " + std::to_string(step.sequences) + " sequences cannot be cut into " +
           std::to_string(degrees.data_parallel) + " replicas with micro-batches of " +
           std::to_string(step.micro_batch_sequences);
  }
  return "";
}

// Which rate the cost model would look for in vain; empty where there are all.
std::string missing_rate(const MeasuredStep& step) {
  const Precision arithmetic = step.execution.precision.value_or(step.precision);
  for (const Precision precision : {step.precision, arithmetic}) {
    if (!step.gpu.type.flop_per_s.contains(precision)) {
      return "the facts have no rate of " + std::string(name_of(precision)) + " arithmetic for " +
             step.gpu.name;
    }
  }
  return "";
}

// "Llama-3.1-8B, 256 x 8192 tokens"
std::string workflow_name(const MeasuredStep& step) {
  return step.model.name + ", " + std::to_string(step.sequences) + " x " +
         std::to_string(std::lround(step.sequence_tokens)) + " tokens";
}

Plan plan_of(const MeasuredStep& step, const Workflow& workflow) {
  TaskPlan task = trainer_task(step.degrees, step.model.layers);
  task.micro_batch_sequences = step.micro_batch_sequences;
  task.recompute = step.recompute;
  task.execution = step.execution;
  task.execution.context_parallel = step.degrees.context_parallel;
  Plan plan;  // named by add_run, so that equal ones are shared
  plan.tasks.emplace(workflow.tasks.front().name, std::move(task));
  return plan;
}

// The run that this one repeats: a table printed again in a later release. Empty where there is none; two
// measurements of one configuration differ in the last digit.
std::string repeated(const Runs& runs, const MeasuredStep& step, const Cluster& cluster, Workflow workflow,
                     const Plan& plan) {
  for (const Run& run : runs.runs) {
    if (run.framework != step.framework || run.iteration.samples_s.front() != step.step_s) continue;
    workflow.name = run.workflow;
    const bool is_same = runs.plan_of(run).tasks == plan.tasks && runs.workflow_of(run) == workflow &&
                         runs.cluster_of(run) == cluster;
    if (is_same) return "configuration and time are those of " + run.name + " to the last digit: printed again";
  }
  return "";
}

Run run_of(const MeasuredStep& step) {
  Run run;
  run.name = step.name;
  run.source = RunSource::published;
  run.framework = step.framework;
  run.iteration.samples_s = {step.step_s};
  run.peak_memory_bytes = step.peak_memory_bytes;
  run.unstated = step.unstated;
  run.notes = step.notes;
  run.notes.emplace("model", step.model.name);
  run.notes.emplace("gpu", step.gpu.name);
  return run;
}

}  // namespace

std::string why_unknown(const Facts& facts, const std::string& gpu, const std::string& model) {
  if (!facts.has_gpu(gpu)) return facts.why_no_gpu(gpu);
  return facts.has_model(model) ? "" : facts.why_no_model(model);
}

void add_measured_step(Imported& imported, const MeasuredStep& step) {
  std::string reason = contradiction(step);
  if (reason.empty()) reason = missing_rate(step);
  if (!reason.empty()) {
    imported.left_out.push_back({step.name, reason});
    return;
  }
  const Cluster cluster = uniform_cluster(step.gpu, step.gpus, step.gpus_per_node);
  const Workflow workflow =
      training_step(workflow_name(step), step.model, step.sequences, step.sequence_tokens, step.precision);
  const Plan plan = plan_of(step, workflow);
  reason = why_refused(plan, workflow, cluster);
  if (reason.empty()) reason = repeated(imported.runs, step, cluster, workflow, plan);
  if (!reason.empty()) {
    imported.left_out.push_back({step.name, reason});
    return;
  }
  add_run(imported.runs, run_of(step), cluster, workflow, plan);
}

}  // namespace sextant
