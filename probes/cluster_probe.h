// Measures the machines that this job runs on and makes a Cluster of what it found.
//
// All ranks measure their device at the same time, because that is how a job uses them: cores that share memory
// channels or a power budget slow each other down. Then all pairs of ranks measure their link.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/json.h"
#include "costmodel/vocabulary/cluster.h"
#include "costmodel/vocabulary/model.h"
#include "probes/comm/communicator.h"
#include "probes/harness/probe_result.h"

namespace sextant {

struct ProbeOptions {
  double budget_s_per_point = 0.4;
  double target_spread_fraction = 0.02;
  // Whose matrix shapes to measure besides the square ones.
  std::optional<Model> model;
  int model_tokens = 256;
  int model_tensor_parallel = 1;
  // Called on rank 0 with what all ranks measured, before a cluster is made of it: that may fail. May be empty.
  std::function<void(const std::vector<ProbeResult>& results)> on_results = {};
  bool pin = true;  // each rank to one of its CPUs while it measures
  std::string name = "local";
  std::string region = "local";
  std::string zone = "local";
};

struct ClusterProbe {
  Cluster cluster;
  std::vector<ProbeResult> results;      // of all ranks, with every sample
  std::vector<std::string> warnings;     // what was seen, why it matters, what to do
  std::vector<DeviceId> device_of_rank;  // where in the cluster each rank of the job is
};

// Collective; the same result on every rank. Throws Error(machine) when a device or a link cannot be measured
// at all, Error(bad_input) for options that make no sense.
[[nodiscard]] ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options);

// Results and warnings with all samples, for a file of their own.
[[nodiscard]] Json samples_to_json(const ClusterProbe& probe);

}  // namespace sextant
