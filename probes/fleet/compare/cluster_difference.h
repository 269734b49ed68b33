// Compares two clusters: which devices, nodes and links became worse or better beyond noise.
//
// It compares, by name, device types (rates by precision, memory and its rate, the rate to the host,
// measurements; not prices), nodes (removed, new, other devices, host memory, network) and links
// (link_difference.h); value_change.h defines when a number has changed. If the type of a node's devices has
// another name now, its devices are compared by both types' rates. Different settings are a possible reason,
// never worse.
//
// A cluster has the median of a type's devices and of a level's links, with exceptions only for links: one slow
// device among many is not visible here (outliers.h finds it if it is measured).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "probes/fleet/compare/value_change.h"
#include "sextant/cluster.h"
#include "sextant/document.h"

namespace sextant::inline probes {

struct SettingChange {
  std::string name;
  std::optional<std::string> before;  // absent: not set
  std::optional<std::string> after;

  friend bool operator==(const SettingChange&, const SettingChange&) = default;
};

// One of the documents that were compared.
struct ComparedCluster {
  std::string name;
  std::string time_utc;  // when it was written

  friend bool operator==(const ComparedCluster&, const ComparedCluster&) = default;
};

struct ClusterDifference {
  static constexpr std::string_view kKind = "cluster_difference";
  static constexpr SchemaVersion kVersion{1, 0};

  ComparedCluster before;
  ComparedCluster after;
  double threshold_fraction = 0;
  double false_alarm_fraction = 0;
  std::vector<ValueChange> changes;  // all comparisons, worst first
  std::vector<SettingChange> environment;

  friend bool operator==(const ClusterDifference&, const ClusterDifference&) = default;
  static ClusterDifference parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
  [[nodiscard]] std::size_t count(ChangeVerdict verdict) const;
};

[[nodiscard]] ClusterDifference compare_clusters(const Document<Cluster>& before,
                                                 const Document<Cluster>& after, const ChangeRule& rule = {});

[[nodiscard]] std::string_view name_of(ChangeVerdict verdict);  // "worse"

}  // namespace sextant::inline probes
