// Output of github.com/NVIDIA/nccl-tests: a line for each rank, then a row for each size with the times of the
// operation out of place and in place. doc/PERFORMANCE.md defines the bus bandwidth.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/import/benchmarks/link_benchmark.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr double kGigabyte = 1e9, kMaxRanks = 100'000;

struct NcclRow {
  double size_bytes = 0;
  std::string type, reduction;  // "float", "sum"
  int root = -1;
  std::vector<double> algorithm_bytes_per_s, bus_bytes_per_s;  // out of place and in place
  double wrong = 0;
};

// Time, algorithm bandwidth, bus bandwidth, wrong elements: four words, once or twice.
void take_results(std::span<const std::string_view> words, NcclRow& row) {
  for (; words.size() >= 4; words = words.subspan(4)) {
    const auto algorithm = number_of(words[1]), bus = number_of(words[2]);
    if (!algorithm || !bus) continue;
    row.algorithm_bytes_per_s.push_back(*algorithm * kGigabyte);
    row.bus_bytes_per_s.push_back(*bus * kGigabyte);
    row.wrong += std::abs(number_of(words[3]).value_or(0));  // "N/A" without validation
  }
}

// The row behind whatever a launcher puts before it.
std::optional<NcclRow> nccl_row(std::string_view line) {
  static const std::set<std::string_view> kReductions{"sum", "prod", "min", "max", "avg", "mulsum", "none"};
  const std::vector<std::string_view> words = words_of_line(line);
  for (std::size_t i = 0; i + 8 <= words.size(); ++i) {
    const auto size = number_of(words[i]), count = number_of(words[i + 1]);
    if (!size || !count || *size <= 0 || number_of(words[i + 2]) || !kReductions.contains(words[i + 3]))
      continue;
    NcclRow row{*size, std::string(words[i + 2]), std::string(words[i + 3]), -1, {}, {}, 0};
    std::span<const std::string_view> rest = std::span(words).subspan(i + 4);
    if (rest.size() % 4 == 1) {  // a root, which old versions have only where there is one
      row.root = static_cast<int>(number_of(rest.front()).value_or(-1));
      rest = rest.subspan(1);
    }
    take_results(rest, row);
    if (!row.bus_bytes_per_s.empty()) return row;
  }
  return std::nullopt;
}

// Ranks by host, from "#  Rank  8 Group  0 Pid  2001 on  gpu-b device  0 [0x18] NVIDIA H100 80GB HBM3".
struct NcclRanks {
  std::map<std::string, std::set<std::string>> processes, devices;
  int threads_and_gpus = 1;  // of a process
  std::string gpu;

  [[nodiscard]] int nodes() const { return static_cast<int>(processes.size()); }
  [[nodiscard]] int gpus_per_node() const {
    std::size_t most = 0;
    for (const auto& [host, pids] : processes)
      most =
          std::max({most, pids.size() * static_cast<std::size_t>(threads_and_gpus), devices.at(host).size()});
    return static_cast<int>(std::min<double>(static_cast<double>(most), kMaxRanks));
  }
};

std::string_view word_after(const std::vector<std::string_view>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() || found + 1 == words.end() ? std::string_view() : *(found + 1);
}

void take_rank(std::string_view line, NcclRanks& ranks) {
  const std::vector<std::string_view> words = words_of_line(line);
  const std::string_view host = word_after(words, "on"), pid = word_after(words, "Pid");
  if (!host.empty() && !pid.empty() && !word_after(words, "Rank").empty()) {
    ranks.processes[std::string(host)].insert(std::string(pid));
    ranks.devices[std::string(host)].insert(std::string(word_after(words, "device")) + std::string(pid));
    const std::size_t bracket = line.find(']');
    if (bracket != std::string_view::npos && ranks.gpu.empty()) ranks.gpu = line.substr(bracket + 1);
    return;
  }
  const auto threads = number_of(word_after(words, "nThread")), gpus = number_of(word_after(words, "nGpus"));
  if (threads && gpus && *threads >= 1 && *gpus >= 1 && *threads * *gpus <= kMaxRanks)
    ranks.threads_and_gpus = static_cast<int>(*threads * *gpus);
}

