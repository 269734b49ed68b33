// Measures the machines of this job and assembles a Cluster from the results.
//
// All ranks measure their device at the same time, because a job uses them like that: cores that share memory
// channels or a power budget slow each other down. Then pairs of ranks measure their link, nodes first
// (link/link_rounds.h), and groups of ranks their collectives, from each node to all
// (collective/growing_groups.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "probes/comm/communicator.h"
#include "probes/harness/probe_result.h"
#include "probes/journal/rank_journal.h"
#include "probes/link/link_probe.h"
#include "probes/report/rank_report.h"
#include "probes/schedule/host_places.h"
#include "sextant/cluster.h"
#include "sextant/ids.h"
#include "sextant/json.h"
#include "sextant/model.h"

namespace sextant {

struct ProbeOptions {
  double budget_s_per_point = 0.4;
  double target_spread_fraction = 0.02;
  // The model whose matrix shapes are measured in addition to square ones.
  std::optional<Model> model;
  int model_tokens = 256;
  int model_tensor_parallel = 1;
  // Called on rank 0 with the measurements of all ranks, before the cluster is assembled. May be empty.
  std::function<void(const std::vector<ProbeResult>& results)> on_results = {};
  bool is_smoke_test = false;  // the smallest sizes, to test that all code runs
  bool pin = true;             // pins each rank to one of its CPUs while it measures
  std::string name = "local";
  HostPlaces hosts;                        // places of the hosts
  double answer_limit_s = kAnswerLimit_s;  // for each wait for another rank while pairs are measured
  double collectives_budget_s = 50;        // for the groups of one level; groups not begun by then are waived
};

struct ClusterProbe {
  Cluster cluster;
  std::vector<ProbeResult> results;      // for all ranks, with every sample
  std::vector<std::string> warnings;     // each says what was seen, why it matters, what to do
  std::vector<DeviceId> device_of_rank;  // the cluster's device of each rank of the job
  std::map<int, std::string> lost;       // ranks that stopped responding while pairs were measured, and why
  bool is_interrupted = false;
  std::string why_no_cluster;  // if too little was measured by an incomplete probe; else empty

  [[nodiscard]] bool is_whole() const { return lost.empty() && !is_interrupted; }
};

// Callbacks that report progress, and one that ends the probe; each may be empty.
struct ProbeHooks {
  std::function<bool()> should_stop = {};  // true on any rank ends it at the next step, round or level
  // Called on every rank with the next step.
  std::function<void(const std::string& what)> on_step = {};
  // Called on every rank with the next step, if no rank can continue without all the others.
  std::function<void(const std::string& what)> on_common_step = {};
  // Called at rank 0 before such steps: returns the remaining results if these ranks were lost there. May be
  // called from another thread while this one hangs.
  using Remains = std::function<ClusterProbe(const std::map<int, std::string>& lost)>;
  std::function<void(const Remains& remains)> on_remains = {};
  // Called at rank 0 with the reports of the devices.
  std::function<void(const std::vector<RankReport>& reports)> on_devices = {};
  std::function<void(const std::vector<ProbeResult>& points)> on_points =
      {};  // of devices, in place of reports
  std::function<void(const std::vector<ProbeResult>& points)> on_links = {};
  std::function<void(const std::string& level, const std::vector<ProbeResult>& results)> on_collectives = {};
};

// Collective; the same result on every rank, unless ranks were lost: then only rank 0 has more than `lost`, and
// no rank may communicate with all others any more. `done`: earlier measurements, the same on every rank; they
// are not repeated. Throws Error(machine) if a device or the links of a level cannot be measured at all, or if
// it was interrupted before the devices were; Error(bad_input) for invalid options.
[[nodiscard]] ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options,
                                         const RankJournal& done = {}, const ProbeHooks& hooks = {});

// Returns the sizes of the collectives between CPU ranks.
[[nodiscard]] std::vector<double> rank_collective_sizes_bytes(const ProbeOptions& options);
// Returns the options for measuring pairs of CPU ranks.
[[nodiscard]] LinkOptions rank_link_options(const ProbeOptions& options);
// Returns the sampling options of one of their collectives.
[[nodiscard]] SamplingOptions rank_collective_sampling(const ProbeOptions& options);
// Returns the maximum time for measuring the devices.
[[nodiscard]] double longest_devices_s(const ProbeOptions& options);

// Returns results and warnings with all samples, for a file of their own.
[[nodiscard]] Json samples_to_json(const ClusterProbe& probe);

}  // namespace sextant
