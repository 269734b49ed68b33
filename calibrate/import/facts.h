// Published facts about GPUs and models (data/gpus.json, data/models.json) as clusters and models.
//
// Where a file lists several figures for one quantity, the first is taken: a datasheet's where there is one for
// a rate of arithmetic, and what the machines of the published runs have for links.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/model.h"
#include "costmodel/vocabulary/plan.h"
#include "costmodel/vocabulary/run.h"
#include "costmodel/vocabulary/workflow.h"

namespace sextant {

struct Gpu {
  std::string name;  // as in data/gpus.json
  DeviceType type;   // datasheet rates where there are any, by precision
  int per_node = 8;
  LinkRate within_node;                   // between two GPUs of a node, one direction
  LinkRate between_nodes;                 // of one GPU's share of the network adapters
  double network_bytes_per_s = 0;         // of a node, one direction
  int per_rack = 0;                       // devices whose nodes that network joins (72 of an NVL72); 0: all
  std::optional<LinkRate> between_racks;  // of one GPU's share of the adapters; where there are racks
};

class Facts {
 public:
  // Throws Error(bad_input) with the JSON path of what is wrong.
  static Facts load(const std::filesystem::path& gpus, const std::filesystem::path& models);

  // By name or alias, ignoring case; Error(bad_input) naming what is unknown.
  [[nodiscard]] const Gpu& gpu(const std::string& name) const;
  [[nodiscard]] const Model& model(const std::string& name) const;
  [[nodiscard]] bool has_gpu(const std::string& name) const;
  [[nodiscard]] bool has_model(const std::string& name) const;
  // A sentence for a LeftOut, with the file's own reason where it names one: "the shape of model "X" is not
  // known: it has linear attention, which a model document does not". Also what gpu() and model() throw.
  [[nodiscard]] std::string why_no_gpu(const std::string& name) const;
  [[nodiscard]] std::string why_no_model(const std::string& name) const;

 private:
  // By lower-case name or alias; a model also goes without its publisher ("Qwen/Qwen3-8B" as "Qwen3-8B").
  std::map<std::string, Gpu> gpus_;
  std::map<std::string, Model> models_;
  std::map<std::string, std::string> gpus_left_out_;  // the reason
  std::map<std::string, std::string> models_left_out_;
};

// `gpus` devices of one type, `per_node` (0: the type's) to a node; the last node has what remains. In one
// zone, or where the type is built in racks a zone for as many nodes as fill one (a node may be a whole rack).
// Named after the type and both numbers. A node's network is `per_node` GPUs' part of the type's.
[[nodiscard]] Cluster uniform_cluster(const Gpu& gpu, int gpus, int per_node = 0);

// A layout of dp x pp x tp (x cp) devices from `first` on, tensor parallelism innermost.
struct Degrees {
  int data_parallel = 1;
  int pipeline_parallel = 1;
  int tensor_parallel = 1;
  int context_parallel = 1;
  int first = 0;
};
[[nodiscard]] TaskPlan uniform_task(const Degrees& degrees, int layers);

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
