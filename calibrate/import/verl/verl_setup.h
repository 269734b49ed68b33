// Reads plan and workload from a verl configuration, by verl's own option names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/measured_iteration.h"
#include "core/json_value.h"

namespace sextant::inline calibrate {

// Options by dotted name. A value of an unexpected type counts as absent, because people paste
// configurations.
class VerlConfig {
 public:
  explicit VerlConfig(std::map<std::string, Json> options) : options_(std::move(options)) {}

  [[nodiscard]] bool empty() const { return options_.empty(); }
  [[nodiscard]] bool has(const std::string& option) const { return options_.contains(option); }
  [[nodiscard]] std::optional<int> count(const std::string& option) const;  // from 1 to a million
  [[nodiscard]] std::optional<double> number(const std::string& option) const;
  [[nodiscard]] std::optional<bool> flag(const std::string& option) const;
  [[nodiscard]] std::string text(const std::string& option) const;  // empty: absent

 private:
  std::map<std::string, Json> options_;
};

// The tasks that occur in a log, found by their timers.
struct VerlTasks {
  bool has_reference = false;
  bool has_critic = false;
};

[[nodiscard]] bool is_megatron(const VerlConfig& config);
[[nodiscard]] std::string verl_model(const VerlConfig& config);  // empty: not stated

// Facts that a plan needs and the configuration does not state, such as "the batch". `gpus`: null if not stated.
[[nodiscard]] std::vector<std::string> what_lacks(const VerlConfig& config, std::optional<int> gpus);

// Sets batch, framework, tasks with their layouts, and unstated quantities; name, GPU and number of GPUs must
// be set. Returns why the layouts are impossible; empty if they are possible.
[[nodiscard]] std::string apply_config(const VerlConfig& config, const VerlTasks& tasks,
                                       MeasuredIteration& iteration);

}  // namespace sextant::inline calibrate
