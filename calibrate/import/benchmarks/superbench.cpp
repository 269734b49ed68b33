// Results of github.com/microsoft/superbenchmark: a line of JSON for each node, whose members are metrics such as
// "nccl-bw:nvlink/allreduce_8589934592_busbw:0" (benchmark, annotation, metric, process). Names and units are those of
// docs/user-tutorial/benchmarks/micro-benchmarks.md at main of 2026-04 (700d6501f110), and older ones those of
// tests/analyzer/test_results.jsonl there. Rates are in GB/s.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "calibrate/import/benchmarks/link_benchmark.h"
#include "core/json_value.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr double kGigabyteUnit = 1e9;

// "gpu-copy-bw:perf/cpu_to_gpu0_by_dma_under_numa0_bw:3".
struct SuperMetric {
  std::string benchmark, annotation, name;
};

std::optional<SuperMetric> super_metric(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view of = key.substr(0, slash);
  std::string_view name = key.substr(key.rfind('/') + 1);  // between them: the number of a repetition
  const std::size_t process = name.rfind(':');
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (process != std::string_view::npos && process + 1 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(process) + 1, name.end(), is_digit))
    name = name.substr(0, process);
  const std::size_t colon = of.find(':');
  const std::string_view annotation = colon == std::string_view::npos ? "" : of.substr(colon + 1);
  return SuperMetric{std::string(of.substr(0, colon)), std::string(annotation), std::string(name)};
}

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The whole number at the beginning of the text, which it takes off.
std::optional<double> take_digits(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  const auto number = number_of(text.substr(0, end));
  text.remove_prefix(end);
  return number;
}

bool take_word(std::string_view word, std::string_view& text) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// ---- collectives ----

// Rates by operation and size of messages, of all nodes.
using Collectives = std::map<std::string, std::map<double, std::vector<double>>>;

// "allreduce_8589934592_busbw".
bool take_collective(std::string_view metric, double rate, Collectives& found) {
  const std::size_t first = metric.find('_');
  if (first == std::string_view::npos) return false;
  const std::string operation(metric.substr(0, first));
  std::string_view rest = metric.substr(first + 1);
  const auto size = take_digits(rest);
  if (!size || rest != "_busbw" || !(rate > 0)) return false;
  found[operation][*size].push_back(rate * kGigabyteUnit);
  return true;
}

