// Assembles a Cluster from the measurements of the ranks: a pure function, the same on every rank.
//
// Each rank is one device, each host one node. Hosts of the same CPU model share a device type with the median
// of its ranks' rates; links of a level have the median of its pairs, and pairs far from it become exceptions.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "probes/link/link_probe.h"
#include "probes/report/rank_report.h"
#include "probes/schedule/host_places.h"
#include "probes/schedule/rank_pairs.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

// A device this far from its type's median is reported in a warning.
inline constexpr double kOddDeviceFraction = 0.10;
// A pair this far from its level's median, in latency or bandwidth, becomes an exception.
inline constexpr double kOddLinkFraction = 0.25;

// Returns whether latency or bandwidth are that far apart.
[[nodiscard]] bool is_odd(const LinkRate& one, const LinkRate& usual);

// Returns the median of measurements of equal things. Its spread is the median of theirs, or the one between them
// if that is larger.
[[nodiscard]] Quantity median_quantity(const std::vector<double>& values, const std::vector<double>& spreads,
                                       const std::string& note);

// Settings that are not the same everywhere: by name and by value in quotes, or "not set", who has it.
using DifferentSettings = std::map<std::string, std::map<std::string, std::vector<std::string>>>;
[[nodiscard]] DifferentSettings different_settings(
    const std::vector<std::pair<std::string, NetworkSettings>>& settings_of);

// Messages between MPI ranks, and peer copies by the copy engine.
inline constexpr const char* kLinkPrefix = "link/";

// "Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz" is "intel-xeon-platinum-8480c-core".
[[nodiscard]] std::string device_type_name(const std::string& cpu_model);
// Returns the type name of a rank's device: as above for a core; "NVIDIA H200" is "nvidia-h200".
[[nodiscard]] std::string device_type_name(const RankReport& report);

struct ClusterPlace {
  std::string name = "local";
  HostPlaces hosts;
  // Set for the results of an interrupted probe: levels without a link are then assumed (cluster_links.h).
  bool is_partial = false;
};

struct AssembledCluster {
  Cluster cluster;
  std::vector<DeviceId> device_of_rank;
  std::vector<std::string> warnings;
};

// Reports are by rank; links are those of the points whose name begins with link_prefix. The environment is
// rank 0's, and settings that differ between ranks are reported in a warning. Throws Error(machine) if a rank
// lacks a required value: fp32 GEMM rate, (for a GPU any) GEMM rate, read bandwidth, memory; or if a level
// (within nodes, between them) has pairs but no link could be fitted. Other pairs without a fit get the values
// measured for similar pairs, with a warning (cluster_links.h).
[[nodiscard]] AssembledCluster assemble_cluster(const ClusterPlace& place,
                                                const std::vector<RankReport>& reports,
                                                const std::string& link_prefix = kLinkPrefix,
                                                const KindOfPair& kind_of_pair = {});

// Returns the fitted links of the reports' points, by pair.
[[nodiscard]] std::vector<LinkMeasurement> links_of(const std::vector<RankReport>& reports,
                                                    const std::string& link_prefix = kLinkPrefix);

// Returns the rate that represents a precision: the fastest product that is named by its size ("8192",
// "8192_nt", "8192x28672x8192"), not one of a model; nullptr if none has a value.
[[nodiscard]] const ProbeResult* peak_gemm(const std::vector<ProbeResult>& results, Precision precision);

}  // namespace sextant::inline probes
