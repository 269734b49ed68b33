// Ctrl-C as a flag, for work that has something to show before its end.
#pragma once

#include <atomic>
#include <csignal>

namespace sextant::cli {

// While it lives, the first SIGINT or SIGTERM sets the flag and the second ends the program as ever. One at a
// time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool came() const { return flag().load(); }

 private:
  struct sigaction interrupt_ = {}, terminate_ = {};  // as they were
};

}  // namespace sextant::cli