// The rates of the largest messages of the first of these operations: a ring uses each link in one direction.
std::optional<LinkBenchmark> largest_collective(const Collectives& found) {
  for (const char* operation : {"allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "reduce"}) {
    const auto rates = found.find(operation);
    if (rates == found.end()) continue;
    LinkBenchmark link;
    link.bytes_per_s = rates->second.rbegin()->second;
    link.what = std::string(operation) + " of a node, " + format_bytes(rates->second.rbegin()->first) +
                ", of SuperBench";
    return link;
  }
  return std::nullopt;
}

// ---- copies ----

struct Copies {
  std::vector<double> between_gpus;
  // The host's nearest memory counts: the best rate of a node's GPU and direction.
  std::map<std::string, double> with_host;
  std::set<double> gpus;
};

void take_host_copy(const std::string& where, double rate, Copies& copies) {
  double& best = copies.with_host[where];
  best = std::max(best, rate * kGigabyteUnit);
}

// "h2d_bw", and "H2D_Mem_BW" until 0.4.
bool take_memory_copy(const std::string& node, const std::string& key, const std::string& metric, double rate,
                      Copies& copies) {
  const std::string name = in_lower_case(metric);
  const bool is_copy = name == "h2d_bw" || name == "d2h_bw" || name == "h2d_mem_bw" || name == "d2h_mem_bw";
  if (is_copy && rate > 0) take_host_copy(node + " " + key, rate, copies);
  return is_copy;
}

// "cpu_to_gpu0_by_dma_under_numa0_bw", "gpu0_to_cpu_by_dma_under_numa0_bw", "gpu0_to_gpu1_read_by_dma_bw": copy engines,
// in one direction.
bool take_copy(const std::string& node, std::string_view metric, double rate, Copies& copies) {
  if (!(rate > 0)) return false;
  std::string_view rest = metric;
  const bool is_from_host = take_word("cpu_to_gpu", rest);
  if (!is_from_host && !take_word("gpu", rest)) return false;
  const auto gpu = take_digits(rest);
  if (!gpu) return false;
  if (is_from_host || take_word("_to_cpu", rest)) {
    if (!rest.starts_with("_by_dma_under_numa") || !rest.ends_with("_bw")) return false;
    take_host_copy(node + (is_from_host ? " to " : " from ") + std::to_string(*gpu), rate, copies);
    copies.gpus.insert(*gpu);
    return true;
  }
  if (!take_word("_to_gpu", rest)) return false;
  const auto peer = take_digits(rest);
  if (!peer || *peer == *gpu || (rest != "_read_by_dma_bw" && rest != "_write_by_dma_bw")) return false;
  copies.between_gpus.push_back(rate * kGigabyteUnit);
  copies.gpus.insert({*gpu, *peer});
  return true;
}

// ---- a file ----

class SuperBenchResults {
 public:
  explicit SuperBenchResults(std::string file) : file_(std::move(file)) {}

  void take_line(std::string_view text, int line) {
    const std::string place = file_ + ":" + std::to_string(line);
    Json json;
    try {
      json = parse_json(text);
    } catch (const Error& error) {
      throw_bad_input(place + ": " + error.what());
    }
    if (!json.is_object())
      throw_bad_input(place + ": expected an object of metrics, as SuperBench writes one a node");
    const std::string node =
        json.contains("node") && json["node"].is_string() ? json["node"].get<std::string>() : place;
    if (!nodes_.insert(node).second)
      throw_bad_input(place + ": node " + node + " is there twice: give the results of one run");
    for (const auto& [key, value] : json.items()) {
      const std::optional<SuperMetric> metric = super_metric(key);
      if (metric && value.is_number()) take(node, key, *metric, value.get<double>());
    }
  }

  LinkBenchmarks finish() {
    const auto most =
        std::max_element(collectives_.begin(), collectives_.end(),
                         [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most != collectives_.end()) take_collectives(*most);
    add_copies();
    for (const auto& [what, reason] : others_) out_.left_out.push_back({file_ + ", " + what, reason});
    if (out_.links.empty())
      throw_bad_input(file_ + ": no metric of SuperBench that is a rate of links: " +
                      "nccl-bw/*_busbw, mem-bw/h2d_bw, gpu-copy-bw/*_by_dma_*_bw" +
                      (others_.empty() ? "" : "; " + others_.begin()->first + ": " + others_.begin()->second));
    return std::move(out_);
  }

 private:
  void take(const std::string& node, const std::string& key, const SuperMetric& metric, double value) {
    const std::string whole = metric.benchmark + (metric.annotation.empty() ? "" : ":" + metric.annotation);
    if (metric.benchmark == "nccl-bw" || metric.benchmark == "rccl-bw") {
      take_nccl(node, whole, metric, value);
    } else if (metric.benchmark == "mem-bw") {
      (void)take_memory_copy(node, key, metric.name, value, copies_);
    } else if (metric.benchmark == "gpu-copy-bw" && metric.annotation != "correctness") {
      (void)take_copy(node, metric.name, value, copies_);
    } else if (metric.benchmark == "ib-loopback") {
      others_[whole] = "an adapter sends to itself, which says nothing of the connection of two nodes";
    } else if (metric.benchmark == "ib-traffic") {
      others_[whole] = "pairs of adapters without GPUs: give the output of nccl-tests on two nodes or more";
    } else if (metric.benchmark == "gemm-flops") {
      others_[whole] = "rates of arithmetic, which a cluster document takes from sextant probe";
    }
  }

  // "gdr-only" turns off the links within a node, and a traffic pattern ("allreduce_0_0:8192_busbw") has groups of nodes
  // whose size it does not say.
  void take_nccl(const std::string& node, const std::string& whole, const SuperMetric& metric, double value) {
    if (metric.name.find(':') != std::string::npos) {
      others_[whole] = "groups of nodes whose size is not stated: give the output of nccl-tests";
    } else if (metric.annotation.find("gdr") != std::string::npos || metric.annotation.find("ib") == 0) {
      others_[whole] = "GPUs of a node over its adapters, not over the links between them";
    } else if (take_collective(metric.name, value, rates_[whole])) {
      collectives_[whole].insert(node);
    }
  }

  // A run of several nodes together prints its rates at the first.
  void take_collectives(const std::pair<const std::string, std::set<std::string>>& one) {
    if (nodes_.size() > 1 && one.second.size() == 1) {
      others_[one.first] =
          "rates of one of several nodes, which ran alone or with the others: give the output of nccl-tests";
      return;
    }
    std::optional<LinkBenchmark> link = largest_collective(rates_.at(one.first));
    if (link) add(BenchmarkedLink::within_node, std::move(*link));
  }

  void add_copies() {
    const bool has_within = std::any_of(out_.links.begin(), out_.links.end(), [](const LinkBenchmark& link) {
      return link.link == BenchmarkedLink::within_node;
    });
    if (!copies_.between_gpus.empty() && !has_within) {
      LinkBenchmark link;
      link.bytes_per_s = copies_.between_gpus;
      link.what = "copies between GPUs of SuperBench";
      add(BenchmarkedLink::within_node, std::move(link));
    }
    if (copies_.with_host.empty()) return;
    LinkBenchmark link;
    for (const auto& [where, rate] : copies_.with_host) link.bytes_per_s.push_back(rate);
    link.what = "copies between GPU and host of SuperBench";
    add(BenchmarkedLink::host_and_device, std::move(link));
  }

  void add(BenchmarkedLink kind, LinkBenchmark link) {
    link.link = kind;
    link.nodes = static_cast<int>(nodes_.size());
    link.gpus_per_node = static_cast<int>(copies_.gpus.size());
    if (nodes_.size() > 1) link.what += " on " + std::to_string(nodes_.size()) + " nodes";
    out_.links.push_back(std::move(link));
  }

  std::string file_;
  std::set<std::string> nodes_;
  std::map<std::string, Collectives> rates_;                  // by benchmark and annotation
  std::map<std::string, std::set<std::string>> collectives_;  // the nodes that have them
  Copies copies_;
  std::map<std::string, std::string> others_;
  LinkBenchmarks out_;
};

}  // namespace

LinkBenchmarks read_superbench(std::string_view text, const std::string& file) {
  SuperBenchResults results(file);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw_bad_input(file + ":1: expected a line of JSON for each node, as SuperBench writes");
  int line = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view one = text.substr(from, end - from);
    from = end + 1;
    ++line;
    if (one.find_first_not_of(" \t\r") != std::string_view::npos) results.take_line(one, line);
  }
  return results.finish();
}

}  // namespace sextant::inline calibrate
