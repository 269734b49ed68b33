// Measured iterations, with everything needed to predict them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/document.h"
#include "sextant/json.h"
#include "sextant/plan.h"
#include "sextant/statistics.h"
#include "sextant/workflow.h"

namespace sextant {

// Repeated measurements of one duration.
struct Timing {
  std::vector<double> samples_s;  // every sample kept, in order

  [[nodiscard]] bool empty() const { return samples_s.empty(); }
  [[nodiscard]] double median_s() const { return median(samples_s); }
  [[nodiscard]] double spread_fraction() const { return relative_spread(samples_s); }
  friend bool operator==(const Timing&, const Timing&) = default;
};

// A quantity that affects the time but that a source does not state. The fit treats it as a parameter with a
// prior around the value that the workflow or plan assumes; runs of one group share it. Values and deviations:
enum class UnstatedQuantity {
  response_tokens,         // mean response length: logarithm of its factor
  recompute,               // recomputation beyond the plan's: share, from 0 to 1
  decode_batch_sequences,  // an engine's maximum decode batch: logarithm of the factor on the plan's
  memory_share,            // memory for weights and KV cache: share of a device's beyond the plan's
  prefill_chunk_tokens,    // prompt tokens that pass at once: logarithm of the factor on the plan's
  rule_reward_s,           // seconds of a rule-based reward a sequence, beyond the workflow's
};

struct Unstated {
  UnstatedQuantity quantity = UnstatedQuantity::response_tokens;
  std::string group;
  double deviation = 0.3;

  friend bool operator==(const Unstated&, const Unstated&) = default;
};

enum class RunSource { proxy, trace, import, published };

struct Run {
  std::string name;     // unique in its document
  std::string cluster;  // keys into the Runs document
  std::string workflow;
  std::string plan;
  RunSource source = RunSource::proxy;
  std::string framework;  // executing framework: "sextant-proxy", "verl-fsdp", ...
  Timing iteration;       // wall time of whole iterations; empty: not measured
  // The next three members are times by the kind of timer.
  // Working time without waiting, by task name, plus "weight_sync". The key of a timer that covers several
  // tasks joins their names with a plus sign: "actor_generation+weight_sync".
  std::map<std::string, Timing> tasks;
  // Working time plus the wait for busy devices after the inputs are ready: timers of a driver that calls
  // several tasks concurrently.
  std::map<std::string, Timing> elapsed;
  // Time by which the iteration is longer because it waits for the task: an asynchronous trainer's timer of
  // generation. Compared but not fitted, because iteration and task times already contain it.
  std::map<std::string, Timing> waits;
  std::optional<double> peak_memory_bytes;  // maximum over devices
  std::vector<Unstated> unstated;
  std::map<std::string, std::string> notes;  // free text: stopping reason, warnings, citation

  friend bool operator==(const Run&, const Run&) = default;
};

inline constexpr const char* kWeightSync = "weight_sync";

// Splits the name of a timer at its plus signs.
[[nodiscard]] std::vector<std::string> parts_of_timer(const std::string& name);

// A document with runs, and the clusters, workflows and plans that they refer to by name.
struct Runs {
  static constexpr std::string_view kKind = "runs";
  static constexpr SchemaVersion kVersion{1, 1};

  std::map<std::string, Cluster> clusters;
  std::map<std::string, Workflow> workflows;
  std::map<std::string, Plan> plans;
  std::vector<Run> runs;

  [[nodiscard]] const Cluster& cluster_of(const Run& run) const { return clusters.at(run.cluster); }
  [[nodiscard]] const Workflow& workflow_of(const Run& run) const { return workflows.at(run.workflow); }
  [[nodiscard]] const Plan& plan_of(const Run& run) const { return plans.at(run.plan); }

  friend bool operator==(const Runs&, const Runs&) = default;
  static Runs parse(const JsonView& view);  // checks every plan against its cluster and workflow
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
