// What the model says about one plan.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/document.h"
#include "core/ids.h"
#include "core/json.h"
#include "core/statistics.h"

namespace sextant {

// Parts of a task's time, in the order of HetRL B.2; the last ones are ours.
enum class Term {
  compute,            // GEMM and attention
  tensor_parallel,    // all-reduces of a stage
  pipeline_parallel,  // activations to the next stage
  bubble,             // pipeline fill and drain
  data_parallel,      // gradient all-reduce
  decode,             // reading weights and KV cache, token by token
  optimizer,          // traffic of the optimizer step
  context_parallel,   // keys and values around the ring
  expert_parallel,    // tokens to their experts and back
  weight_gather,      // sharded weights (ZeRO stage 3, FSDP)
  offload,            // states and activations over the link to the host
  overhead,           // per layer, per sequence, per task
  stragglers,         // waiting for the slowest of devices that do the same work
  uneven_lengths,     // waiting for the replica with the longest sequences
};
inline constexpr int kTermCount = static_cast<int>(Term::uneven_lengths) + 1;
[[nodiscard]] std::string_view name_of(Term term);

// How near a task is to what the coefficients were fitted to.
struct Familiarity {
  std::string nearest_run;  // empty: no run had such a task
  double distance = 0;      // calibrate/familiarity.h; 1 is a step that can change what limits the task
  std::vector<std::string> reasons;  // why it is far; empty where it is near
  [[nodiscard]] bool extrapolating() const { return !reasons.empty(); }
  friend bool operator==(const Familiarity&, const Familiarity&) = default;
};

// What a change of one number would do to the iteration.
struct Sensitivity {
  std::string name;  // of a coefficient, or of a number of the cluster: "flop_per_s", "link_bytes_per_s", ...
  std::string of;    // device type, link level, framework or "*"
  bool is_hardware = false;
  double elasticity = 0;                 // relative change of the iteration by relative change of the number
  std::optional<double> variance_share;  // coefficients: of the variance of the logarithm of the iteration
  friend bool operator==(const Sensitivity&, const Sensitivity&) = default;
};

struct TaskPrediction {
  double time_s = 0;
  std::optional<Interval> interval_s;  // 90 %, when the coefficients carry their spread
  std::map<Term, double> terms_s;      // on the critical replica and stage; sum to time_s
  int critical_replica = 0;
  int critical_stage = 0;
  double start_s = 0;  // in the timeline of one iteration
  double end_s = 0;
  double queued_s = 0;   // before its start: its inputs are there, but its devices are busy
  double exposed_s = 0;  // what it adds to the iteration: time_s, less where it runs beside longer tasks
  std::vector<DeviceId> devices;
  std::optional<Familiarity> familiarity;  // where the coefficients say what they were fitted to

  friend bool operator==(const TaskPrediction&, const TaskPrediction&) = default;
};

// How sure a prediction is of what a device or a host needs.
struct MemoryTrust {
  Interval needed_bytes;       // 90 %
  double fit_probability = 1;  // that the need is at most the capacity

  friend bool operator==(const MemoryTrust&, const MemoryTrust&) = default;
};

// The answer to "does it fit": fits and does_not_fit where the probability of it is at least 95 %.
enum class Fit { fits, does_not_fit, uncertain };
[[nodiscard]] Fit fit_of(bool fits, const std::optional<MemoryTrust>& trust);
// "fits", "does not fit", "uncertain (62 %)": the probability that it fits.
[[nodiscard]] std::string describe_fit(bool fits, const std::optional<MemoryTrust>& trust);

struct DeviceMemory {
  DeviceId device;
  double capacity_bytes = 0;
  double resident_bytes = 0;  // weights, gradients, optimizer of every task that lives here
  double working_bytes = 0;   // largest activations, KV cache and buffers of one task
  std::optional<MemoryTrust> trust = std::nullopt;
  [[nodiscard]] double needed_bytes() const { return resident_bytes + working_bytes; }
  [[nodiscard]] bool fits() const { return needed_bytes() <= capacity_bytes; }
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

// What a plan keeps in the memory of a host: offloaded states and their copies.
struct HostMemory {
  std::string node;
  std::optional<double> capacity_bytes;  // absent: the cluster does not say
  double needed_bytes = 0;
  std::optional<MemoryTrust> trust = std::nullopt;  // absent without a capacity
  [[nodiscard]] bool fits() const { return !capacity_bytes || needed_bytes <= *capacity_bytes; }
  friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

// Of a token, in weight versions, of fractions by 0, 1, ... versions (Prediction::staleness_fractions); zero
// without any.
[[nodiscard]] double mean_staleness(const std::vector<double>& fractions);

struct Prediction {
  static constexpr std::string_view kKind = "prediction";
  static constexpr SchemaVersion kVersion{1, 3};  // 1.1: controller_s, notes; 1.2: data_s; 1.3: staleness

  std::string workflow;  // names
  std::string plan;
  std::string cluster;
  std::string coefficients;  // where they come from: a file, "none" for the bare appendix; empty: not known
  std::string framework;     // for which they were resolved: a name or "*"; empty: not known
  double iteration_s = 0;
  std::optional<Interval> iteration_interval_s;
  double sequences_per_s = 0;
  double weight_sync_s = 0;  // resharding or synchronization, whichever the plan pays
  double data_s = 0;         // data that tasks hand on, between their devices
  double controller_s = 0;   // the controller of an RL framework between the tasks of the iteration
  double rule_reward_s = 0;  // rewards of a rule
  // Of the trained tokens, by how many weight versions their weights were older than those that are trained
  // (costmodel/staleness.h); they sum to 1. Empty: all are fresh, or the document does not say.
  std::vector<double> staleness_fractions;
  std::map<std::string, TaskPrediction> tasks;
  std::vector<DeviceMemory> memory;
  std::vector<HostMemory> host_memory;  // of nodes that hold offloaded states
  std::string bottleneck;               // one sentence
  std::vector<std::string> notes;       // values that the plan leaves out and what was assumed, a sentence each
  std::vector<Sensitivity> sensitivities;  // where asked for; largest first

  [[nodiscard]] bool extrapolating() const;  // in any task
  [[nodiscard]] bool fits() const;           // on every device and host
  // By how much the tasks, the weight sync, the controller and the rewards together take longer than the
  // iteration, because tasks run at the same time. Zero where they run one after the other.
  [[nodiscard]] double overlapped_s() const;
  [[nodiscard]] double mean_staleness() const { return sextant::mean_staleness(staleness_fractions); }
  friend bool operator==(const Prediction&, const Prediction&) = default;
  static Prediction parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
