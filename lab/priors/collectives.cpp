// Collectives: shares of the links' rates in large messages, latency in small ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "costmodel/terms/collective.h"
#include "lab/priors/evidence_of.h"
#include "lab/priors/shown_values.h"

namespace sextant::inline lab {
namespace {

using enum CoefficientId;
using enum EvidenceRelation;

constexpr const char* kTable = "collectives.csv";
constexpr double kMiB = 1 << 20;
constexpr double kSmall = 1024;  // bytes: latency alone

// One operation of one group of one source.
using Series = std::tuple<std::string, std::string, MeasuredCollective, int, int>;
Series series(const CollectiveRow& row) {
  return {row.source, row.gpu->name, row.kind, row.nodes, row.devices};
}

using Times = std::map<Series, double>;

// Time of the smallest message where it is small.
Times small_times(const std::vector<CollectiveRow>& rows) {
  std::map<Series, const CollectiveRow*> smallest;
  for (const CollectiveRow& row : rows) {
    const CollectiveRow*& minimum = smallest[series(row)];
    if (minimum == nullptr || row.message_bytes < minimum->message_bytes) minimum = &row;
  }
  Times out;
  for (const auto& [key, row] : smallest) {
    if (row->message_bytes <= kSmall) out[key] = row->time_s;
  }
  return out;
}

// Bytes that a neighbour on the ring sees (tensor_parallel.h), or that a device sends to others.
double passed_bytes(const CollectiveRow& row) {
  const double n = row.devices;
  return row.message_bytes * (row.kind == MeasuredCollective::all_reduce ? 2 : 1) * (n - 1) / n;
}

// The share of a GPU's link within its node, without the latency.
double link_share(const CollectiveRow& row, const Times& small_s) {
  const auto latency = small_s.find(series(row));
  const double moving_s = row.time_s - (latency == small_s.end() ? 0.0 : latency->second);
  return passed_bytes(row) / (std::max(moving_s, 0.1 * row.time_s) * row.gpu->within_node.bytes_per_s.value);
}

void within_nodes(const std::vector<CollectiveRow>& rows, const Times& small_s,
                  std::vector<PriorEvidence>& out) {
  constexpr double kActivations = 16 * kMiB, kGradients = 256 * kMiB;
  static const std::set<int> kGroups = {2, 4, 8};
  ShownValues activations, gradients, experts;
  for (const CollectiveRow& row : rows) {
    if (row.nodes > 1 || !kGroups.contains(row.devices) || row.message_bytes < kActivations) continue;
    const double share = link_share(row, small_s);
    if (row.kind == MeasuredCollective::all_to_all) experts.add(row.gpu->name, share);
    if (row.kind != MeasuredCollective::all_reduce) continue;
    if (row.message_bytes <= 2 * kGradients) activations.add(row.gpu->name, share);
    if (row.message_bytes >= kGradients) gradients.add(row.gpu->name, share);
  }
  activations.summarize(
      out, tensor_parallel_efficiency, at_most, kTable,
      "bus bandwidth of all-reduces of 16 to 512 MiB over the link's rate, 2, 4 and 8 devices");
  experts.summarize(out, expert_parallel_efficiency, at_most, kTable,
                    "bandwidth of all-to-alls of 16 MiB and more over the link's rate, 2, 4 and 8 devices");
  gradients.summarize(
      out, data_parallel_efficiency, at_most, kTable,
      "bus bandwidth of all-reduces of 256 MiB and more over the link's rate, 2, 4 and 8 devices");
}

// time = scale * latency * (1 + further * steps), a scale and a share of further steps a device type
// (collective.h).
void latency(const Times& small_s, const std::vector<CollectiveRow>& rows, std::vector<PriorEvidence>& out) {
  std::map<std::string, std::vector<Point>> points;
  std::map<std::string, const Gpu*> gpus;
  for (const CollectiveRow& row : rows) gpus[row.gpu->name] = row.gpu;
  for (const auto& [key, time_s] : small_s) {
    const auto& [source, gpu, kind, nodes, devices] = key;
    if (kind == MeasuredCollective::all_reduce && nodes == 1)
      points[gpu].push_back({terms::further_steps(devices), time_s});
  }
  ShownValues scales, shares;
  std::map<std::string, double> further;
  for (const auto& [gpu, of_gpu] : points) {
    const auto line = fit_line(of_gpu);
    if (!line || !(line->intercept > 0)) continue;
    further[gpu] = line->slope / line->intercept;
    scales.add(gpu, line->intercept / gpus[gpu]->within_node.latency_s.value, static_cast<int>(of_gpu.size()));
    shares.add(gpu, further[gpu], static_cast<int>(of_gpu.size()));
  }
  scales.summarize(out, link_latency_scale, at_least, kTable,
                   "per device type, all-reduces of 512 bytes without further steps over the link's latency");
  ShownValues between;
  for (const auto& [key, time_s] : small_s) {
    const auto& [source, gpu, kind, nodes, devices] = key;
    if (nodes < 2 || !further.contains(gpu)) continue;
    const double f = further[gpu], rails = static_cast<double>(devices) / nodes;
    const double of_links = gpus[gpu]->between_nodes.latency_s.value * (1 + f * terms::further_steps(nodes)) +
                            gpus[gpu]->within_node.latency_s.value * f * (1 + terms::further_steps(rails));
    between.add(gpu, time_s / of_links);
  }
  between.summarize(out, link_latency_scale, equals, kTable,
                    "all-reduces of 8 bytes between two nodes over their links' latencies with further steps");
  shares.summarize(out, collective_step_weight, equals, kTable,
                   "per device type, what a further step adds relative to the first, 512 bytes within a node");
}

// time = latency + moving + 1 / (1 / (ramp * latency) + 1 / moving) (collective.h): latency that of the
// smallest message, the rate that of the largest, and of all ramps the one with the least relative errors
// between them.
std::optional<double> ramp_of(const std::vector<const CollectiveRow*>& of_series, double latency_s) {
  constexpr double kWholeRate = 256 * kMiB, kStep = 1.05;
  constexpr std::size_t kFewest = 8;
  const auto largest = std::max_element(
      of_series.begin(), of_series.end(),
      [](const CollectiveRow* a, const CollectiveRow* b) { return a->message_bytes < b->message_bytes; });
  if (of_series.size() < kFewest || (*largest)->message_bytes < kWholeRate) return std::nullopt;
  const CoefficientSpec& spec = spec_of(collective_ramp_weight);
  double best = spec.lower, minimum = std::numeric_limits<double>::infinity();
  for (double ramp = spec.lower; ramp <= spec.upper; ramp *= kStep) {
    const double start_s = ramp * latency_s, largest_s = (*largest)->time_s - latency_s - start_s;
    if (!(largest_s > 0)) break;
    double error = 0;
    for (const CollectiveRow* row : of_series) {
      const double moving_s = largest_s * row->message_bytes / (*largest)->message_bytes;
      const double time_s = latency_s + moving_s + start_s * moving_s / (start_s + moving_s);
      error += std::abs(std::log(time_s / row->time_s));
    }
    if (error < minimum) best = ramp;
    minimum = std::min(minimum, error);
  }
  return best;
}

void ramp(const std::vector<CollectiveRow>& rows, const Times& small_s, std::vector<PriorEvidence>& out) {
  std::map<Series, std::vector<const CollectiveRow*>> of_series;
  for (const CollectiveRow& row : rows) of_series[series(row)].push_back(&row);
  ShownValues reductions, exchanges;
  for (const auto& [key, latency_s] : small_s) {
    const MeasuredCollective kind = std::get<MeasuredCollective>(key);
    const auto value = ramp_of(of_series[key], latency_s);
    if (!value || kind == MeasuredCollective::all_gather) continue;
    ShownValues& shown = kind == MeasuredCollective::all_reduce ? reductions : exchanges;
    shown.add(std::get<1>(key), *value, static_cast<int>(of_series[key].size()));
  }
  reductions.summarize(
      out, collective_ramp_weight, equals, kTable,
      "all-reduces of all sizes, a value for each group of devices that has small and large ones");
  exchanges.summarize(
      out, collective_ramp_weight, equals, kTable,
      "all-to-alls of all sizes, a value for each group of devices that has small and large ones");
}

// A group with several members in each node, on all their adapters: nodes exchange 2 (m - 1) / m of the
// message.
void between_nodes(const std::vector<CollectiveRow>& rows, std::vector<PriorEvidence>& out) {
  constexpr double kLarge = 1024 * kMiB;
  ShownValues shown;
  for (const CollectiveRow& row : rows) {
    if (row.nodes < 2 || row.kind != MeasuredCollective::all_reduce || row.message_bytes < kLarge) continue;
    const double m = row.nodes;
    shown.add(row.gpu->name, 2 * (m - 1) / m * row.message_bytes / (row.time_s * *row.network_bytes_per_s));
  }
  shown.summarize(out, network_efficiency, at_most, kTable,
                  "bandwidth between nodes of all-reduces of 1 GiB and more over all adapters' of a node");
}

}  // namespace

std::vector<PriorEvidence> evidence_of_collectives(const std::vector<CollectiveRow>& rows) {
  std::vector<PriorEvidence> out;
  const Times small_s = small_times(rows);
  within_nodes(rows, small_s, out);
  latency(small_s, rows, out);
  ramp(rows, small_s, out);
  between_nodes(rows, out);
  return out;
}

}  // namespace sextant::inline lab
