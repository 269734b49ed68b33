// What the fit finds: the coefficients that turn the appendix's bounds into predictions.
//
// Every coefficient is declared once, in coefficient_table(). All are neutral by default, and with all of
// them neutral the model is HetRL's Appendix B to the last digit.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/document.h"
#include "core/json.h"

namespace sextant {

enum class CoefficientId : int {
  prefill_efficiency,
  inference_efficiency,
  training_efficiency,
  attention_weight,
  activation_traffic_weight,
  layer_overhead_s,
  recompute_flop_weight,
  decode_bandwidth_efficiency,
  decode_flop_weight,
  decode_kv_read_weight,
  decode_layer_overhead_s,
  decode_latency_weight,
  decode_serialization_weight,
  pipeline_fill_weight,
  bubble_slowest_weight,
  tensor_parallel_efficiency,
  pipeline_parallel_efficiency,
  data_parallel_efficiency,
  optimizer_traffic_weight,
  weight_sync_efficiency,
  weight_copy_weight,
  link_latency_scale,
  task_overhead_s,
  sequence_overhead_s,
  iteration_overhead_s,
  task_overlap,
};
inline constexpr int kCoefficientCount = static_cast<int>(CoefficientId::task_overlap) + 1;

// How the fit moves a coefficient: by factors, or by differences where zero is neutral.
enum class CoefficientScale { logarithmic, linear };

struct CoefficientSpec {
  CoefficientId id;
  std::string_view name;
  std::string_view unit;  // "1" for a pure number
  double neutral;         // the appendix
  double lower;           // bounds of the fit
  double upper;
  double prior;            // where the fit starts and is drawn to without evidence
  double prior_deviation;  // of log(value) when logarithmic, else of the value
  CoefficientScale scale;
  bool by_device_type;  // one value a device type, or one for all
  std::string_view help;
};

// In the order of CoefficientId.
[[nodiscard]] std::span<const CoefficientSpec> coefficient_table();
[[nodiscard]] const CoefficientSpec& spec_of(CoefficientId id);

inline constexpr std::string_view kAny = "*";

struct Coefficient {
  CoefficientId id = CoefficientId::prefill_efficiency;
  std::string device_type{kAny};  // whose, or "*"
  std::string framework{kAny};    // whose, or "*"
  double value = 1;
  double prior = 1;                      // what the fit was drawn to
  std::optional<double> standard_error;  // of log(value) when logarithmic, else of the value
  std::optional<double> low;             // 90 % interval
  std::optional<double> high;
  bool identified = false;  // false: the runs hardly moved it and the prior stands
  bool at_bound = false;

  friend bool operator==(const Coefficient&, const Coefficient&) = default;
};

// How the fit went; absent from coefficients that nobody fitted.
struct FitSummary {
  std::vector<std::string> runs;  // names of the runs that the fit saw
  int residuals = 0;
  bool converged = false;
  std::string message;  // why it stopped
  double initial_cost = 0;
  double final_cost = 0;
  double task_log_deviation = 0;       // spread of log(predicted / measured) in sample, task times
  double iteration_log_deviation = 0;  // same, iteration times

  friend bool operator==(const FitSummary&, const FitSummary&) = default;
};

struct Coefficients {
  static constexpr std::string_view kKind = "coefficients";
  static constexpr SchemaVersion kVersion{1, 0};

  std::vector<Coefficient> values;  // those that differ from neutral or were fitted
  std::optional<FitSummary> fit;

  // The most specific entry: device type and framework, device type, framework, "*"; else the neutral value.
  [[nodiscard]] double value(CoefficientId id, std::string_view device_type = kAny,
                             std::string_view framework = kAny) const;

  friend bool operator==(const Coefficients&, const Coefficients&) = default;
  static Coefficients parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
