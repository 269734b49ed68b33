// Progress of long work: one line on a terminal, rewritten in place and erased at the end; no output if stderr
// is a pipe or a file.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace sextant::inline core {

class Progress {
 public:
  // total = 0 if the number of steps is unknown.
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Reports one more completed step; `now` describes the current work.
  void step(const std::string& now);

 private:
  std::string what_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_;
  std::chrono::steady_clock::time_point last_shown_{};
};

}  // namespace sextant::inline core
