#include "ask/benchmarks/benchmarked_cluster.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/units.h"
#include "sextant/error.h"
#include "sextant/provenance.h"
#include "sextant/statistics.h"

namespace sextant::inline ask {
namespace {

// Packet headers and protocols take up to 17 %; a larger gap has another cause (as in probes/topology).
constexpr double kGapFraction = 0.25;

struct Parts {
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  std::map<LinkLevel, LinkRate> levels;
};

Quantity quantity_of(const LinkBenchmark& link, double parts, const std::string& source) {
  Quantity quantity = measured(median(link.bytes_per_s) / parts, relative_spread(link.bytes_per_s),
                               link.what + " (" + source + ")");
  quantity.time_utc = time_utc_now();
  return quantity;
}

// "189 GB/s of 400 GB/s: 47 %, as much as 3.8 of 8 adapters".
std::string compared(const std::string& where, double measured_rate, double expected_rate, int adapters,
                     Source source) {
  const double fraction = measured_rate / expected_rate;
  std::string out = where + ": measured " + format_bytes_per_s(measured_rate) + ", " +
                    (source == Source::measured ? "measured before " : "expected ") +
                    format_bytes_per_s(expected_rate) + ": " + format_percent(fraction, 0);
  if (fraction > 1 - kGapFraction) return out + ", as it should be";
  if (adapters > 1) {
    constexpr double kTenth = 10;
    out += ", as much as " + format_number(std::round(fraction * adapters * kTenth) / kTenth) + " of " +
           std::to_string(adapters) + " adapters";
  }
  return out +
         "; less than three quarters have a cause other than headers (adapters that are not used, a slow "
         "cable, "
         "PCIe, settings of NCCL)";
}

LinkRate& level_of(Parts& parts, LinkLevel level) {
  const auto found = parts.levels.find(level);
  if (found == parts.levels.end())
    throw_bad_input(
        "the cluster has no links of this kind: a benchmark of GPUs in a node needs several in it, and one "
        "between nodes several nodes, for example --gpus 2x8xH100");
  return found->second;
}

std::string set_network(const LinkBenchmark& link, LinkLevel level, const std::string& source, Parts& parts) {
  LinkRate& rate = level_of(parts, level);
  const int gpus = parts.nodes.front().devices;
  const double before = rate.bytes_per_s.value;
  const Source before_is = rate.bytes_per_s.source;
  const bool is_far = level != LinkLevel::within_zone;
  const bool is_shared = link.is_of_node && !is_far && link.gpus_per_node > 0;
  const double total = median(link.bytes_per_s);
  rate.bytes_per_s = quantity_of(link, is_shared ? gpus : 1, source);
  if (link.latency_s) rate.latency_s = measured(*link.latency_s, 0, link.what + " (" + source + ")");
  if (link.latency_s) rate.latency_s.time_utc = rate.bytes_per_s.time_utc;
  if (is_far) {
    rate.capacity_bytes_per_s = rate.bytes_per_s;
    return compared("between the places", total, before, 1, before_is);
  }
  double expected = before * (link.is_of_node ? gpus : 1);
  if (link.is_of_node) {
    const auto& of_node = parts.nodes.front().network_bytes_per_s;
    if (of_node) expected = *of_node;
    for (Node& node : parts.nodes) node.network_bytes_per_s = total;
  }
  return compared(link.is_of_node ? "between nodes, all GPUs of a node" : "between nodes, one GPU", total,
                  expected, link.is_of_node ? gpus : 1, before_is);
}

std::string set_within(const LinkBenchmark& link, const std::string& source, Parts& parts) {
  LinkRate& rate = level_of(parts, LinkLevel::within_node);
  const LinkRate before = parts.nodes.front().link.value_or(rate);
  rate.latency_s = before.latency_s;
  rate.bytes_per_s = quantity_of(link, 1, source);
  for (Node& node : parts.nodes) node.link.reset();
  return compared("within a node, one GPU", rate.bytes_per_s.value, before.bytes_per_s.value, 1,
                  before.bytes_per_s.source);
}

std::string set_host(const LinkBenchmark& link, const std::string& source, Parts& parts) {
  DeviceType& type = parts.types.begin()->second;
  const Quantity rate = quantity_of(link, 1, source);
  const auto before = std::exchange(type.host_bytes_per_s, rate);
  if (!before) return "between GPU and host: measured " + format_bytes_per_s(rate.value);
  return compared("between GPU and host", rate.value, before->value, 1, before->source);
}

constexpr std::array<std::pair<std::string_view, LinkLevel>, 3> kOuterLevels{
    {{"within_zone", LinkLevel::within_zone},
     {"within_region", LinkLevel::within_region},
     {"between_regions", LinkLevel::between_regions}}};

}  // namespace

LinkLevel outer_level(const std::string& name) {
  for (const auto& [known, level] : kOuterLevels) {
    if (known == name) return level;
  }
  throw_bad_input("--level " + name + ": expected within_zone, within_region or between_regions");
}

std::string cluster_words_of(const LinkBenchmark& link, const Facts& facts) {
  const GpuInText found = facts.gpu_in(link.gpu);
  const bool is_stated = !link.gpu.empty() && found.failure_reason.empty();
  if (link.nodes < 1 || link.gpus_per_node < 1 || !is_stated)
    throw_bad_input("the benchmark does not say which GPUs the cluster has" +
                    (link.gpu.empty() ? "" : " (" + found.failure_reason + ")") +
                    ": add --gpus, for example --gpus 2x8xH100, or --cluster");
  return std::to_string(link.nodes) + "x" + std::to_string(link.gpus_per_node) + "x" + found.name;
}

BenchmarkedCluster with_benchmark(const Cluster& base, const LinkBenchmark& link, LinkLevel level,
                                  const std::string& source) {
  Parts parts{base.device_types(), base.nodes(), base.levels()};
  if (parts.types.size() != 1)
    throw_bad_input("the cluster has several types of GPUs: give the benchmark one of them at a time");
  std::string verdict;
  switch (link.link) {
    case BenchmarkedLink::within_node:
      verdict = set_within(link, source, parts);
      break;
    case BenchmarkedLink::between_nodes:
      verdict = set_network(link, level, source, parts);
      break;
    case BenchmarkedLink::host_and_device:
      verdict = set_host(link, source, parts);
      break;
  }
  Cluster cluster(base.name(), parts.types, parts.nodes, parts.levels, base.exceptions());
  cluster.set_environment(base.environment());
  return {std::move(cluster), {verdict + " (" + link.what + ")"}};
}

}  // namespace sextant::inline ask