constexpr std::array<std::string_view, 10> kOperations{"all_reduce", "all_gather", "reduce_scatter", "alltoall",
                                                       "sendrecv",   "hypercube",  "broadcast",      "scatter",
                                                       "gather",     "reduce"};

// The operation that text or file name, or that the row's reduction and root leave; empty: several are possible.
std::string operation_of(std::string_view text, const std::string& file, const NcclRow& row) {
  for (const std::string_view operation : kOperations) {
    if (text.find(std::string(operation) + "_perf") != std::string_view::npos) return std::string(operation);
  }
  for (const std::string_view operation : kOperations) {
    if (file.find(operation) != std::string::npos) return std::string(operation);
  }
  if (row.reduction != "none") return row.root < 0 ? "all_reduce" : "reduce";
  return row.root < 0 ? "" : "broadcast";
}

// The rates of the links between nodes: rings use all adapters of a node together, an all-to-all sends what is for
// other nodes, and in a chain of sends one GPU of a node sends to the next node.
void take_network(const std::string& operation, const NcclRow& row, LinkBenchmark& link) {
  link.link = BenchmarkedLink::between_nodes;
  link.is_of_node = operation != "sendrecv";
  link.bytes_per_s = row.bus_bytes_per_s;
  if (operation != "alltoall") return;
  const double outside = static_cast<double>(link.nodes - 1) / link.nodes;
  link.bytes_per_s = row.algorithm_bytes_per_s;
  for (double& rate : link.bytes_per_s) rate *= outside * link.gpus_per_node;
}

LinkBenchmark nccl_link(const std::string& operation, const NcclRow& row, const NcclRanks& ranks) {
  LinkBenchmark link;
  link.nodes = ranks.nodes();
  link.gpus_per_node = ranks.gpus_per_node();
  link.gpu = ranks.gpu;
  link.bytes_per_s = row.bus_bytes_per_s;
  if (link.nodes > 1) take_network(operation, row, link);
  link.what = operation + " of " + std::to_string(link.nodes * link.gpus_per_node) + " GPUs on " +
              std::to_string(link.nodes) + (link.nodes == 1 ? " node, " : " nodes, ") +
              format_bytes(row.size_bytes);
  return link;
}

}  // namespace

LinkBenchmarks read_nccl_tests(std::string_view text, const std::string& file) {
  NcclRanks ranks;
  std::optional<NcclRow> largest;
  double wrong = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    from = end + 1;
    take_rank(line, ranks);
    const std::optional<NcclRow> row = nccl_row(line);
    if (!row) continue;
    wrong += row->wrong;
    if (!largest || row->size_bytes > largest->size_bytes) largest = row;
  }
  if (!largest) throw_bad_input(file + ": no row of nccl-tests (size, count, type, redop, root, time, ...)");
  if (ranks.processes.empty())
    throw_bad_input(file + ": no line \"#  Rank 0 ... on HOST device 0\" of nccl-tests");
  LinkBenchmarks out;
  const std::string operation = operation_of(text, file, *largest);
  if (operation.empty() && ranks.nodes() > 1)
    throw_bad_input(file +
                    ": the operation is not named: sendrecv, alltoall and all_gather print the same columns; " +
                    "put its name, such as sendrecv_perf, into the file or its name");
  if (wrong > 0) {
    out.left_out.push_back({file, "nccl-tests found wrong elements: its rates are those of a broken transfer"});
    return out;
  }
  out.links.push_back(nccl_link(operation.empty() ? "transfers" : operation, *largest, ranks));
  return out;
}

}  // namespace sextant::inline calibrate
