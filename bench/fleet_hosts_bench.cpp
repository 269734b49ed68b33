// The probe of 64 hosts, each in a network namespace of its own: rounds, wall time and memory.
#include <benchmark/benchmark.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "core/json_value.h"

namespace sextant {
namespace {

constexpr int kNotAllowed = 77;

// The last line that the command printed; empty if namespaces are not available.
std::string last_line_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start " + command);
  std::string last;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) last = line.data();
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) return "";
  if (status != 0) throw std::runtime_error("failed: " + command);
  return last;
}

// Two regions; every host sends at most 20 Mbit/s, so that 32 pairs at once leave this machine some breath.
void probe_hosts(benchmark::State& state) {
  const auto hosts = std::to_string(state.range(0));
  const std::string command = SEXTANT_FLEET_LAB "/in_own_network python3 " SEXTANT_FLEET_LAB
                                                "/many_hosts.py " SEXTANT_PROGRAM " " +
                              hosts + " 2 20";
  for (auto _ : state) {
    const std::string line = last_line_of(command);
    if (line.empty()) {
      state.SkipWithError("namespaces are not allowed here");
      return;
    }
    const Json result = parse_json(line);
    if (result.at("exit_code") != 0) throw std::runtime_error("the probe failed: " + line);
    state.SetIterationTime(result.at("wall_s").get<double>());
    for (const char* name : {"rounds", "pairs", "peak_bytes", "median_of_set_rate", "worst_of_set_rate"}) {
      state.counters[name] = result.at(name).get<double>();
    }
  }
}

BENCHMARK(probe_hosts)
    ->Name("fleet.probe_64_hosts_s")
    ->Arg(64)
    ->UseManualTime()
    ->Iterations(1)
    ->Repetitions(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace sextant
