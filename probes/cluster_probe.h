// Measures the machines that this job runs on and makes a Cluster of what it found.
//
// All ranks measure their device at the same time, because that is how a job uses them: cores that share memory
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
#include "probes/link/link_probe.h"
#include "probes/rank_journal.h"
#include "probes/report/host_places.h"
#include "probes/report/rank_report.h"
#include "sextant/cluster.h"
#include "sextant/ids.h"
#include "sextant/json.h"
#include "sextant/model.h"

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
  bool is_smoke_test = false;  // the smallest sizes, to see that all runs
  bool pin = true;             // each rank to one of its CPUs while it measures
  std::string name = "local";
  HostPlaces hosts;                        // where they are
  double answer_limit_s = kAnswerLimit_s;  // of each wait for another rank while pairs are measured
  double collectives_budget_s = 50;        // of the groups of one level; what has not begun by then is waived
};

struct ClusterProbe {
  Cluster cluster;
  std::vector<ProbeResult> results;      // of all ranks, with every sample
  std::vector<std::string> warnings;     // what was seen, why it matters, what to do
  std::vector<DeviceId> device_of_rank;  // where in the cluster each rank of the job is
  std::map<int, std::string> lost;       // ranks that fell silent while pairs were measured, and why
  bool is_interrupted = false;
  std::string why_no_cluster;  // of a probe that is not whole: too little was measured; else empty

  [[nodiscard]] bool is_whole() const { return lost.empty() && !is_interrupted; }
};

// What is told while it goes on, and what ends it; each may be empty.
struct ProbeHooks {
  std::function<bool()> should_stop = {};  // any rank's true, at the next step, round or level
  // On every rank: what comes next.
  std::function<void(const std::string& what)> on_step = {};
  // On every rank: what comes next, where nobody can go on without all the others.
  std::function<void(const std::string& what)> on_common_step = {};
  // At rank 0 before such steps: what would be left if ranks were lost there, and why. To be asked from another
  // thread, while this one hangs.
  using Remains = std::function<ClusterProbe(const std::map<int, std::string>& lost)>;
  std::function<void(const Remains& remains)> on_remains = {};
  // At rank 0, once it is known.
  std::function<void(const std::vector<RankReport>& reports)> on_devices = {};
  std::function<void(const std::vector<ProbeResult>& points)> on_points =
      {};  // of devices, in place of reports
  std::function<void(const std::vector<ProbeResult>& points)> on_links = {};
  std::function<void(const std::string& level, const std::vector<ProbeResult>& results)> on_collectives = {};
};

// Collective; the same result on every rank, but where ranks were lost: then only rank 0 has more than `lost`,
// and no rank may talk to all others any more. `done`: what was measured before, the same on every rank; it is
// not measured again. Throws Error(machine) when a device or the links of a level cannot be measured at all, or
// when it was interrupted before the devices were; Error(bad_input) for options that make no sense.
[[nodiscard]] ClusterProbe probe_cluster(Communicator& world, const ProbeOptions& options,
                                         const RankJournal& done = {}, const ProbeHooks& hooks = {});

// The sizes that CPU ranks exchange in collectives.
[[nodiscard]] std::vector<double> rank_collective_sizes_bytes(const ProbeOptions& options);
// How pairs of them are measured.
[[nodiscard]] LinkOptions rank_link_options(const ProbeOptions& options);
// How one of their points is sampled.
[[nodiscard]] SamplingOptions rank_collective_sampling(const ProbeOptions& options);
// The most that measuring the devices takes.
[[nodiscard]] double longest_devices_s(const ProbeOptions& options);

// Results and warnings with all samples, for a file of their own.
[[nodiscard]] Json samples_to_json(const ClusterProbe& probe);

}  // namespace sextant
