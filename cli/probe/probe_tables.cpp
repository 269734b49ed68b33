#include "cli/probe/probe_tables.h"

#include "cli/shared/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

std::string shown_value(const ProbeResult& result) {
  if (!result.has_value()) return "-";
  if (result.unit == "flop/s") return format_flop_per_s(result.value);
  if (result.unit == "bytes/s") return format_bytes_per_s(result.value);
  if (result.unit == "bytes") return format_bytes(result.value);
  return format_seconds(result.value);
}

constexpr const char* kBusBandwidth = "/bus_bandwidth";
constexpr const char* kAlgorithmBandwidth = "/algorithm_bandwidth";

const ProbeResult* find(const std::vector<ProbeResult>& results, const ProbeResult& like,
                        const std::string& what) {
  for (const ProbeResult& result : results) {
    if (result.name == like.name + what && result.peer < 0 && result.rank == like.rank) return &result;
  }
  return nullptr;
}

bool is_of_collective(const ProbeResult& result) {
  return result.peer < 0 && (result.ranks > 0 || result.name.starts_with("nccl/"));
}

// The columns are those of nccl-tests.
std::string describe_collectives(const std::vector<ProbeResult>& results) {
  Table table({"collective", "of", "ranks", "time", "algorithm bandwidth", "bus bandwidth", "spread", "outcome",
               "why"});
  bool has_any = false;
  for (const ProbeResult& result : results) {
    if (!is_of_collective(result) || result.unit != "s") continue;
    has_any = true;
    const ProbeResult* algorithm = find(results, result, kAlgorithmBandwidth);
    const ProbeResult* bus = find(results, result, kBusBandwidth);
    table.add({result.name, result.group.empty() ? "all" : result.group,
               result.ranks > 0 ? std::to_string(result.ranks) : "-", shown_value(result),
               algorithm == nullptr ? "-" : shown_value(*algorithm), bus == nullptr ? "-" : shown_value(*bus),
               result.has_value() ? format_percent(result.spread_fraction) : "",
               std::string(name_of(result.outcome)), result.sentence});
  }
  return has_any ? table.text() : "";
}

std::string describe_others(const std::vector<ProbeResult>& results) {
  Table table({"probe", "rank", "value", "spread", "outcome", "why"});
  for (const ProbeResult& result : results) {
    if (is_of_collective(result)) continue;
    const std::string rank = result.peer < 0 ? std::to_string(result.rank)
                                             : std::to_string(result.rank) + "-" + std::to_string(result.peer);
    table.add({result.name, rank, shown_value(result),
               result.has_value() ? format_percent(result.spread_fraction) : "",
               std::string(name_of(result.outcome)), result.sentence});
  }
  return table.text();
}

}  // namespace

std::string describe(const std::vector<ProbeResult>& results) {
  return describe_others(results) + describe_collectives(results);
}

std::string describe(const LinkReport& links) {
  if (links.classes.empty()) return "";
  Table table({"link", "by", "pairs", "latency", "90 %", "bandwidth", "90 %", "expected", "from"});
  for (const LinkClassReport& link : links.classes) {
    table.add({link.link.sentence(), link.way, std::to_string(link.pairs), format_seconds(link.fit.latency_s),
               format_percent(link.fit.latency_spread_fraction), format_bytes_per_s(link.fit.bytes_per_s),
               format_percent(link.fit.bytes_per_s_spread_fraction),
               link.expected ? format_bytes_per_s(link.expected->bytes_per_s) : "-",
               link.expected ? link.expected->formula : ""});
  }
  return table.text();
}

std::string describe(const GpuProbe& gpus) {
  std::string text;
  for (const GpuFacts& gpu : gpus.devices) {
    text += "GPU " + std::to_string(gpu.index) + ": " + gpu.name + ", " + format_bytes(gpu.memory_bytes) +
            " (" + gpus.versions + ")\n";
  }
  return text + describe(gpus.results) + gpus.sentence + "\n";
}

}  // namespace sextant::cli
