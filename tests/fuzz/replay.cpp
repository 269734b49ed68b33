// Drives one fuzzed property without a fuzzing engine: usage fuzz_replay TARGET ITERATIONS SEED FILE_OR_FOLDER...
//
// Replays every file, then ITERATIONS seeded mutations of those that a reader accepts. A property that does not hold,
// or a text that takes longer than kLimit_s, ends the program after the text was left in the file "replay_failure".
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/json_value.h"
#include "sextant/document.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"

namespace {

using sextant::mutate_text;
using sextant::mutate_value;
using sextant::Random;

constexpr unsigned kLimit_s = 20;

// The text that is being tried, for the handler of an abort.
std::string& current_text() {
  static std::string text;
  return text;
}

void keep_failure(int /*signal*/) {
  std::ofstream("replay_failure", std::ios::binary) << current_text();
  std::fputs("the text that failed is in replay_failure\n", stderr);
}

void end_slow_text(int /*signal*/) {
  std::fprintf(stderr, "a text takes longer than %u s\n", kLimit_s);
  std::abort();
}

double peak_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts kilobytes
}

class Replay {
 public:
  explicit Replay(const sextant::FuzzTarget& target) : target_(target) {}

  bool accepts(std::string text) {
    current_text() = std::move(text);
    longest_ = std::max(longest_, current_text().size());
    const auto start = std::chrono::steady_clock::now();
    ::alarm(kLimit_s);
    const int accepted = target_.accepts(current_text());
    ::alarm(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    slowest_s_ = std::max(slowest_s_, took.count());
    return accepted > 0;
  }

  [[nodiscard]] std::size_t longest() const { return longest_; }
  [[nodiscard]] double slowest_s() const { return slowest_s_; }

 private:
  const sextant::FuzzTarget& target_;
  std::size_t longest_ = 0;
  double slowest_s_ = 0;
};

std::vector<std::string> read_files(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(path)) files.push_back(path);
  if (files.empty()) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.is_regular_file() && entry.path().extension() != ".md") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // the same order everywhere: mutations depend on it
  std::vector<std::string> texts;
  for (const auto& file : files) texts.push_back(sextant::read_text_file(file));
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  const sextant::FuzzTarget* target = argc < 5 ? nullptr : sextant::find_fuzz_target(argv[1]);
  if (target == nullptr) {
    std::fputs("usage: fuzz_replay TARGET ITERATIONS SEED FILE_OR_FOLDER...\ntargets:", stderr);
    for (const sextant::FuzzTarget& known : sextant::fuzz_targets())
      std::fprintf(stderr, " %.*s", static_cast<int>(known.name.size()), known.name.data());
    std::fputs("\n", stderr);
    return 2;
  }
  std::signal(SIGABRT, keep_failure);
  std::signal(SIGALRM, end_slow_text);
  const long iterations = std::atol(argv[2]);
  Random random(static_cast<Random::result_type>(std::atol(argv[3])));
  Replay replay(*target);
  std::vector<std::string> whole;
  for (int i = 4; i < argc; ++i) {
    for (std::string& text : read_files(argv[i])) {
      if (replay.accepts(text)) whole.push_back(std::move(text));
    }
  }
  if (whole.empty()) {
    std::fputs("no reader accepts any of the files\n", stderr);
    return 1;
  }
  const double before_mib = peak_mib();
  long accepted = 0;
  for (long i = 0; i < iterations; ++i) {
    const std::string& text = whole[random() % whole.size()];
    const std::string& other = whole[random() % whole.size()];
    const bool is_json = sextant::Json::accept(text) && sextant::Json::accept(other);
    accepted += replay.accepts(i % 2 == 0 || !is_json ? mutate_text(text, other, random)
                                                      : mutate_value(text, other, random));
  }
  std::printf(
      "%.*s: %zu whole texts, %ld mutations, %ld of them accepted; longest text %.1f KiB, slowest %.3f s, "
      "peak memory %.0f MiB, %.0f MiB before the mutations\n",
      static_cast<int>(target->name.size()), target->name.data(), whole.size(), iterations, accepted,
      static_cast<double>(replay.longest()) / 1024, replay.slowest_s(), peak_mib(), before_mib);
  return accepted < iterations || target->is_lenient ? 0
                                                     : 1;  // mutations that never break anything test nothing
}
