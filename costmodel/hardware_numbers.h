// The hardware numbers of a cluster on which a prediction depends, one by one, and the gain from improving one
// of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/workflow.h"

namespace sextant::inline costmodel {

struct HardwareNumber {
  std::string name;  // "flop_per_s", "memory_bytes_per_s", "host_bytes_per_s", "network_bytes_per_s",
                     // "link_latency_s", "link_bytes_per_s", "link_capacity_bytes_per_s"; "memory_bytes",
                     // which takes no time, is not listed
  std::string of;    // device type, or level or exception of links: "within_node", "exception of node", ...

  friend bool operator==(const HardwareNumber&, const HardwareNumber&) = default;
};

// Returns all numbers that the cluster states. A device type's rates of all precisions count as one number, and
// so do the exceptions of one scope; links that are a node's own count with "within_node".
[[nodiscard]] std::vector<HardwareNumber> hardware_numbers(const Cluster& cluster);

// Returns the cluster with one number multiplied by a factor.
[[nodiscard]] Cluster with_scaled(const Cluster& cluster, const HardwareNumber& number, double factor);

// Returns the elasticity of the iteration time to every number (central difference of logarithms), largest
// first, without zeros: -0.3 means that 10 % more saves about 3 %.
[[nodiscard]] std::vector<Sensitivity> hardware_sensitivities(const Cluster& cluster, const Workflow& workflow,
                                                              const Plan& plan,
                                                              const Coefficients& coefficients,
                                                              std::string_view framework);

}  // namespace sextant::inline costmodel
