#include "probes/assembly/cluster_assembly.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "probes/assembly/cluster_links.h"
#include "probes/assembly/cluster_outliers.h"
#include "probes/assembly/device_types.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

struct Placement {
  std::vector<Node> nodes;
  std::vector<std::string> device_of_rank;  // "node/3"
  std::vector<DeviceId> id_of_rank;
  std::vector<std::size_t> node_of_rank;
};

Placement place_ranks(const ClusterPlace& place, const std::vector<RankReport>& reports) {
  Placement placement;
  std::map<std::string, std::size_t> node_of_host;
  for (const RankReport& report : reports) {
    const auto [found, is_new] = node_of_host.try_emplace(report.host, placement.nodes.size());
    if (is_new) {
      Node node;
      node.name = report.host;
      const HostPlace where = place.hosts.of(report.host);
      node.region = where.region;
      node.zone = where.zone;
      node.device_type = device_type_name(report);
      if (report.host_memory_bytes > 0) node.host_memory_bytes = report.host_memory_bytes;
      node.devices = 0;
      placement.nodes.push_back(node);
    }
    Node& node = placement.nodes[found->second];
    placement.node_of_rank.push_back(found->second);
    placement.id_of_rank.push_back({node.devices});
    placement.device_of_rank.push_back(node.name + "/" + std::to_string(node.devices++));
  }
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    for (std::size_t node = 0; node < placement.node_of_rank[rank]; ++node) {
      placement.id_of_rank[rank].value += placement.nodes[node].devices;
    }
  }
  return placement;
}

void warn_of_order(const Placement& placement, std::vector<std::string>& warnings) {
  for (std::size_t rank = 0; rank < placement.id_of_rank.size(); ++rank) {
    if (placement.id_of_rank[rank].index() == rank) continue;
    warnings.push_back("ranks are not numbered consecutively on each host (rank " + std::to_string(rank) +
                       " is device " + placement.device_of_rank[rank] +
                       "), but devices of a plan are: start the job with --map-by slot (mpirun) or "
                       "--distribution=block (srun).");
    return;
  }
}

void warn_of_shared_cpus(const std::vector<RankReport>& reports, std::vector<std::string>& warnings) {
  std::map<std::pair<std::string, int>, int> first_rank;
  for (const RankReport& report : reports) {
    if (!report.cpu) continue;
    const auto [found, is_new] = first_rank.try_emplace({report.host, *report.cpu}, report.rank);
    if (is_new) continue;
    warnings.push_back("ranks " + std::to_string(found->second) + " and " + std::to_string(report.rank) +
                       " of " + report.host + " share CPU " + std::to_string(*report.cpu) +
                       ": each gets half of it. Start at most one rank for each CPU.");
  }
}

// One warning for each setting that is not the same everywhere.
void warn_of_settings(const std::vector<RankReport>& reports, std::vector<std::string>& warnings) {
  std::vector<std::pair<std::string, NetworkSettings>> of_ranks;
  for (const RankReport& report : reports) of_ranks.emplace_back(report.host, report.settings);
  for (const auto& [name, by_value] : different_settings(of_ranks)) {
    std::string seen;
    for (const auto& [value, ranks] : by_value) seen += (seen.empty() ? "" : ", ") + value;
    warnings.push_back(name + " is not the same on all ranks (" + seen +
                       "): ranks may fail to connect, or link rates may depend on the rank that connects. "
                       "Export the same value to all ranks.");
  }
}

std::vector<PlacedRank> placed_ranks(const Placement& placement) {
  std::vector<PlacedRank> ranks;
  for (std::size_t rank = 0; rank < placement.device_of_rank.size(); ++rank) {
    const Node& node = placement.nodes[placement.node_of_rank[rank]];
    ranks.push_back({node.name, placement.device_of_rank[rank], node.zone, node.region});
  }
  return ranks;
}

}  // namespace

bool is_odd(const LinkRate& one, const LinkRate& usual) {
  const auto is_off = [](const Quantity& a, const Quantity& b) {
    return std::abs(a.value / b.value - 1) > kOddLinkFraction;
  };
  return is_off(one.latency_s, usual.latency_s) || is_off(one.bytes_per_s, usual.bytes_per_s);
}

Quantity median_quantity(const std::vector<double>& values, const std::vector<double>& spreads,
                         const std::string& note) {
  const double between = values.size() > 1 ? relative_spread(values) : 0.0;
  return measured(median(values), std::max(median(spreads), between), note);
}

DifferentSettings different_settings(const std::vector<std::pair<std::string, NetworkSettings>>& settings_of) {
  DifferentSettings all;
  for (const auto& [who, settings] : settings_of) {
    for (const auto& [name, value] : settings) all[name];
  }
  all.erase("CUDA_VISIBLE_DEVICES");  // launchers give each rank or host its own
  for (auto& [name, by_value] : all) {
    for (const auto& [who, settings] : settings_of) {
      const auto found = settings.find(name);
      by_value[found == settings.end() ? "not set" : "\"" + found->second + "\""].push_back(who);
    }
  }
  std::erase_if(all, [](const auto& setting) { return setting.second.size() < 2; });
  return all;
}

std::vector<LinkMeasurement> links_of(const std::vector<RankReport>& reports, const std::string& link_prefix) {
  std::vector<ProbeResult> points;
  for (const RankReport& report : reports) {
    for (const ProbeResult& result : report.results) {
      if (result.peer >= 0 && result.name.starts_with(link_prefix)) points.push_back(result);
    }
  }
  return fit_links(points);
}

AssembledCluster assemble_cluster(const ClusterPlace& place, const std::vector<RankReport>& reports,
                                  const std::string& link_prefix, const KindOfPair& kind_of_pair) {
  AssembledCluster assembled;
  auto types = assemble_device_types(reports, assembled.warnings);
  Placement placement = place_ranks(place, reports);
  const bool is_of_gpus = !reports.empty() && reports.front().is_gpu();
  const std::vector<PlacedRank> ranks = placed_ranks(placement);
  const std::vector<LinkMeasurement> measurements = links_of(reports, link_prefix);
  ClusterLinks links = assemble_links(ranks, measurements, {kind_of_pair, !is_of_gpus, place.is_partial});
  warn_of_order(placement, assembled.warnings);
  warn_of_shared_cpus(reports, assembled.warnings);
  for (const auto& more : {links.warnings, describe_odd_links(ranks, measurements)}) {
    assembled.warnings.insert(assembled.warnings.end(), more.begin(), more.end());
  }
  assembled.device_of_rank = placement.id_of_rank;
  assembled.cluster = Cluster(place.name, std::move(types), std::move(placement.nodes), std::move(links.levels),
                              std::move(links.exceptions));
  if (!reports.empty()) assembled.cluster.set_environment(reports.front().settings);
  warn_of_settings(reports, assembled.warnings);
  return assembled;
}

}  // namespace sextant::inline probes
