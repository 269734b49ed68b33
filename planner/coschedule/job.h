// Jobs and pools of machines that jobs share (Wu et al. 2026, "WEAVE", sections 2 and 4).
//
// A job is synchronous RL: every iteration has a rollout phase on nodes of the rollout pool, a training phase on
// nodes of the training pool, and a transfer of the new weights over the connection of both pools. Numbers of
// phases are bounds: those of an iteration in which every response has the maximum length. While one job uses
// a node, the states of the others wait in the memory of the host.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/coschedule/responses.h"
#include "sextant/document.h"
#include "sextant/json.h"
#include "sextant/statistics.h"

namespace sextant::coschedule {

inline constexpr double kRounding =
    1e-9;  // relative, of sums of times and bytes that are compared with a limit

// The fate of a running job when its lengths have drifted so far that it makes a member of its group slower than
// promised: it is stopped and placed anew, or goes on where it is and the promise is broken.
enum class OnDrift { resubmit, stay };
inline constexpr std::array<std::string_view, 2> kOnDriftNames = {"resubmit", "stay"};

struct Job {
  std::string name;
  double rollout_s = 0;   // of an iteration, alone on its nodes
  double training_s = 0;  // alone on training_nodes
  double sync_s = 0;      // transfer of the weights over an idle connection; 0: see weight_bytes
  // The new weights, which the transfer moves once from pool to pool. If sync_s is not stated, it follows with the bandwidths of the pools.
  double weight_bytes = 0;
  int rollout_nodes = 1;
  int training_nodes = 1;  // at least; with more, data parallelism is higher and training shorter in proportion
  double max_slowdown = 1.5;           // SLO: iteration time in a group over that alone
  double rollout_host_bytes = 0;       // of each rollout node, while the phase is suspended
  double training_host_bytes = 0;      // of each training node
  double rollout_warm_start_s = 0;     // states from the host to the GPUs, if other jobs use the node
  double training_warm_start_s = 0;    // likewise
  std::optional<Responses> responses;  // lengths, which decide what iterations really take
  // Parts of a response, between two of which a sequence waits for its environment. The waits are part of rollout_s, and
  // take as long whatever the lengths are.
  double turns = 1;
  double environment_s_per_turn = 0;
  double colocated_rollout_s = 0;  // rollout_s on the training nodes instead; 0: the same as rollout_s
  // Types of the GPUs that the times are of; empty: not stated, and any.
  std::string rollout_node_type, training_node_type;
  double length_drift = 0;  // over the run (drift.h); 0: none
  OnDrift on_drift = OnDrift::resubmit;
  // 90 % intervals of the predictions rollout_s and training_s; absent if they were not predicted.
  std::optional<Interval> rollout_interval_s, training_interval_s;
  // For simulations.
  double arrival_s = 0;
  double duration_s = 0;        // running alone
  double typical_fraction = 1;  // of the bounds: phases of a typical iteration, for jobs without `responses`

  // The waits of a sequence for its environment, all together; less than rollout_s.
  [[nodiscard]] double environment_s() const { return (turns - 1) * environment_s_per_turn; }
  // The rest of rollout_s, in which tokens are generated.
  [[nodiscard]] double decoding_s() const { return rollout_s - environment_s(); }
  // The time of an iteration alone.
  [[nodiscard]] double solo_s() const { return rollout_s + training_s + sync_s; }
  [[nodiscard]] double max_iteration_s() const { return max_slowdown * solo_s(); }
  // The training phase on that number of nodes, at least training_nodes.
  [[nodiscard]] double training_s_on(int nodes) const { return training_s * training_nodes / nodes; }

  friend bool operator==(const Job&, const Job&) = default;
  static Job parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Nodes of one type.
struct Pool {
  std::string node_type;
  int gpus_per_node = 8;
  double host_memory_bytes = 0;  // 0: not stated, no limit
  double usd_per_gpu_hour = 0;
  int max_nodes = 0;            // 0: no limit
  double link_bytes_per_s = 0;  // of a node, to the others of the pool; 0: not stated, takes no time

  [[nodiscard]] double usd_per_node_hour() const { return gpus_per_node * usd_per_gpu_hour; }
  // Whether the host of a node has that much memory.
  [[nodiscard]] bool holds(double bytes) const {
    return host_memory_bytes == 0 || bytes <= host_memory_bytes * (1 + kRounding);
  }
  friend bool operator==(const Pool&, const Pool&) = default;
};

// Groups are enumerated job by job.
inline constexpr int kMaxMembers = 6;

struct Pools {
  Pool rollout, training;
  int max_members = 5;  // jobs of a group; the states of more do not fit a host (section 3.2)
  // Between the pools, of all transfers together (20 Gbit/s in section 6.1); 0: not stated.
  double connection_bytes_per_s = 0;

  [[nodiscard]] double usd_per_hour(int rollout_nodes, int training_nodes) const {
    return rollout_nodes * rollout.usd_per_node_hour() + training_nodes * training.usd_per_node_hour();
  }
  // The cost of a group of the job alone.
  [[nodiscard]] double usd_per_hour(const Job& job) const {
    return usd_per_hour(job.rollout_nodes, job.training_nodes);
  }
  friend bool operator==(const Pools&, const Pools&) = default;
};

// Jobs that arrive, for `sextant coschedule simulate`; by arrival.
struct JobTrace {
  static constexpr std::string_view kKind = "job_trace";
  static constexpr SchemaVersion kVersion{1, 3};  // 1.1: GPUs of jobs; 1.2: bandwidths, on_drift; 1.3: turns

  Pools pools;
  std::vector<Job> jobs;

  friend bool operator==(const JobTrace&, const JobTrace&) = default;
  // Refuses jobs that no empty pool can hold, two jobs of one name, and arrivals that go back in time.
  static JobTrace parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// A job on its own document, for `sextant coschedule place`.
struct JobDocument {
  static constexpr std::string_view kKind = "job";
  static constexpr SchemaVersion kVersion{1,
                                          3};  // 1.1: GPUs; 1.2: weight_bytes, on_drift, intervals; 1.3: turns

  Job job;

  friend bool operator==(const JobDocument&, const JobDocument&) = default;
  static JobDocument parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// Why the job fits on no node of the pools, or needs more nodes than they have; empty if it can run alone.
[[nodiscard]] std::string why_not_alone(const Job& job, const Pools& pools);

// The job with the time of its transfer of weights: one copy goes over the connection of the pools, and each rollout node
// then gets what it lacks from the others (section 5.2). A job that states sync_s or no weight_bytes, and one of pools
// without a bandwidth between them, stays as it is.
[[nodiscard]] Job with_sync(const Job& job, const Pools& pools);

// Throws Error(bad_input) if the job states types of GPUs, and the nodes of a pool have others.
void require_gpus_of(const Job& job, const Pools& pools);

}  // namespace sextant::coschedule
