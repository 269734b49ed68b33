// Rates of links that the benchmarks of others print: nccl-tests, nvbandwidth, iperf3 and SuperBench.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/records/imported.h"

namespace sextant::inline calibrate {

enum class BenchmarkedLink {
  within_node,      // between two GPUs of a node
  between_nodes,    // between two nodes
  host_and_device,  // between a GPU and its host, one direction
};

struct LinkBenchmark {
  BenchmarkedLink link = BenchmarkedLink::within_node;
  std::string what;                  // "all_reduce of 16 GPUs on 2 nodes, 8.00 GiB"
  std::vector<double> bytes_per_s;   // samples: of a GPU, or of a node if `is_of_node`
  bool is_of_node = false;           // all GPUs of a node together
  std::optional<double> latency_s;   // one way
  int nodes = 0, gpus_per_node = 0;  // 0: not stated
  std::string gpu;                   // as the benchmark names it; empty: not stated
};

struct LinkBenchmarks {
  std::vector<LinkBenchmark> links;
  std::vector<LeftOut> left_out;
};

struct BenchmarkFormat {
  std::string_view name;  // "nccl-tests"
  LinkBenchmarks (*read)(std::string_view text, const std::string& file);
  std::string_view help;
};

// In alphabetical order.
[[nodiscard]] std::span<const BenchmarkFormat> benchmark_formats();
[[nodiscard]] const BenchmarkFormat* find_benchmark_format(std::string_view name);  // null: there is none

// Rows of the table. Each throws Error(bad_input) for a text that is not of its form.
[[nodiscard]] LinkBenchmarks read_nccl_tests(std::string_view text, const std::string& file);
[[nodiscard]] LinkBenchmarks read_nvbandwidth(std::string_view text, const std::string& file);
[[nodiscard]] LinkBenchmarks read_iperf3(std::string_view text, const std::string& file);
[[nodiscard]] LinkBenchmarks read_superbench(std::string_view text, const std::string& file);

// The words of a line.
[[nodiscard]] std::vector<std::string_view> words_of_line(std::string_view line);
[[nodiscard]] std::optional<double> number_of(std::string_view word);  // finite; nullopt: it is none

}  // namespace sextant::inline calibrate
