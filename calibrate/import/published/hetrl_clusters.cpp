#include "calibrate/import/published/hetrl_clusters.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "documents/values/names.h"

namespace sextant::inline calibrate {
namespace {

constexpr int kDevicesOfNode = 8;
constexpr double kGbit = 1e9 / 8;  // bytes

// Table 1. "Intra" is taken for both directions together: 600 GB/s are those of an A100's NVLink.
struct HetrlGpu {
  const char* name;  // as in data/gpus.json, for its coefficients
  int nodes;
  double memory_bytes;
  double flop_per_s;
  double memory_bytes_per_s;
  double within_node_bytes_per_s;
  double network_bytes_per_s;  // of a node; not in the paper: of AWS machines with eight of them
};
constexpr std::array kGpus = {
    HetrlGpu{"A100-SXM-40GB", 3, 40e9, 312e12, 2039e9, 600e9 / 2, 400 * kGbit},  // p4d.24xlarge
    HetrlGpu{"L40S", 3, 48e9, 366e12, 864e9, 64e9 / 2, 400 * kGbit},             // g6e.48xlarge
    HetrlGpu{"L4", 2, 24e9, 121e12, 300e9, 64e9 / 2, 100 * kGbit}};              // g6.48xlarge

constexpr const char* kTable = "HetRL (He et al.), Table 1";
constexpr double kNetworkLatency_s = 20e-6;  // of EFA, about
constexpr std::array<std::string_view, 4> kNames = {"single-region", "multi-region-hybrid", "multi-country",
                                                    "multi-continent"};

DeviceType type_of(const HetrlGpu& gpu, const Facts& facts) {
  DeviceType type = facts.gpu(gpu.name).type;
  type.memory_bytes = datasheet(gpu.memory_bytes, kTable);
  type.memory_bytes_per_s = datasheet(gpu.memory_bytes_per_s, kTable);
  for (const Precision precision : {Precision::bf16, Precision::fp16})
    type.flop_per_s[precision] = datasheet(gpu.flop_per_s, kTable);
  return type;
}

Node node_of(const HetrlGpu& gpu, int number, const Facts& facts) {
  Node node;
  node.name = std::string(gpu.name) + "-" + std::to_string(number);
  node.region = node.zone = "region";
  node.device_type = gpu.name;
  node.devices = kDevicesOfNode;
  // A measured latency comes from another machine, so it counts as assumed here.
  const Quantity& latency_s = facts.gpu(gpu.name).within_node.latency_s;
  node.link = LinkRate{assumed(latency_s.value, latency_s.note.value_or("")),
                       datasheet(gpu.within_node_bytes_per_s, kTable)};
  node.network_bytes_per_s = gpu.network_bytes_per_s;
  return node;
}

LinkRate rate(double latency_s, double bytes_per_s, const char* note) {
  return {assumed(latency_s, note), assumed(bytes_per_s, note)};
}

// Between machines of a region a GPU has its share of the adapters of an A100's machine.
std::map<LinkLevel, LinkRate> levels(const LinkRate& between_regions) {
  const LinkRate network = rate(kNetworkLatency_s, kGpus[0].network_bytes_per_s / kDevicesOfNode, "AWS EFA");
  const LinkRate inner = rate(kNetworkLatency_s, kGpus[1].within_node_bytes_per_s, kTable);  // no node uses it
  return {{LinkLevel::within_node, inner},
          {LinkLevel::within_zone, network},
          {LinkLevel::within_region, network},
          {LinkLevel::between_regions, between_regions}};
}

std::vector<Node> nodes_of(std::size_t types, const Facts& facts) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < types; ++i) {
    for (int number = 0; number < kGpus[i].nodes; ++number) nodes.push_back(node_of(kGpus[i], number, facts));
  }
  return nodes;
}

std::map<std::string, DeviceType> types_of(std::size_t types, const Facts& facts) {
  std::map<std::string, DeviceType> all;
  for (std::size_t i = 0; i < types; ++i) all.emplace(kGpus[i].name, type_of(kGpus[i], facts));
  return all;
}

void move_to(Node& node, const std::string& region, const std::string& zone) {
  node.region = region;
  node.zone = zone;
}

// Section 5.1, scenario 2.
Cluster hybrid(const Facts& facts) {
  constexpr double kInterRegion_s = 10e-3, kInterRegion = 5 * kGbit, kEdge = 1 * kGbit;
  constexpr double kEdgeLatency_s = 1e-3;  // not in the paper
  const std::string edge = "virginia-edge";
  std::vector<Node> nodes = nodes_of(kGpus.size(), facts);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // Every second machine, so that both regions have some of each type; the last is the edge.
    const std::string region = i % 2 == 0 ? "ohio" : "virginia";
    move_to(nodes[i], region, i + 1 == nodes.size() ? edge : region);
  }
  const char* note = "HetRL (He et al.), section 5.1, scenario 2";
  return Cluster("hetrl multi-region-hybrid", types_of(kGpus.size(), facts), nodes,
                 levels(rate(kInterRegion_s, kInterRegion, note)),
                 {{LinkScope::zone, edge, "virginia", rate(kEdgeLatency_s, kEdge, note)},
                  {LinkScope::zone, edge, "ohio", rate(kInterRegion_s + kEdgeLatency_s, kEdge, note)}});
}

