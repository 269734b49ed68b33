#include "lab/claims/shared_priors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/claims/public_fit.h"
#include "sextant/fit.h"

namespace sextant::inline lab {
namespace {

using enum CoefficientId;

constexpr std::array<CoefficientId, 11> kOfEngines{
    prefill_efficiency,    prefill_attention_weight, decode_bandwidth_efficiency,  decode_flop_weight,
    decode_kv_read_weight, expert_read_weight,       expert_narrow_columns,        roofline_sharing,
    peak_rate_exponent,    decode_latency_weight,    decode_graph_layer_overhead_s};

constexpr std::array<CoefficientId, 7> kOfTrainers{
    training_efficiency,       attention_weight, expert_flop_weight,        gemm_traffic_weight,
    activation_traffic_weight, layer_overhead_s, tensor_parallel_efficiency};

// Kernels change by this much from one release of an engine or a trainer to another: releases of NeMo RL differ
// by 4 to 21 % in whole steps of one configuration.
constexpr double kOfReleases = 0.15;

// The host code of a framework adds this to the launches of a layer.
constexpr double kOfHosts = 0.5;

double deviation_of(const Coefficient& fitted) {
  const CoefficientSpec& spec = spec_of(fitted.id);
  const double known = fitted.standard_error.value_or(spec.prior_deviation);
  if (spec.scale == CoefficientScale::linear) return std::max(known, 0.5 * spec.prior_deviation);
  return std::hypot(known, fitted.id == layer_overhead_s ? kOfHosts : kOfReleases);
}

// Appends the values for a framework, or those for all if the coefficient does not distinguish frameworks.
void append(const Coefficients& fitted, std::span<const CoefficientId> ids, const std::string& framework,
            Coefficients& priors) {
  for (const CoefficientId id : ids) {
    const Coefficient* found = nullptr;
    for (const Coefficient& entry : fitted.values) {
      if (entry.id != id || entry.device_type != kAny) continue;
      if (entry.framework == framework || (entry.framework == kAny && !found)) found = &entry;
    }
    if (!found) continue;
    Coefficient prior;
    prior.id = id;
    prior.value = found->value;
    prior.standard_error = deviation_of(*found);
    priors.values.push_back(std::move(prior));
  }
}

Coefficients fit_to_all(const Runs& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs.runs) names.push_back(run.name);
  return fit_coefficients(runs, names);
}

}  // namespace

Coefficients priors_from_parts(const Coefficients& engines, const Coefficients& trainers) {
  Coefficients priors;
  append(engines, kOfEngines, "vllm", priors);
  append(trainers, kOfTrainers, std::string(kAny), priors);
  return priors;
}

const Coefficients& priors_of_iterations(const ClaimContext& context) {
  if (context.iteration_priors) return *context.iteration_priors;
  context.say("priors of RL iterations: fits to serving points and training steps");
  const std::map<std::string, Runs> runs = public_runs(context);
  context.iteration_priors = std::make_shared<const Coefficients>(
      priors_from_parts(fit_to_all(runs.at("generation")), fit_to_all(runs.at("training steps"))));
  return *context.iteration_priors;
}

}  // namespace sextant::inline lab
