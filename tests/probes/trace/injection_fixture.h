// The library inside a real process: a program that uses NVTX and a fake "CUDA" with a fake CUPTI.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>

#include "core/table_file.h"
#include "probes/trace/analysis/summary.h"
#include "probes/trace/traced_command.h"
#include "tests/core/built_files.h"
#include "tests/core/temporary_folder.h"

namespace sextant::trace {

class Injection : public ::testing::Test {
 protected:
  Injection() {
    settings_.folder = (folder_.path() / "records").string();
    settings_.cupti = test::built_file("sextant_fake_cupti");
    settings_.flush_s = 0.05;
    std::filesystem::create_directories(settings_.folder);
  }

  // Starts the program with its stderr in a file.
  pid_t start(const std::string& words, const std::string& mode = "") {
    const pid_t child = fork();
    if (child != 0) return child;
    for (const auto& [name, value] : tracing_environment(settings_, test::built_file("sextant_trace"))) {
      setenv(name.c_str(), value.c_str(), 1);
    }
    setenv("FAKE_CUPTI", mode.c_str(), 1);
    setenv("FAKE_CUPTI_LOG", log_file().c_str(), 1);
    setenv("RANK", "3", 1);
    if (freopen(error_file().c_str(), "w", stderr) == nullptr || freopen("/dev/null", "w", stdout) == nullptr) {
      _exit(99);
    }
    execl("/bin/sh", "sh", "-c",
          (before_ + "exec " + test::built_file("sextant_traced_program") + " " + words).c_str(), nullptr);
    _exit(99);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  void run(const std::string& words, const std::string& mode = "") {
    const int status = wait_for(start(words, mode));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << errors();
  }
  [[nodiscard]] std::string error_file() const { return (folder_.path() / "stderr").string(); }
  [[nodiscard]] std::string log_file() const { return (folder_.path() / "cupti").string(); }
  // Returns the recorded calls to CUPTI; empty if it was never opened.
  [[nodiscard]] std::vector<std::string> asked_of_cupti() const {
    std::ifstream file(log_file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  [[nodiscard]] std::string errors() const { return read_text_file(error_file()); }
  [[nodiscard]] std::ptrdiff_t lines_of_errors() const {
    const std::string text = errors();
    return std::count(text.begin(), text.end(), '\n');
  }
  [[nodiscard]] Trace trace() const { return load_traces(settings_.folder); }
  [[nodiscard]] static TraceSummary summary_of(const Trace& trace, int skip = 0) {
    TaskRanges tasks;
    tasks.tasks = {{"actor_generation", {"gen"}, ""}, {"actor_training", {"train"}, ""}};
    tasks.iterations = {"step"};
    return summarise(trace, tasks,
                     load_table<KernelNames>(std::string(SEXTANT_SOURCE_DIR) + "/data/trace/kernel_names.json"),
                     skip);
  }
  static std::size_t count_of(const Trace& trace, const std::string& name) {
    std::size_t count = 0;
    for (const Range& range : trace.ranges) {
      if (range.name >= 0 && trace.names[static_cast<std::size_t>(range.name)] == name) ++count;
    }
    return count;
  }

  TemporaryFolder folder_;
  Settings settings_;
  std::string before_;  // shell commands in the program's process
};

}  // namespace sextant::trace
