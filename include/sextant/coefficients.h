// The coefficients that a fit determines; they turn the bounds of HetRL's Appendix B into predictions.
//
// Every coefficient is declared once, in coefficient_table(). The default values are neutral: with them the
// model equals Appendix B to the last digit.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/document.h"
#include "sextant/fit_summary.h"
#include "sextant/json.h"

namespace sextant {

enum class CoefficientId : int {
  prefill_efficiency,
  inference_efficiency,
  training_efficiency,
  fp8_efficiency,
  fp4_efficiency,
  peak_rate_exponent,
  roofline_sharing,
  attention_weight,
  portable_attention_weight,
  prefill_attention_weight,
  expert_flop_weight,
  gemm_traffic_weight,
  activation_traffic_weight,
  score_traffic_weight,
  logit_traffic_weight,
  layer_overhead_s,
  lora_overhead_weight,
  micro_batch_overhead_s,
  collective_overhead_s,
  host_sharing,
  recompute_flop_weight,
  decode_bandwidth_efficiency,
  decode_flop_weight,
  decode_kv_read_weight,
  expert_read_weight,
  expert_narrow_columns,
  decode_layer_overhead_s,
  decode_graph_layer_overhead_s,
  decode_step_overhead_s,
  decode_token_overhead_s,
  decode_host_sharing,
  decode_latency_weight,
  decode_serialization_weight,
  pipeline_fill_weight,
  bubble_slowest_weight,
  tensor_parallel_efficiency,
  tensor_parallel_overlap,
  pipeline_parallel_efficiency,
  pipeline_rendezvous_weight,
  pipeline_transfer_overhead_s,
  context_parallel_efficiency,
  context_parallel_overlap,
  expert_parallel_efficiency,
  expert_parallel_overlap,
  expert_layer_overhead_s,
  data_parallel_efficiency,
  data_parallel_overlap,
  weight_gather_overlap,
  optimizer_traffic_weight,
  host_link_efficiency,
  offload_overlap,
  reshard_efficiency,
  weight_sync_efficiency,
  weight_sync_overhead_s,
  weight_sync_tensor_overhead_s,
  weight_sync_packed_weight,
  engine_wake_overhead_s,
  weight_copy_weight,
  link_latency_scale,
  collective_step_weight,
  collective_ramp_weight,
  rail_weight,
  network_efficiency,
  straggler_spread,
  uneven_lengths_weight,
  task_overhead_s,
  call_overhead_s,
  sequence_overhead_s,
  iteration_overhead_s,
  task_overlap,
  memory_state_weight,
  memory_activation_weight,
  memory_logit_weight,
  memory_context_bytes,
};
inline constexpr int kCoefficientCount = static_cast<int>(CoefficientId::memory_context_bytes) + 1;

// The fit changes a coefficient by factors, or by differences if it is a share that may be zero. Fixed times
// and weights use factors although their neutral value is zero, because they span decades.
enum class CoefficientScale { logarithmic, linear };

struct CoefficientSpec {
  CoefficientId id;
  std::string_view name;
  std::string_view unit = "1";  // a pure number
  double neutral = 0;           // value that gives Appendix B
  double lower;                 // bounds of the fit
  double upper;
  double prior;            // where the fit starts, and its value without evidence
  double prior_deviation;  // of log(value) when logarithmic, else of the value
  // The prior for CPU cores if it differs: they launch no kernels and are their own hosts.
  std::optional<double> cpu_prior = std::nullopt;
  CoefficientScale scale = CoefficientScale::logarithmic;
  // Partial pooling: deviation of the logarithm of the value for one device type (or one framework) from the
  // value for all. 0: one value for all.
  double type_deviation = 0;
  double framework_deviation = 0;
  // Source of the prior: a paper, tables, or "judgement" with its reason if nobody measured it. The output of
  // `sextant coefficients --evidence` may have more about a coefficient.
  std::string_view source;
  std::string_view help;

  [[nodiscard]] bool by_device_type() const { return type_deviation > 0; }
  [[nodiscard]] bool by_framework() const { return framework_deviation > 0; }
};

// The specifications in the order of CoefficientId.
[[nodiscard]] std::span<const CoefficientSpec> coefficient_table();
[[nodiscard]] const CoefficientSpec& spec_of(CoefficientId id);
// The prior for CPU cores: `cpu_prior`, or `prior` without it.
[[nodiscard]] double prior_on_cpu(CoefficientId id);

inline constexpr std::string_view kAny = "*";

struct Coefficient {
  CoefficientId id = CoefficientId::prefill_efficiency;
  std::string device_type{kAny};  // one device type, or "*" for all
  std::string framework{kAny};    // one framework, or "*" for all
  double value = 1;
  double prior = 1;  // the prior mean of the fit
  // Width of the prior: deviation of log(value) if logarithmic, otherwise of the value. For the value of one
  // device type or framework: deviation of the logarithm of its ratio to the value for all.
  std::optional<double> prior_error;
  std::optional<double> standard_error;  // of log(value) if logarithmic, otherwise of the value
  std::optional<double> low;             // 90 % interval
  std::optional<double> high;
  bool identified = false;  // false: the runs hardly changed it and the prior remains
  bool at_bound = false;

  // True if the value is at a bound and its prior is not: the runs pushed it there.
  [[nodiscard]] bool is_driven_to_bound() const;

  friend bool operator==(const Coefficient&, const Coefficient&) = default;
};

struct Coefficients {
  static constexpr std::string_view kKind = "coefficients";
  static constexpr SchemaVersion kVersion{1, 1};

  // The coefficients that differ from neutral or were fitted. The first entry of a coefficient is its value for
  // all, and later entries deviate from it. With a single device type the first entry has that type's name.
  std::vector<Coefficient> values;
  std::optional<FitSummary> fit;

  // Returns the entry for both device type and framework, if there is one. Otherwise returns the value for all
  // times the ratios of the device type's and the framework's own values to it. Without any entry: neutral.
  [[nodiscard]] double value(CoefficientId id, std::string_view device_type = kAny,
                             std::string_view framework = kAny) const;

  friend bool operator==(const Coefficients&, const Coefficients&) = default;
  static Coefficients parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

}  // namespace sextant
