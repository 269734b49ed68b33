// Helpers of readers that build clusters, plans, workflows and runs from a source's statements.
#pragma once

#include <string>

#include "calibrate/import/records/facts.h"
#include "sextant/plan.h"
#include "sextant/run.h"
#include "sextant/workflow.h"

namespace sextant::inline calibrate {

// Builds a cluster of `gpus` devices of one type, `per_node` (0: the type's) to a node; the last node has the
// remainder. It has one zone, or if the type is built in racks one zone per rack (a node may be a whole rack).
// It is named after the type and both numbers. A node's network is `per_node` GPUs' part of the type's.
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

// Adds a run to a document with its cluster, workflow and plan. Equal ones are shared; each gets the name it
// comes with (a plan without one its description), or "NAME (2)" if another one has that name. Throws
// Error(bad_input) for a plan that cannot run, which a reader may catch to leave its record out, and for a run
// whose name is taken. The document is then unchanged.
void add_run(Runs& runs, Run run, const Cluster& cluster, Workflow workflow, Plan plan);

}  // namespace sextant::inline calibrate
