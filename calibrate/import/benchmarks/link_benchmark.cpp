#include "calibrate/import/benchmarks/link_benchmark.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace sextant::inline calibrate {

std::span<const BenchmarkFormat> benchmark_formats() {
  static constexpr std::array kTable{
      BenchmarkFormat{"iperf3", read_iperf3, "iperf3 -J: the connection of two nodes"},
      BenchmarkFormat{
          "nccl-tests", read_nccl_tests,
          "output of NVIDIA's nccl-tests on one node or several, with any prefix of mpirun or srun"},
      BenchmarkFormat{"nvbandwidth", read_nvbandwidth,
                      "output of nvbandwidth: links within a node and to the host"},
      BenchmarkFormat{"superbench", read_superbench,
                      "results-summary.jsonl of SuperBench: nccl-bw, mem-bw and gpu-copy-bw"}};
  return kTable;
}

const BenchmarkFormat* find_benchmark_format(std::string_view name) {
  for (const BenchmarkFormat& format : benchmark_formats()) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \t\r";
  for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

std::optional<double> number_of(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = error == std::errc() && end == word.data() + word.size() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace sextant::inline calibrate
