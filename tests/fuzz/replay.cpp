// Drives the fuzzed property without a fuzzing engine: usage replay ITERATIONS SEED FOLDER...
//
// Replays every file of the folders, then ITERATIONS seeded mutations of those that are whole documents. A
// failure stops the program by a check after the text that caused it was left in the file
// "replay_failure.json".
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sextant/document.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/parse_documents.h"

namespace {

using sextant::mutate_text;
using sextant::mutate_value;
using sextant::parse_as_every_kind;
using sextant::Random;

// The text that is being tried, for the handler of an abort.
std::string& current_text() {
  static std::string text;
  return text;
}

void keep_failure(int /*signal*/) {
  std::ofstream("replay_failure.json", std::ios::binary) << current_text();
  std::fputs("the text that failed is in replay_failure.json\n", stderr);
}

int try_text(std::string text) {
  current_text() = std::move(text);
  return parse_as_every_kind(current_text());
}

std::vector<std::string> read_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // the same order everywhere: mutations depend on it
  std::vector<std::string> texts;
  for (const auto& file : files) texts.push_back(sextant::read_text_file(file));
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: replay ITERATIONS SEED FOLDER...\n", stderr);
    return 2;
  }
  std::signal(SIGABRT, keep_failure);
  const long iterations = std::atol(argv[1]);
  Random random(static_cast<Random::result_type>(std::atol(argv[2])));
  std::vector<std::string> whole;
  for (int i = 3; i < argc; ++i) {
    for (std::string& text : read_folder(argv[i])) {
      if (try_text(text) == 1) whole.push_back(std::move(text));
    }
  }
  if (whole.empty()) {
    std::fputs("none of the folders holds a whole document\n", stderr);
    return 1;
  }
  long accepted = 0;
  for (long i = 0; i < iterations; ++i) {
    const std::string& text = whole[random() % whole.size()];
    const std::string& other = whole[random() % whole.size()];
    accepted += try_text(i % 2 == 0 ? mutate_text(text, other, random) : mutate_value(text, other, random));
  }
  std::printf("%zu whole documents, %ld mutations, %ld of them accepted\n", whole.size(), iterations, accepted);
  return accepted < iterations ? 0 : 1;  // mutations that never break anything test nothing
}