struct City {
  const char* name;
  double north, east;  // degrees
};
constexpr City kParis{"paris", 48.86, 2.35}, kStockholm{"stockholm", 59.33, 18.07},
    kLondon{"london", 51.51, -0.13}, kIreland{"ireland", 53.35, -6.26}, kSpain{"spain", 41.65, -0.88},
    kZurich{"zurich", 47.38, 8.54}, kFrankfurt{"frankfurt", 50.11, 8.68}, kMilan{"milan", 45.46, 9.19},
    kVirginia{"virginia", 39.04, -77.49}, kOhio{"ohio", 39.96, -83.0};

// The distance on a unit sphere.
double distance(const City& a, const City& b) {
  constexpr double kRadian = std::numbers::pi / 180;
  const double angle =
      std::sin(a.north * kRadian) * std::sin(b.north * kRadian) +
      std::cos(a.north * kRadian) * std::cos(b.north * kRadian) * std::cos((a.east - b.east) * kRadian);
  return std::acos(std::clamp(angle, -1.0, 1.0));
}

// The links between regions, as stated in the paper.
struct WideArea {
  double shortest_s, longest_s;
  double slowest, fastest;  // bytes/s
  const char* note;
};

// A machine a region. The nearest two regions have the shortest delay and the fastest link, the farthest the
// longest and slowest, others by distance between them: the paper shows its matrix as a picture only.
Cluster spread(const Facts& facts, HetrlNetwork network, const std::vector<City>& cities,
               const WideArea& wide) {
  std::vector<Node> nodes = nodes_of(kGpus.size(), facts);
  for (std::size_t i = 0; i < nodes.size(); ++i) move_to(nodes[i], cities[i].name, cities[i].name);
  double minimum = std::numeric_limits<double>::infinity(), maximum = 0;
  for (std::size_t i = 0; i < cities.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      minimum = std::min(minimum, distance(cities[i], cities[j]));
      maximum = std::max(maximum, distance(cities[i], cities[j]));
    }
  }
  const auto between = [&](double share) {
    return rate(std::lerp(wide.shortest_s, wide.longest_s, share), std::lerp(wide.fastest, wide.slowest, share),
                wide.note);
  };
  std::vector<LinkException> links;
  for (std::size_t i = 0; i < cities.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double share = (distance(cities[i], cities[j]) - minimum) / (maximum - minimum);
      links.push_back({LinkScope::region, cities[i].name, cities[j].name, between(share)});
    }
  }
  return Cluster("hetrl " + std::string(name_of(network)), types_of(kGpus.size(), facts), nodes,
                 levels(between(1)), links);
}

// The rate of each pair becomes what all pairs have together.
Cluster with_capacities(const Cluster& cluster) {
  std::map<LinkLevel, LinkRate> levels = cluster.levels();
  LinkRate& between = levels.at(LinkLevel::between_regions);
  between.capacity_bytes_per_s = between.bytes_per_s;
  std::vector<LinkException> exceptions = cluster.exceptions();
  for (LinkException& exception : exceptions) exception.rate.capacity_bytes_per_s = exception.rate.bytes_per_s;
  return Cluster(cluster.name() + ", shared links", cluster.device_types(), cluster.nodes(), levels,
                 exceptions);
}

Cluster cluster_of_pairs(const Facts& facts, HetrlNetwork network) {
  switch (network) {
    case HetrlNetwork::single_region:
      break;
    case HetrlNetwork::multi_region_hybrid:
      return hybrid(facts);
    case HetrlNetwork::multi_country:
      return spread(facts, network,
                    {kParis, kStockholm, kLondon, kIreland, kSpain, kZurich, kFrankfurt, kMilan},
                    {5e-3, 30e-3, 1.9 * kGbit, 5.0 * kGbit, "HetRL (He et al.), section 5.1, scenario 3"});
    case HetrlNetwork::multi_continent:
      return spread(facts, network,
                    {kVirginia, kOhio, kParis, kStockholm, kLondon, kIreland, kFrankfurt, kMilan},
                    {5e-3, 60e-3, 0.9 * kGbit, 5.0 * kGbit, "HetRL (He et al.), section 5.1, scenario 4"});
  }
  const LinkRate none = rate(kNetworkLatency_s, kGpus[0].network_bytes_per_s / kDevicesOfNode, "one region");
  return Cluster("hetrl single-region", types_of(kGpus.size(), facts), nodes_of(kGpus.size(), facts),
                 levels(none));
}

}  // namespace

std::string_view name_of(HetrlNetwork network) { return name_in(kNames, network); }

Cluster hetrl_cluster(const Facts& facts, HetrlNetwork network, HetrlLinks links) {
  const Cluster cluster = cluster_of_pairs(facts, network);
  const bool is_shared = links == HetrlLinks::per_region && network != HetrlNetwork::single_region;
  return is_shared ? with_capacities(cluster) : cluster;
}

Cluster hetrl_a100s(const Facts& facts) {
  const LinkRate none = rate(kNetworkLatency_s, kGpus[0].network_bytes_per_s / kDevicesOfNode, "one region");
  return Cluster("hetrl 24 A100", types_of(1, facts), nodes_of(1, facts), levels(none));
}

}  // namespace sextant::inline calibrate
