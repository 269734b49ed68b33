// HetRL's testbed (section 5.1): 24 A100, 24 L40S and 16 L4 in four networks.
#pragma once

#include <array>
#include <string_view>

#include "sextant/cluster.h"

namespace sextant::inline calibrate {

class Facts;

enum class HetrlNetwork { single_region, multi_region_hybrid, multi_country, multi_continent };
inline constexpr std::array kHetrlNetworks = {HetrlNetwork::single_region, HetrlNetwork::multi_region_hybrid,
                                              HetrlNetwork::multi_country, HetrlNetwork::multi_continent};
[[nodiscard]] std::string_view name_of(HetrlNetwork network);  // "multi-country"

// The interpretation of "0.9 to 5 Gbps" between regions.
enum class HetrlLinks {
  per_pair,    // the rate of every two GPUs, however many others send at the same time
  per_region,  // the rate that all GPUs of two regions share
};

[[nodiscard]] Cluster hetrl_cluster(const Facts& facts, HetrlNetwork network,
                                    HetrlLinks links = HetrlLinks::per_pair);
// Returns a cluster of its A100s alone, in one region (Figure 10).
[[nodiscard]] Cluster hetrl_a100s(const Facts& facts);

}  // namespace sextant::inline calibrate
