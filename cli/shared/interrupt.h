// Ctrl-C as a flag, for work that has something to show before its end.
#pragma once

#include <atomic>
#include <csignal>

namespace sextant::cli {

// While it lives, the first SIGINT, SIGTERM or SIGHUP (a terminal that is closed; not where nohup has it
// ignored) sets the flag and the second ends the program as ever. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool came() const { return flag().load(); }

 private:
  struct sigaction interrupt_ = {}, terminate_ = {}, hang_up_ = {};  // as they were
};

}  // namespace sextant::cli
