// Logs of other programs: how fast a console log and lines of JSON of 200 MB are read, and in how much memory.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/import/import.h"

namespace sextant {
namespace {

constexpr double kBytes = 200e6, kPerSecond = 200e6;

// The metrics of a step as verl has them: some that are read, among many that are not.
std::vector<std::pair<std::string, double>> metrics(std::mt19937& random) {
  std::uniform_real_distribution<double> jitter(0.95, 1.05);
  const double gen = 30 * jitter(random), train = 20 * jitter(random), passes = 5 * jitter(random);
  std::vector<std::pair<std::string, double>> out{{"timing_s/gen", gen},
                                                  {"timing_s/old_log_prob", passes},
                                                  {"timing_s/update_actor", train},
                                                  {"timing_s/step", gen + train + passes},
                                                  {"response_length/mean", 900 * jitter(random)},
                                                  {"prompt_length/mean", 180.5}};
  for (const char* owner : {"actor", "critic"}) {
    for (const char* what : {"score", "rewards", "advantages", "returns", "kl", "entropy", "grad_norm"}) {
      for (const char* of : {"mean", "max", "min"})
        out.emplace_back(std::string(owner) + "/" + what + "/" + of, jitter(random));
    }
  }
  return out;
}

std::string console_step(int number, std::mt19937& random) {
  std::string text;
  for (int worker = 0; worker < 60; ++worker)
    text += "\x1b[36m(WorkerDict pid=" + std::to_string(1000 + worker) +
            ")\x1b[0m INFO: Before compute_log_prob, memory allocated (GB): 43.1, device memory used/total "
            "(GB): 55.1/79.2\n";
  text += "Training Progress:  16%|#  | 2/12\r\x1b[36m(TaskRunner pid=7)\x1b[0m step:" + std::to_string(number);
  for (const auto& [name, value] : metrics(random)) text += " - " + name + ":" + std::to_string(value);
  return text + "\n";
}

std::string json_step(int number, std::mt19937& random) {
  std::string text;
  for (const auto& [name, value] : metrics(random))
    text += (text.empty() ? "" : ", ") + ("\"" + name + "\": ") + std::to_string(value);
  return "{\"step\": " + std::to_string(number) + ", \"data\": {" + text + "}}\n";
}

class Log {
 public:
  Log(const char* suffix, std::string (*step)(int, std::mt19937&))
      : file_(std::filesystem::temp_directory_path() /
              ("sextant-import-bench-" + std::to_string(::getpid()) + suffix)) {
    std::mt19937 random(1);
    std::ofstream out(file_);
    for (int number = 1; bytes_ < kBytes; ++number) {
      const std::string text = step(number, random);
      out << text;
      bytes_ += static_cast<double>(text.size());
    }
  }
  ~Log() { std::filesystem::remove(file_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void read() const {
    if (import_times("verl", {file_}).front().bands.empty()) throw std::runtime_error("no step was read");
  }
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  std::filesystem::path file_;
  double bytes_ = 0;
};

double peak_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

void read_log(benchmark::State& state, const char* suffix, std::string (*step)(int, std::mt19937&)) {
  const Log log(suffix, step);
  for (auto _ : state) log.read();
  state.counters["per_s"] =
      benchmark::Counter(log.bytes() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["target_per_s"] = kPerSecond;
  state.counters["peak_bytes"] = peak_bytes();  // of this program so far
}

BENCHMARK_CAPTURE(read_log, console, ".log", console_step)
    ->Name("import.console_bytes_per_s")
    ->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(read_log, json, ".jsonl", json_step)
    ->Name("import.jsonl_bytes_per_s")
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace sextant
