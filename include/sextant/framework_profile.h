// How a framework executes the tasks of an iteration when its user sets nothing, what its users choose among,
// and which layouts it cannot run: a file of data/frameworks (its README says how to read and add one).
//
// Profiles are facts with their sources, not results: they are only read.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sextant/execution.h"
#include "sextant/json.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant {

// Of all tasks of one kind. Every list has the default first and holds no value twice.
struct TaskProfile {
  std::vector<Execution> executions{Execution{}};
  std::vector<Recompute> recompute{Recompute::none};  // training
  std::vector<int> micro_batch_sequences{1};          // where no budget of tokens says how batches are cut
  std::vector<int> decode_batch_sequences{0};         // generation: most sequences of a replica at once
  // Generation: parts of a device's memory that the KV cache may take. Empty: as much as there is.
  std::vector<double> kv_memory_fractions;
  // Devices that split a stage's matrices, and stages. 0: no limit.
  int max_tensor_parallel = 0;
  int max_pipeline_parallel = 0;
};

struct FrameworkProfile {
  std::string name;                // "verl-fsdp"
  std::string family;              // "verl"
  bool is_family_default = false;  // the one that the family's name means
  std::string version;             // that the facts are of
  std::string coefficients;        // framework whose fitted values are taken; "*": those of all
  WeightSyncPlan weight_sync;
  bool has_reference = true;      // an iteration computes the reference's log-probabilities by default
  bool has_old_log_prob = false;  // and the actor's own, again, before it trains
  bool has_even_batch = false;    // replicas get equally many sequences
  bool has_even_layers = false;   // stages get equally many layers
  // Modes that it offers, each with the sets of tasks that run on the same devices.
  std::map<Mode, std::vector<std::vector<std::string>>> same_devices;
  // Sets of tasks of which no two have a device in common, by mode.
  std::map<Mode, std::vector<std::vector<std::string>>> apart_devices;
  std::map<TaskKind, TaskProfile> tasks;
  // "generation.kv_memory_fraction": the option of the framework that says it.
  std::map<std::string, std::string> option_names;
  std::vector<std::string> cannot;  // sentences

  // Throws Error(bad_input) with the JSON path.
  static FrameworkProfile parse(const JsonView& view);
};

// All *.json files of a folder, by file name. Throws Error(bad_input) that names the file; empty where there is
// no such folder.
[[nodiscard]] std::vector<FrameworkProfile> load_framework_profiles(const std::filesystem::path& folder);

// The profile with this name, or the default of the family with this name; letter case does not matter. Null
// where there is none.
[[nodiscard]] const FrameworkProfile* find_profile(const std::vector<FrameworkProfile>& profiles,
                                                   const std::string& name);

}  // namespace sextant
