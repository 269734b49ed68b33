// Clusters, plans, workflows and runs as readers build them from what a source says.
#pragma once

#include <string>

#include "calibrate/import/records/facts.h"
#include "sextant/plan.h"
#include "sextant/run.h"
#include "sextant/workflow.h"

namespace sextant {

// `gpus` devices of one type, `per_node` (0: the type's) to a node; the last node has what remains. In one
// zone, or where the type is built in racks a zone for as many nodes as fill one (a node may be a whole rack).
// Named after the type and both numbers. A node's network is `per_node` GPUs' part of the type's.
[[nodiscard]] Cluster uniform_cluster(const Gpu& gpu, int gpus, int per_node = 0);

// A layout of dp x pp x tp (x cp) devices from `first` on, tensor parallelism innermost. In a serving engine
// the devices of a replica are neighbours (uniform_task). Megatron, DeepSpeed and PyTorch's device meshes
// number the ranks with the pipeline outermost (trainer_task): the replicas of a stage are neighbours, and
// pipelines leave the node first.
struct Degrees {
  int data_parallel = 1;
  int pipeline_parallel = 1;
  int tensor_parallel = 1;
  int context_parallel = 1;
  int first = 0;
};
[[nodiscard]] TaskPlan uniform_task(const Degrees& degrees, int layers);
[[nodiscard]] TaskPlan trainer_task(const Degrees& degrees, int layers);

// Workflows of one task on the model "actor", named as in task_names: a training step over `sequences`
// sequences of `tokens` (as prompts, without responses), or a generation.
[[nodiscard]] Workflow training_step(const std::string& name, const Model& model, int sequences, double tokens,
                                     Precision precision);
[[nodiscard]] Workflow generation_batch(const std::string& name, const Model& model, int sequences,
                                        double prompt_tokens, double response_tokens, Precision precision);

// Adds a run to a document with its cluster, workflow and plan, each named so that equal ones are shared: by
// the name it comes with (a plan without one by its description), and "NAME (2)" where another has that name.
// Throws Error(bad_input) for a plan that cannot be run, which a reader may catch to leave its record out, and
// for a run whose name is taken. The document is as before then.
void add_run(Runs& runs, Run run, const Cluster& cluster, Workflow workflow, Plan plan);

// What check_plan says against the plan, as a reason to leave a record out; empty where it passes.
[[nodiscard]] std::string why_refused(const Plan& plan, const Workflow& workflow, const Cluster& cluster);

}  // namespace sextant
