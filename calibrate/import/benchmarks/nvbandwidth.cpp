// Output of github.com/NVIDIA/nvbandwidth: a matrix in GB/s for each test, with a row for each source.
#include <algorithm>

#include "calibrate/import/benchmarks/link_benchmark.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr double kBandwidthUnit = 1e9;

struct BandwidthTest {
  std::string name;  // "device_to_device_memcpy_write_ce"
  std::vector<double> bytes_per_s;
  int gpus = 0;
};

// "Running device_to_device_memcpy_write_ce."
std::string test_name(std::string_view line) {
  constexpr std::string_view kRunning = "Running ";
  const std::size_t at = line.find(kRunning);
  if (at == std::string_view::npos) return "";
  const std::string_view name = line.substr(at + kRunning.size());
  return std::string(name.substr(0, name.find_first_of(". \r")));
}

// " 0       N/A    276.07": the number of the source, then a rate for each other device.
void take_matrix_row(std::string_view line, BandwidthTest& test) {
  const std::vector<std::string_view> words = words_of_line(line);
  if (words.size() < 2) return;
  const bool has_rates = std::any_of(words.begin() + 1, words.end(), [](std::string_view word) {
    return word.find('.') != std::string_view::npos && number_of(word);
  });
  const auto row = number_of(words.front());
  if (!row || words.front().find('.') != std::string_view::npos || !has_rates) return;
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const auto rate = number_of(*word);
    if (rate && *rate > 0) test.bytes_per_s.push_back(*rate * kBandwidthUnit);
  }
  test.gpus = std::max(test.gpus, static_cast<int>(words.size()) - 1);
}

// Copies in one direction with nothing in the other; copy engines (ce) before kernels (sm).
std::optional<BenchmarkedLink> link_of(const std::string& test) {
  if (test == "device_to_device_memcpy_read_ce" || test == "device_to_device_memcpy_write_ce")
    return BenchmarkedLink::within_node;
  if (test == "host_to_device_memcpy_ce" || test == "device_to_host_memcpy_ce")
    return BenchmarkedLink::host_and_device;
  return std::nullopt;
}

void add_test(BandwidthTest test, LinkBenchmarks& out) {
  const auto link = link_of(test.name);
  if (test.bytes_per_s.empty() || !link) return;
  LinkBenchmark one;
  one.link = *link;
  one.what = test.name + " of nvbandwidth";
  one.nodes = 1;
  one.gpus_per_node = test.gpus;
  one.bytes_per_s = std::move(test.bytes_per_s);
  out.links.push_back(std::move(one));
}

}  // namespace

LinkBenchmarks read_nvbandwidth(std::string_view text, const std::string& file) {
  LinkBenchmarks out;
  BandwidthTest test;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    from = end + 1;
    if (std::string name = test_name(line); !name.empty()) {
      add_test(std::move(test), out);
      test = {std::move(name), {}, 0};
    } else if (line.find("SUM") == std::string_view::npos) {
      take_matrix_row(line, test);
    }
  }
  add_test(std::move(test), out);
  if (out.links.empty())
    throw_bad_input(file +
                    ": no result of device_to_device_memcpy_*_ce or host_to_device_memcpy_ce of nvbandwidth");
  return out;
}

}  // namespace sextant::inline calibrate
