// The model's prediction for one plan.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/document.h"
#include "sextant/ids.h"
#include "sextant/json.h"
#include "sextant/statistics.h"

namespace sextant {

// Parts of a task's time, in the order of HetRL B.2; the last ones are additions of Sextant.
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
  stragglers,         // waiting for the slowest of devices with the same work
  uneven_lengths,     // waiting for the replica with the longest sequences
};
inline constexpr int kTermCount = static_cast<int>(Term::uneven_lengths) + 1;
[[nodiscard]] std::string_view name_of(Term term);

// The distance of a task to the runs that the coefficients were fitted to.
struct Familiarity {
  std::string nearest_run;  // empty: no run had a task of this kind
  double distance = 0;      // calibrate/familiarity.h; 1 is a step that can change the bottleneck of the task
  std::vector<std::string> reasons;  // reasons for a large distance; empty if it is small
  [[nodiscard]] bool extrapolating() const { return !reasons.empty(); }
  friend bool operator==(const Familiarity&, const Familiarity&) = default;
};

// The effect of a change of one number on the iteration.
struct Sensitivity {
  std::string name;  // a coefficient, or a number of the cluster: "flop_per_s", "link_bytes_per_s", ...
  std::string of;    // device type, link level, framework or "*"
  bool is_hardware = false;
  double elasticity = 0;                 // relative change of the iteration / relative change of the number
  std::optional<double> variance_share;  // coefficients: share of the variance of log(iteration)
  friend bool operator==(const Sensitivity&, const Sensitivity&) = default;
};

struct TaskPrediction {
  double time_s = 0;
  std::optional<Interval> interval_s;  // 90 %, if the coefficients carry their spread
  std::map<Term, double> terms_s;      // on the critical replica and stage; sum to time_s
  int critical_replica = 0;
  int critical_stage = 0;
  double start_s = 0;  // in the timeline of one iteration
  double end_s = 0;
  double queued_s = 0;   // before its start: its inputs are ready, but its devices are busy
  double exposed_s = 0;  // its contribution to the iteration: time_s, less what overlaps longer tasks
  std::vector<DeviceId> devices;
  std::optional<Familiarity> familiarity;  // present if the coefficients carry the experience of the fit

  friend bool operator==(const TaskPrediction&, const TaskPrediction&) = default;
};

// Uncertainty of the memory that a device or a host needs.
struct MemoryTrust {
  Interval needed_bytes;       // 90 %
  double fit_probability = 1;  // probability that the need is at most the capacity

  friend bool operator==(const MemoryTrust&, const MemoryTrust&) = default;
};

// Result of the memory check: fits and does_not_fit require a probability of at least 95 %.
enum class Fit { fits, does_not_fit, uncertain };
[[nodiscard]] Fit fit_of(bool fits, const std::optional<MemoryTrust>& trust);
// Returns "fits", "does not fit" or "uncertain (62 %)", with the probability that it fits.
[[nodiscard]] std::string describe_fit(bool fits, const std::optional<MemoryTrust>& trust);

struct DeviceMemory {
  DeviceId device;
  double capacity_bytes = 0;
  // Weights, gradients and optimizer states of all tasks on this device, and the KV cache that an engine
  // reserves and does not give back while other tasks run.
  double resident_bytes = 0;
  double working_bytes = 0;  // largest activations, other KV cache and buffers of one task
  std::optional<MemoryTrust> trust = std::nullopt;
  [[nodiscard]] double needed_bytes() const { return resident_bytes + working_bytes; }
  [[nodiscard]] bool fits() const { return needed_bytes() <= capacity_bytes; }
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

// Memory that a plan uses on one host: offloaded states and their copies.
struct HostMemory {
  std::string node;
  std::optional<double> capacity_bytes;  // absent: not in the cluster document
  double needed_bytes = 0;
  std::optional<MemoryTrust> trust = std::nullopt;  // absent without a capacity
  [[nodiscard]] bool fits() const { return !capacity_bytes || needed_bytes <= *capacity_bytes; }
  friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

// The mean age of a trained token in weight versions, given the fractions by 0, 1, ... versions
// (Prediction::staleness_fractions). Zero without any.
[[nodiscard]] double mean_staleness(const std::vector<double>& fractions);

struct Prediction {
  static constexpr std::string_view kKind = "prediction";
  static constexpr SchemaVersion kVersion{1, 5};  // 1.1: controller_s, notes; 1.2: data_s; 1.3: staleness;
                                                  // 1.4: weight_sync_interval_s; 1.5: weight_sync_hidden_s

  std::string workflow;  // names
  std::string plan;
  std::string cluster;
  std::string coefficients;  // source: a file, "none" for the bare appendix; empty: unknown
  std::string framework;     // framework whose values were used: a name or "*"; empty: unknown
  double iteration_s = 0;
  std::optional<Interval> iteration_interval_s;
  double sequences_per_s = 0;
  // Resharding or synchronization, whichever applies to the plan, and the part of it that runs beside a training on
  // other devices and adds nothing to the iteration.
  double weight_sync_s = 0, weight_sync_hidden_s = 0;
  std::optional<Interval> weight_sync_interval_s;
  double data_s = 0;         // transfers of data between the devices of tasks
  double controller_s = 0;   // time of an RL framework's controller between the tasks of the iteration
  double rule_reward_s = 0;  // rule-based rewards
  // The fraction of the trained tokens by the number of weight versions by which their weights were older than
  // those that are trained (costmodel/staleness.h). They sum to 1. Empty: all are fresh, or the document does
  // not say.
  std::vector<double> staleness_fractions;
  std::map<std::string, TaskPrediction> tasks;
  std::vector<DeviceMemory> memory;
  std::vector<HostMemory> host_memory;  // nodes that hold offloaded states
  std::string bottleneck;               // one sentence
  std::vector<std::string> notes;       // one sentence per value that the plan leaves out, with the assumption
  std::vector<Sensitivity> sensitivities;  // present on request; largest first

  [[nodiscard]] bool extrapolating() const;  // true if any task is
  [[nodiscard]] bool fits() const;           // true if every device and host does
  // Time by which tasks overlap: the sum of the tasks, the weight sync, the controller and the rewards minus
  // the iteration. Zero if they run one after the other.
  [[nodiscard]] double overlapped_s() const;
  [[nodiscard]] double mean_staleness() const { return sextant::mean_staleness(staleness_fractions); }
  friend bool operator==(const Prediction&, const Prediction&) = default;
  static Prediction parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
